//! Vectors of AArch64.

mod neon;

pub(super) use neon::U64x2;
