//! x86-64 kernels.

pub(crate) mod adx;
pub(crate) mod ifma;
