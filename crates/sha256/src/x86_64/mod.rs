//! Kernels for x86-64.

pub(crate) mod avx2;
pub(crate) mod avx512;
pub(crate) mod sha_ni;
pub(crate) mod ssse3;
mod two;
