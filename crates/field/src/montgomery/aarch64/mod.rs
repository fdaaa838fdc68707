//! AArch64 kernels.

#[macro_use]
mod chains;
pub(super) mod umulh;
mod wide;
