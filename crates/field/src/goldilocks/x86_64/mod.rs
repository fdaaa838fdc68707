//! Vectors of x86-64.

mod avx2;
mod avx512;
mod ifma;

pub(super) use avx2::U64x4;
pub(super) use avx512::U64x8;
pub(super) use ifma::{IfmaChain, IfmaFactor};
