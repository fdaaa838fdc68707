//! Eight words: AVX-512 F.
//!
//! SAFETY, for every intrinsic here: a token was converted to [`Avx512`], which proves the features: either the argument's,
//! or the words' when they were made.

use super::hidden;
use crate::goldilocks::{Bitwise, EPSILON, MODULUS, U64s};
use proofmill_cpu::Avx512;
use std::{
    arch::x86_64::*,
    ops::{Add, BitAnd, BitXor, Sub},
};

/// Eight words, with a token of AVX-512 or of a bundle that contains AVX-512.
#[derive(Clone, Copy, Debug)]
pub struct U64x8<T> {
    pub(super) words: __m512i,
    pub(super) token: T,
}

/// The odd 32-bit positions.
const HIGH_HALVES: __mmask16 = 0xaaaa;

impl<T> Add for U64x8<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm512_add_epi64(self.words, rhs.words) }, ..self }
    }
}

impl<T> Sub for U64x8<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm512_sub_epi64(self.words, rhs.words) }, ..self }
    }
}

impl<T> BitAnd for U64x8<T> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm512_and_si512(self.words, rhs.words) }, ..self }
    }
}

impl<T> BitXor for U64x8<T> {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm512_xor_si512(self.words, rhs.words) }, ..self }
    }
}

impl<T: Into<Avx512> + Copy + Send + Sync + 'static> Bitwise for U64x8<T> {
    #[inline(always)]
    fn rotate<const LEFT: i32, const RIGHT: i32>(self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm512_rol_epi64::<LEFT>(self.words) }, ..self }
    }

    #[inline(always)]
    fn without(self, mask: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm512_andnot_si512(mask.words, self.words) }, ..self }
    }
}

