//! What this CPU can do: levels, unforgeable tokens, run-time dispatch.
//!
//! A [`Level`] is a whole bundle of CPU features that Proofmill has kernels for. Its variants hold
//! zero-sized tokens that only detection makes, so holding a token proves that the instructions may run.
//! Every bulk operation takes a level and dispatches once, inside each parallel task.

mod blocks;
pub mod cpu;
mod elements;
mod level;
mod mapped;
mod memory;
pub mod process_memory;

pub use blocks::{LargeBlocks, release_kept_memory};
pub use elements::{Elements, FileElements};
#[cfg(target_arch = "x86_64")]
pub use level::{Adx, Avx2, Avx512, Avx512Ifma, ShaNi, Ssse3};
#[cfg(target_arch = "aarch64")]
pub use level::{ArmSha2, Neon, Sve, Sve2};
pub use level::{Level, LevelError, MAX_LANES, Portable};
pub use mapped::{FileBytes, MappedFile};
pub use memory::{Lines, Pages, Zeroed, prefetch, prefetch_at, return_freed_memory};

/// Runs an expression once with `$engine` bound to the token of `$level` whose kernels the big prime fields have
/// ([`Level::of_prime_fields`]); the expression must be generic over the token's type (in Proofmill:
/// `proofmill_field::Engine`).
#[macro_export]
macro_rules! dispatch {
    ($level:expr, $engine:ident => $body:expr) => {
        match $crate::Level::of_prime_fields($level) {
            #[cfg(target_arch = "x86_64")]
            $crate::Level::Adx($engine) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::Level::Avx512Ifma($engine) => $body,
            _ => {
                let $engine = $crate::Portable;
                $body
            }
        }
    };
}

/// Runs an expression once with `$token` bound to the token of `$level` whose kernels the Goldilocks field has
/// ([`Level::of_goldilocks`]); the expression must be generic over the token's type.
#[macro_export]
macro_rules! dispatch_goldilocks {
    ($level:expr, $token:ident => $body:expr) => {
        match $crate::Level::of_goldilocks($level) {
            #[cfg(target_arch = "x86_64")]
            $crate::Level::Avx2($token) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::Level::Avx512($token) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::Level::Avx512Ifma($token) => $body,
            #[cfg(target_arch = "aarch64")]
            $crate::Level::Neon($token) => $body,
            #[cfg(target_arch = "aarch64")]
            $crate::Level::Sve($token) => $body,
            #[cfg(target_arch = "aarch64")]
            $crate::Level::Sve2($token) => $body,
            _ => {
                let $token = $crate::Portable;
                $body
            }
        }
    };
}
