//! Vectors of x86-64.

mod avx2;
mod avx512;
mod ifma;

pub(super) use avx2::Avx2Words;
pub(super) use avx512::Avx512Words;
pub(super) use ifma::{IfmaFactor, IfmaLanes};
