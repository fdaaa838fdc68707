//! AArch64 kernels.

pub(super) mod umulh;
