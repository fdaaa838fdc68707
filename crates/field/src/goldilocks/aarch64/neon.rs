//! Two words: NEON, which has no 64-bit multiplication.
//!
//! SAFETY, for every intrinsic here: every AArch64 CPU that Rust's standard library runs on has NEON.

use crate::goldilocks::{MODULUS, Words};
use std::{
    arch::aarch64::*,
    ops::{Add, BitAnd, Sub},
};

/// Two words.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct NeonWords(uint64x2_t);

impl Add for NeonWords {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self(unsafe { vaddq_u64(self.0, rhs.0) })
    }
}

impl Sub for NeonWords {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self(unsafe { vsubq_u64(self.0, rhs.0) })
    }
}

impl BitAnd for NeonWords {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self(unsafe { vandq_u64(self.0, rhs.0) })
    }
}

impl Words for NeonWords {
    const WIDTH: usize = 2;

    #[inline(always)]
    fn load(words: &[u64]) -> Self {
        let words: &[u64; 2] = words[..2].try_into().expect("two words");
        // SAFETY: see the head; the array is as long as the vector.
        Self(unsafe { vld1q_u64(words.as_ptr()) })
    }

    #[inline(always)]
    fn store(self, words: &mut [u64]) {
        let words: &mut [u64; 2] = (&mut words[..2]).try_into().expect("two words");
        // SAFETY: see the head; the array is as long as the vector.
        unsafe { vst1q_u64(words.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn splat(word: u64) -> Self {
        // SAFETY: see the head.
        Self(unsafe { vdupq_n_u64(word) })
    }

    #[inline(always)]
    unsafe fn transpose(from: impl Fn(usize) -> *const u64, to: impl Fn(usize) -> *mut u64) {
        // SAFETY: the caller promises the rows.
        unsafe {
            let (first, second) = (vld1q_u64(from(0)), vld1q_u64(from(1)));
            vst1q_u64(to(0), vtrn1q_u64(first, second));
            vst1q_u64(to(1), vtrn2q_u64(first, second));
        }
    }

    #[inline(always)]
    fn shl<const K: u32>(self) -> Self {
        // SAFETY: see the head. The immediate is an `i32` here, and the variable count compiles to it.
        Self(unsafe { vshlq_u64(self.0, vdupq_n_s64(i64::from(K))) })
    }

    #[inline(always)]
    fn shr<const K: u32>(self) -> Self {
        // SAFETY: as above; a negative count shifts right.
        Self(unsafe { vshlq_u64(self.0, vdupq_n_s64(-i64::from(K))) })
    }

    #[inline(always)]
    fn shr_signed<const K: u32>(self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            vreinterpretq_u64_s64(vshlq_s64(vreinterpretq_s64_u64(self.0), vdupq_n_s64(-i64::from(K))))
        })
    }

    #[inline(always)]
    fn mul_halves(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self(unsafe { vmull_u32(vmovn_u64(self.0), vmovn_u64(rhs.0)) })
    }

    #[inline(always)]
    fn add_product_of_halves(self, a: Self, b: Self) -> Self {
        // SAFETY: see the head.
        Self(unsafe { vmlal_u32(self.0, vmovn_u64(a.0), vmovn_u64(b.0)) })
    }

    #[inline(always)]
    fn add_folded(self, rhs: Self) -> Self {
        // SAFETY: see the head. A mask's upper half is 2^32 - 1.
        Self(unsafe {
            let sum = vaddq_u64(self.0, rhs.0);
            vsraq_n_u64::<32>(sum, vcltq_u64(sum, rhs.0))
        })
    }

    #[inline(always)]
    fn sub_folded(self, rhs: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            let borrow = vshrq_n_u64::<32>(vcltq_u64(self.0, rhs.0));
            vsubq_u64(vsubq_u64(self.0, rhs.0), borrow)
        })
    }

    /// `self - p` is `self + 2^32 - 1` modulo 2^64.
    #[inline(always)]
    fn canonical(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { vsraq_n_u64::<32>(self.0, vcgeq_u64(self.0, vdupq_n_u64(MODULUS))) })
    }

    /// `(x << 32) - x`: cheaper than narrowing two operands.
    #[inline(always)]
    fn mul_epsilon(self) -> Self {
        let low = self.low_half();
        low.shl::<32>() - low
    }
}
