//! Vectors of AArch64.

mod neon;

pub(super) use neon::NeonWords;
