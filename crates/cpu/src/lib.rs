//! CPU features: levels, unforgeable tokens, and facts to print.
//!
//! A [`Level`] is a whole bundle of CPU features that Proofmill has kernels for. Its variants hold zero-sized tokens that only
//! detection creates, so a token proves that the CPU has the instructions. Every bulk operation takes a level and dispatches
//! once, inside each parallel task.
//!
//! ```
//! use proofmill_cpu::Level;
//!
//! let best = Level::best();
//! assert!(Level::available().contains(&best));
//! println!("kernels run at {best}");
//! ```

pub mod facts;
mod level;
mod token;

pub use level::{Level, LevelError, Vectors};
pub use token::*;

/// The most 64-bit lanes of any level: those of SVE's longest vector, 2048 bits.
pub const MAX_LANES: usize = 32;
