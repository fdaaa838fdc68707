//! Vectors of x86-64.

mod avx2;
mod avx512;
mod ifma;

pub use avx2::Avx2Words;
pub use avx512::Avx512Words;
pub use ifma::IfmaLanes;
