//! AArch64 vectors.

mod neon;

pub(super) use neon::U64x2;
