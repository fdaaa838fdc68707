//! x86-64 kernels.

pub(crate) mod adx;
pub(crate) mod ifma;
pub(crate) mod radix52;
pub(crate) mod single52;
