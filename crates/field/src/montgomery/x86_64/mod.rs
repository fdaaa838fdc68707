//! x86-64 kernels.

pub(super) mod adx;
pub(super) mod fma;
pub(super) mod ifma;
pub(super) mod lane_limbs;
mod radix52;
pub(super) mod row52;
pub(super) mod single;
