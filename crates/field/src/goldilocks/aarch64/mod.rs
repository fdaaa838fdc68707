//! Vectors of AArch64.

mod neon;

pub use neon::NeonWords;
