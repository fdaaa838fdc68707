//! Four words: AVX2, which compares signed numbers only.
//!
//! SAFETY, for every intrinsic here: the words or the argument hold the token, which proves the feature.

use super::hidden;
use crate::goldilocks::{Bitwise, EPSILON, MODULUS, U64s};
use proofmill_cpu::Avx2;
use std::{
    arch::x86_64::*,
    ops::{Add, BitAnd, BitXor, Sub},
};

/// Four words.
#[derive(Clone, Copy, Debug)]
pub struct U64x4 {
    words: __m256i,
    token: Avx2,
}

/// The bit whose inversion turns a signed comparison into an unsigned one.
const SIGN: u64 = 1 << 63;

impl U64x4 {
    #[inline(always)]
    fn flip_sign(self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm256_xor_si256(self.words, Self::splat(self.token, SIGN).words) }, ..self }
    }

    /// `2^32 - 1` where `self > rhs` as signed numbers, 0 elsewhere.
    #[inline(always)]
    fn epsilon_where_greater(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm256_srli_epi64::<32>(_mm256_cmpgt_epi64(self.words, rhs.words)) }, ..self }
    }
}

impl Add for U64x4 {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm256_add_epi64(self.words, rhs.words) }, ..self }
    }
}

impl Sub for U64x4 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm256_sub_epi64(self.words, rhs.words) }, ..self }
    }
}

impl BitAnd for U64x4 {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm256_and_si256(self.words, rhs.words) }, ..self }
    }
}

impl BitXor for U64x4 {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm256_xor_si256(self.words, rhs.words) }, ..self }
    }
}

impl Bitwise for U64x4 {
    #[inline(always)]
    fn rotate<const LEFT: i32, const RIGHT: i32>(self) -> Self {
        Self {
            // SAFETY: see the head.
            words: unsafe {
                _mm256_or_si256(_mm256_slli_epi64::<LEFT>(self.words), _mm256_srli_epi64::<RIGHT>(self.words))
            },
            ..self
        }
    }

    #[inline(always)]
    fn without(self, mask: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm256_andnot_si256(mask.words, self.words) }, ..self }
    }
}

impl U64s for U64x4 {
    type Token = Avx2;

    const WIDTH: usize = 4;

    #[inline(always)]
    fn token(&self) -> Avx2 {
        self.token
    }

    #[inline(always)]
    fn load(token: Avx2, words: &[u64]) -> Self {
        let words: &[u64; 4] = words[..4].try_into().expect("four words");
        // By value, not by an unaligned load: see `vector` of montgomery's row52.rs.
        // SAFETY: both are four words, and any words are a vector.
        Self { words: unsafe { std::mem::transmute::<[u64; 4], __m256i>(*words) }, token }
    }

    #[inline(always)]
    fn load_bytes(token: Avx2, bytes: &[u8]) -> Self {
        let bytes: &[u8; 4] = bytes[..4].try_into().expect("four bytes");
        // SAFETY: see the head; the array has as many bytes as are read.
        Self { words: unsafe { _mm256_cvtepu8_epi64(_mm_loadu_si32(bytes.as_ptr())) }, token }
    }

    #[inline(always)]
    fn store(self, words: &mut [u64]) {
        let words: &mut [u64; 4] = (&mut words[..4]).try_into().expect("four words");
        // SAFETY: see the head; the array is as long as the vector.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), self.words) }
    }

    #[inline(always)]
    fn splat(token: Avx2, word: u64) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm256_set1_epi64x(word as i64) }, token }
    }

    #[inline(always)]
    unsafe fn transpose(_: Avx2, from: impl Fn(usize) -> *const u64, to: impl Fn(usize) -> *mut u64) {
        // SAFETY: see the head; the caller promises the rows.
        unsafe {
            let row0 = _mm256_loadu_si256(from(0).cast());
            let row1 = _mm256_loadu_si256(from(1).cast());
            let row2 = _mm256_loadu_si256(from(2).cast());
            let row3 = _mm256_loadu_si256(from(3).cast());
            let top = [_mm256_unpacklo_epi64(row0, row1), _mm256_unpackhi_epi64(row0, row1)];
            let bottom = [_mm256_unpacklo_epi64(row2, row3), _mm256_unpackhi_epi64(row2, row3)];
            for k in 0..2 {
                let column = _mm256_permute2x128_si256::<0x20>(top[k], bottom[k]);
                _mm256_storeu_si256(to(k).cast(), column);
                let column = _mm256_permute2x128_si256::<0x31>(top[k], bottom[k]);
                _mm256_storeu_si256(to(k + 2).cast(), column);
            }
        }
    }

    #[inline(always)]
    fn shl<const K: u32>(self) -> Self {
        // SAFETY: see the head. The immediate is an `i32` here, and the variable count compiles to it.
        Self { words: unsafe { _mm256_sll_epi64(self.words, _mm_cvtsi32_si128(K as i32)) }, ..self }
    }

    #[inline(always)]
    fn shr<const K: u32>(self) -> Self {
        // SAFETY: as above.
        Self { words: unsafe { _mm256_srl_epi64(self.words, _mm_cvtsi32_si128(K as i32)) }, ..self }
    }

    #[inline(always)]
    fn mul_halves(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm256_mul_epu32(self.words, rhs.words) }, ..self }
    }

    #[inline(always)]
    fn mul_signed_halves(self, rhs: Self) -> Self {
        // SAFETY: see the head.
        Self { words: unsafe { _mm256_mul_epi32(self.words, rhs.words) }, ..self }
    }

    #[inline(always)]
    fn mul_epsilon(self) -> Self {
        self.mul_halves(Self::splat(self.token, hidden(EPSILON)))
    }

    #[inline(always)]
    fn add_folded(self, rhs: Self) -> Self {
        let flipped = self.flip_sign();
        let sum = flipped + rhs;
        sum.flip_sign() + flipped.epsilon_where_greater(sum)
    }

    #[inline(always)]
    fn sub_folded(self, rhs: Self) -> Self {
        // The last flip cancels the first of a sum, which follows in reductions.
        let flipped = self.flip_sign();
        let difference = flipped - rhs;
        (difference - difference.epsilon_where_greater(flipped)).flip_sign()
    }

    /// `self - p` is `self + 2^32 - 1` modulo 2^64.
    #[inline(always)]
    fn canonical(self) -> Self {
        self + self.flip_sign().epsilon_where_greater(Self::splat(self.token, (MODULUS - 1) ^ SIGN))
    }

    #[inline(always)]
    fn high_half(self) -> Self {
        Self {
            // SAFETY: see the head. A shuffle: it does not compete with products for Intel's ports.
            words: unsafe { _mm256_castps_si256(_mm256_movehdup_ps(_mm256_castsi256_ps(self.words))) },
            ..self
        }
    }

    #[inline(always)]
    fn low_half(self) -> Self {
        Self {
            // SAFETY: see the head.
            words: unsafe { _mm256_blend_epi32::<0b1010_1010>(self.words, _mm256_setzero_si256()) },
            ..self
        }
    }

    #[inline(always)]
    fn join(self, high: Self) -> Self {
        Self {
            // SAFETY: see the head.
            words: unsafe {
                let high = _mm256_castps_si256(_mm256_moveldup_ps(_mm256_castsi256_ps(high.words)));
                _mm256_blend_epi32::<0b1010_1010>(self.words, high)
            },
            ..self
        }
    }
}
