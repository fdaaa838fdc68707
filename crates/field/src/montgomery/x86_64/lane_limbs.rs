//! Limbs in vectors.

use std::arch::x86_64::__m512i;

/// The most limbs of any field, in any radix.
pub(super) const MAX: usize = 8;

/// Vectors of limbs: `[__m512i; 5]`, `[__m512i; 6]` or `[__m512i; 8]`.
pub trait LaneLimbs: Copy + Send + Sync + AsRef<[__m512i]> + AsMut<[__m512i]> + 'static {
    /// The number of 52-bit limbs.
    const LEN: usize;
    /// All zero.
    const ZERO: Self;
    /// The limbs of `LEN` integers.
    type Factor: Copy + Send + Sync + AsRef<[u64]> + AsMut<[u64]> + 'static;
    /// All zero.
    const ZERO_FACTOR: Self::Factor;
}

impl LaneLimbs for [__m512i; 5] {
    const LEN: usize = 5;
    // SAFETY: all-zero bits are a vector.
    const ZERO: Self = unsafe { std::mem::zeroed() };
    type Factor = [u64; 25];
    const ZERO_FACTOR: Self::Factor = [0; 25];
}

impl LaneLimbs for [__m512i; 6] {
    const LEN: usize = 6;
    // SAFETY: all-zero bits are a vector.
    const ZERO: Self = unsafe { std::mem::zeroed() };
    type Factor = [u64; 36];
    const ZERO_FACTOR: Self::Factor = [0; 36];
}

impl LaneLimbs for [__m512i; 8] {
    const LEN: usize = 8;
    // SAFETY: all-zero bits are a vector.
    const ZERO: Self = unsafe { std::mem::zeroed() };
    type Factor = [u64; 64];
    const ZERO_FACTOR: Self::Factor = [0; 64];
}