impl<T: Into<Avx512> + Copy + Send + Sync + 'static> U64s for U64x8<T> {
    type Token = T;

    const WIDTH: usize = 8;

    #[inline(always)]
    fn token(&self) -> T {
        self.token
    }

    #[inline(always)]
    fn load(token: T, words: &[u64]) -> Self {
        let _: Avx512 = token.into();
        let words: &[u64; 8] = words[..8].try_into().expect("eight words");
        // By value, not by an unaligned load: see `vector` of montgomery's row52.rs.
        // SAFETY: both are eight words, and any words are a vector.
        Self { words: unsafe { std::mem::transmute::<[u64; 8], __m512i>(*words) }, token }
    }

    #[inline(always)]
    fn load_bytes(token: T, bytes: &[u8]) -> Self {
        let _: Avx512 = token.into();
        let bytes: &[u8; 8] = bytes[..8].try_into().expect("eight bytes");
        // SAFETY: see the head; the array has as many bytes as are read.
        Self { words: unsafe { _mm512_cvtepu8_epi64(_mm_loadu_si64(bytes.as_ptr())) }, token }
    }

    #[inline(always)]
    fn store(self, words: &mut [u64]) {
        let words: &mut [u64; 8] = (&mut words[..8]).try_into().expect("eight words");
        // SAFETY: see the head; the array is as long as the vector.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), self.words) }
    }

    #[inline(always)]
    fn splat(token: T, word: u64) -> Self {
        let _: Avx512 = token.into();
        // SAFETY: see the head.
        Self { words: unsafe { _mm512_set1_epi64(word as i64) }, token }
    }

    /// By transposing squares of two words, then four by four pairs.
    #[inline(always)]
    unsafe fn transpose(token: T, from: impl Fn(usize) -> *const u64, to: impl Fn(usize) -> *mut u64) {
        /// Selects pairs 0 and 2 of both vectors.
        const EVEN: i32 = 0b10_00_10_00;
        /// Selects pairs 1 and 3.
        const ODD: i32 = 0b11_01_11_01;
        let _: Avx512 = token.into();
        // SAFETY: see the head; the caller promises the rows.
        unsafe {
            // Words of even columns, then of odd ones.
            let mut pairs = [[Self::splat(token, 0).words; 4]; 2];
            for k in 0..4 {
                let row = _mm512_loadu_si512(from(2 * k).cast());
                let next = _mm512_loadu_si512(from(2 * k + 1).cast());
                pairs[0][k] = _mm512_unpacklo_epi64(row, next);
                pairs[1][k] = _mm512_unpackhi_epi64(row, next);
            }
            for (column, [a, b, c, d]) in pairs.into_iter().enumerate() {
                let (top, bottom) = (_mm512_shuffle_i64x2::<EVEN>(a, b), _mm512_shuffle_i64x2::<EVEN>(c, d));
                _mm512_storeu_si512(to(column).cast(), _mm512_shuffle_i64x2::<EVEN>(top, bottom));
                _mm512_storeu_si512(to(column + 4).cast(), _mm512_shuffle_i64x2::<ODD>(top, bottom));
                let (top, bottom) = (_mm512_shuffle_i64x2::<ODD>(a, b), _mm512_shuffle_i64x2::<ODD>(c, d));
                _mm512_storeu_si512(to(column + 2).cast(), _mm512_shuffle_i64x2::<EVEN>(top, bottom));
                _mm512_storeu_si512(to(column + 6).cast(), _mm512_shuffle_i64x2::<ODD>(top, bottom));
            }
        }
    }

    #[inline(always)]
    fn shl<const K: u32>(self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm512_slli_epi64::<K>(self.words) }, ..self }
    }

    #[inline(always)]
    fn shr<const K: u32>(self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm512_srli_epi64::<K>(self.words) }, ..self }
    }

    #[inline(always)]
    fn shr_signed<const K: u32>(self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm512_srai_epi64::<K>(self.words) }, ..self }
    }

    #[inline(always)]
    fn mul_halves(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm512_mul_epu32(self.words, rhs.words) }, ..self }
    }

    #[inline(always)]
    fn mul_signed_halves(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm512_mul_epi32(self.words, rhs.words) }, ..self }
    }

    #[inline(always)]
    fn mul_epsilon(self) -> Self {
        self.mul_halves(Self::splat(self.token, hidden(EPSILON)))
    }

    #[inline(always)]
    fn add_folded(self, rhs: Self) -> Self {
        Self {
            // SAFETY: see the head.
            words: unsafe {
                let sum = _mm512_add_epi64(self.words, rhs.words);
                let carry = _mm512_cmplt_epu64_mask(sum, rhs.words);
                _mm512_mask_add_epi64(sum, carry, sum, _mm512_set1_epi64(EPSILON as i64))
            },
            ..self
        }
    }

    #[inline(always)]
    fn sub_folded(self, rhs: Self) -> Self {
        Self {
            // SAFETY: see the head.
            words: unsafe {
                let difference = _mm512_sub_epi64(self.words, rhs.words);
                let borrow = _mm512_cmplt_epu64_mask(self.words, rhs.words);
                _mm512_mask_sub_epi64(difference, borrow, difference, _mm512_set1_epi64(EPSILON as i64))
            },
            ..self
        }
    }

    #[inline(always)]
    fn canonical(self) -> Self {
        Self {
            // SAFETY: see the head.
            words: unsafe {
                _mm512_min_epu64(self.words, _mm512_sub_epi64(self.words, _mm512_set1_epi64(MODULUS as i64)))
            },
            ..self
        }
    }

    #[inline(always)]
    fn high_half(self) -> Self {
        Self {
            // SAFETY: see the head. A shuffle: it does not compete with products for Intel's ports.
            words: unsafe { _mm512_castps_si512(_mm512_movehdup_ps(_mm512_castsi512_ps(self.words))) },
            ..self
        }
    }

    #[inline(always)]
    fn join(self, high: Self) -> Self {
        Self {
            // SAFETY: see the head.
            words: unsafe {
                let (low, high) = (_mm512_castsi512_ps(self.words), _mm512_castsi512_ps(high.words));
                _mm512_castps_si512(_mm512_mask_moveldup_ps(low, HIGH_HALVES, high))
            },
            ..self
        }
    }
}
