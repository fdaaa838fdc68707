//! From a level to the token of a field's kernels. Each family of fields has kernels at some levels; the other levels use the best kernels
//! of the levels below. With `RUSTFLAGS='--cfg proofmill_portable'` all use the portable ones, and the others are not compiled, which
//! takes a fraction of the time.

use proofmill_cpu::{Level, Portable};

/// The level whose kernels the prime fields in Montgomery form (BN254, BLS12-381, Grumpkin) use at `level`.
pub fn prime_field_level(level: Level) -> Level {
    match level {
        _ if cfg!(proofmill_portable) => Level::Portable(Portable),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(token) => Level::Avx2(token.into()),
        #[cfg(target_arch = "aarch64")]
        Level::Sve(token) => Level::Neon(token.into()),
        #[cfg(target_arch = "aarch64")]
        Level::Sve2(token) => Level::Neon(token.into()),
        level => level,
    }
}

/// The level whose kernels the Goldilocks field uses at `level`.
pub fn goldilocks_level(level: Level) -> Level {
    match level {
        _ if cfg!(proofmill_portable) => Level::Portable(Portable),
        #[cfg(target_arch = "x86_64")]
        Level::Adx(_) => Level::Portable(Portable),
        level => level,
    }
}

/// The available levels at which the prime fields in Montgomery form have their own kernels, slowest first.
pub fn prime_field_levels() -> Vec<Level> {
    Level::available().into_iter().filter(|level| prime_field_level(*level) == *level).collect()
}

/// The available levels at which the Goldilocks field has its own kernels, slowest first.
pub fn goldilocks_levels() -> Vec<Level> {
    Level::available().into_iter().filter(|level| goldilocks_level(*level) == *level).collect()
}

/// Evaluates an expression with `$engine` bound to the token of [`prime_field_level`]; the expression must be generic over
/// the token's type ([`Engine`](crate::Engine)).
#[macro_export]
macro_rules! dispatch {
    ($level:expr, $engine:ident => $body:expr) => {
        match $crate::prime_field_level($level) {
            #[cfg(all(target_arch = "x86_64", not(proofmill_portable)))]
            $crate::cpu::Level::Adx($engine) => $body,
            #[cfg(all(target_arch = "x86_64", not(proofmill_portable)))]
            $crate::cpu::Level::Avx2($engine) => $body,
            #[cfg(all(target_arch = "x86_64", not(proofmill_portable)))]
            $crate::cpu::Level::Avx512Ifma($engine) => $body,
            #[cfg(all(target_arch = "aarch64", not(proofmill_portable)))]
            $crate::cpu::Level::Neon($engine) => $body,
            _ => {
                let $engine = $crate::cpu::Portable;
                $body
            }
        }
    };
}

/// Evaluates an expression with `$engine` bound to the token of [`goldilocks_level`]; the expression must be generic over
/// the token's type ([`GoldilocksEngine`](crate::goldilocks::GoldilocksEngine)).
#[macro_export]
macro_rules! dispatch_goldilocks {
    ($level:expr, $engine:ident => $body:expr) => {
        match $crate::goldilocks_level($level) {
            #[cfg(all(target_arch = "x86_64", not(proofmill_portable)))]
            $crate::cpu::Level::Avx2($engine) => $body,
            #[cfg(all(target_arch = "x86_64", not(proofmill_portable)))]
            $crate::cpu::Level::Avx512($engine) => $body,
            #[cfg(all(target_arch = "x86_64", not(proofmill_portable)))]
            $crate::cpu::Level::Avx512Ifma($engine) => $body,
            #[cfg(all(target_arch = "aarch64", not(proofmill_portable)))]
            $crate::cpu::Level::Neon($engine) => $body,
            #[cfg(all(target_arch = "aarch64", not(proofmill_portable)))]
            $crate::cpu::Level::Sve($engine) => $body,
            #[cfg(all(target_arch = "aarch64", not(proofmill_portable)))]
            $crate::cpu::Level::Sve2($engine) => $body,
            _ => {
                let $engine = $crate::cpu::Portable;
                $body
            }
        }
    };
}
