//! Two words: NEON, which has no 64-bit multiplication.
//!
//! SAFETY, for every intrinsic here: a token was converted to [`Neon`], which proves the instructions: either the
//! argument's, or the words' when they were made.

use crate::goldilocks::{Bitwise, MODULUS, U64s};
use proofmill_cpu::Neon;
use std::{
    arch::aarch64::*,
    ops::{Add, BitAnd, BitXor, Sub},
};

/// Two words, with a token of NEON or of a bundle that contains NEON.
#[derive(Clone, Copy, Debug)]
pub struct U64x2<T> {
    words: uint64x2_t,
    token: T,
}

impl<T> Add for U64x2<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { vaddq_u64(self.words, rhs.words) }, ..self }
    }
}

impl<T> Sub for U64x2<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { vsubq_u64(self.words, rhs.words) }, ..self }
    }
}

impl<T> BitAnd for U64x2<T> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { vandq_u64(self.words, rhs.words) }, ..self }
    }
}

impl<T> BitXor for U64x2<T> {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { veorq_u64(self.words, rhs.words) }, ..self }
    }
}

impl<T: Into<Neon> + Copy + Send + Sync + 'static> Bitwise for U64x2<T> {
    #[inline(always)]
    fn rotate<const LEFT: i32, const RIGHT: i32>(self) -> Self {
        Self {
            // SAFETY: see the head.
            words: unsafe { vorrq_u64(vshlq_n_u64::<LEFT>(self.words), vshrq_n_u64::<RIGHT>(self.words)) },
            ..self
        }
    }

    #[inline(always)]
    fn without(self, mask: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { vbicq_u64(self.words, mask.words) }, ..self }
    }
}

impl<T: Into<Neon> + Copy + Send + Sync + 'static> U64s for U64x2<T> {
    type Token = T;

    const WIDTH: usize = 2;

    #[inline(always)]
    fn token(&self) -> T {
        self.token
    }

    #[inline(always)]
    fn load(token: T, words: &[u64]) -> Self {
        let _: Neon = token.into();
        let words: &[u64; 2] = words[..2].try_into().expect("two words");
        // SAFETY: see the head; the array is as long as the vector.
        Self { words: unsafe { vld1q_u64(words.as_ptr()) }, token }
    }

    #[inline(always)]
    fn store(self, words: &mut [u64]) {
        let words: &mut [u64; 2] = (&mut words[..2]).try_into().expect("two words");
        // SAFETY: see the head; the array is as long as the vector.
        unsafe { vst1q_u64(words.as_mut_ptr(), self.words) }
    }

    #[inline(always)]
    fn splat(token: T, word: u64) -> Self {
        let _: Neon = token.into();
        // SAFETY: see the head.
        Self { words: unsafe { vdupq_n_u64(word) }, token }
    }

    #[inline(always)]
    unsafe fn transpose(token: T, from: impl Fn(usize) -> *const u64, to: impl Fn(usize) -> *mut u64) {
        let _: Neon = token.into();
        // SAFETY: see the head; the caller promises the rows.
        unsafe {
            let (first, second) = (vld1q_u64(from(0)), vld1q_u64(from(1)));
            vst1q_u64(to(0), vtrn1q_u64(first, second));
            vst1q_u64(to(1), vtrn2q_u64(first, second));
        }
    }

    #[inline(always)]
    fn shl<const K: u32>(self) -> Self {
        // SAFETY: see the head. The immediate is an `i32` here, and the variable count compiles to it.
        Self { words: unsafe { vshlq_u64(self.words, vdupq_n_s64(i64::from(K))) }, ..self }
    }

    #[inline(always)]
    fn shr<const K: u32>(self) -> Self {
        // SAFETY: as above; a negative count shifts right.
        Self { words: unsafe { vshlq_u64(self.words, vdupq_n_s64(-i64::from(K))) }, ..self }
    }

    #[inline(always)]
    fn shr_signed<const K: u32>(self) -> Self {
        Self {
            // SAFETY: as above.
            words: unsafe {
                vreinterpretq_u64_s64(vshlq_s64(
                    vreinterpretq_s64_u64(self.words),
                    vdupq_n_s64(-i64::from(K)),
                ))
            },
            ..self
        }
    }

    #[inline(always)]
    fn mul_halves(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { vmull_u32(vmovn_u64(self.words), vmovn_u64(rhs.words)) }, ..self }
    }

    #[inline(always)]
    fn add_product_of_halves(self, a: Self, b: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { vmlal_u32(self.words, vmovn_u64(a.words), vmovn_u64(b.words)) }, ..self }
    }

    #[inline(always)]
    fn add_folded(self, rhs: Self) -> Self {
        Self {
            // SAFETY: see the head. The upper half of a mask is 2^32 - 1.
            words: unsafe {
                let sum = vaddq_u64(self.words, rhs.words);
                vsraq_n_u64::<32>(sum, vcltq_u64(sum, rhs.words))
            },
            ..self
        }
    }

    #[inline(always)]
    fn sub_folded(self, rhs: Self) -> Self {
        Self {
            // SAFETY: as above.
            words: unsafe {
                let borrow = vshrq_n_u64::<32>(vcltq_u64(self.words, rhs.words));
                vsubq_u64(vsubq_u64(self.words, rhs.words), borrow)
            },
            ..self
        }
    }

    /// `self - p` is `self + 2^32 - 1` modulo 2^64.
    #[inline(always)]
    fn canonical(self) -> Self {
        Self {
            // SAFETY: as above.
            words: unsafe { vsraq_n_u64::<32>(self.words, vcgeq_u64(self.words, vdupq_n_u64(MODULUS))) },
            ..self
        }
    }

    /// `(x << 32) - x`: cheaper than narrowing two operands.
    #[inline(always)]
    fn mul_epsilon(self) -> Self {
        let low = self.low_half();
        low.shl::<32>() - low
    }
}
