//! Eight messages in 256-bit vectors; a rotation is two shifts and an or.

use crate::{
    formula::MessageWord,
    lanes::{self, MessageLanes},
    x86_64::ssse3,
};
use proofmill_cpu::{Avx2, Token};
use std::arch::{asm, x86_64::*};

/// Digests of messages of 64 bytes.
pub(crate) fn pairs(token: Avx2, pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
    token.run(
        #[inline(always)]
        || lanes::pairs::<U32x8>(token, pairs, digests),
    );
}

/// Digests of messages of `length` bytes.
pub(crate) fn rows(token: Avx2, rows: &[u8], length: usize, digests: &mut [[u8; 32]]) {
    token.run(
        #[inline(always)]
        || lanes::rows::<U32x8>(token, rows, length, digests),
    );
}

/// The kernel of [`ssse3`] for one message, compiled to three-operand instructions and BMI2's rotations.
pub(crate) fn compress_blocks(token: Avx2, state: &mut [u32; 8], blocks: &[[u8; 64]]) {
    token.run(
        #[inline(always)]
        || ssse3::compress_inlined(token.ssse3(), state, blocks),
    );
}

/// 8 words with the token of the instructions.
#[derive(Clone, Copy)]
struct U32x8 {
    words: __m256i,
    token: Avx2,
}

/// A sum that the compiler cannot reorder.
#[inline]
#[target_feature(enable = "avx2")]
fn add_last(sum: __m256i, last: __m256i) -> __m256i {
    let result;
    // SAFETY: the function's target feature is AVX2, and the instruction touches only the registers named.
    unsafe {
        asm!("vpaddd {}, {}, {}", out(ymm_reg) result, in(ymm_reg) sum, in(ymm_reg) last,
            options(pure, nomem, nostack, preserves_flags));
    }
    result
}

// SAFETY, for all blocks below: the token, in `self` or as an argument, proves AVX2.
#[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all, above")]
impl MessageWord for U32x8 {
    const IS_ONE_CHAIN: bool = true;

    type Token = Avx2;

    #[inline(always)]
    fn token(self) -> Avx2 {
        self.token
    }

    #[inline(always)]
    fn splat(token: Avx2, word: u32) -> Self {
        Self { words: unsafe { _mm256_set1_epi32(word.cast_signed()) }, token }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { words: unsafe { _mm256_add_epi32(self.words, other.words) }, ..self }
    }

    #[inline(always)]
    fn add_last(self, last: Self) -> Self {
        Self { words: unsafe { add_last(self.words, last.words) }, ..self }
    }

    #[inline(always)]
    fn rotate_right(self, bits: u32) -> Self {
        let left = unsafe { _mm256_sllv_epi32(self.words, _mm256_set1_epi32(32 - bits.cast_signed())) };
        Self { words: unsafe { _mm256_or_si256(self.shift_right(bits).words, left) }, ..self }
    }

    #[inline(always)]
    fn shift_right(self, bits: u32) -> Self {
        Self {
            words: unsafe { _mm256_srlv_epi32(self.words, _mm256_set1_epi32(bits.cast_signed())) },
            ..self
        }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self { words: unsafe { _mm256_xor_si256(self.words, other.words) }, ..self }
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self { words: unsafe { _mm256_and_si256(self.words, other.words) }, ..self }
    }
}

/// Reverses the bytes of each word.
#[inline(always)]
fn swap(_: Avx2, x: __m256i) -> __m256i {
    // SAFETY: the token proves AVX2.
    unsafe {
        let order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
        _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(order))
    }
}

/// Transposes the words of four vectors within each 128 bits.
#[inline(always)]
fn transpose_halves(_: Avx2, [a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: the token proves AVX2.
    unsafe {
        let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
        let (ab_high, cd_high) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
        [
            _mm256_unpacklo_epi64(ab, cd),
            _mm256_unpackhi_epi64(ab, cd),
            _mm256_unpacklo_epi64(ab_high, cd_high),
            _mm256_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}

impl MessageLanes for U32x8 {
    const COUNT: usize = 8;

    #[inline(always)]
    fn load<'a>(token: Avx2, block: impl Fn(usize) -> &'a [u8; 64]) -> [Self; 16] {
        // SAFETY: the token proves AVX2; reads are of 32 bytes from 0 and 32 on, within the block's 64.
        unsafe {
            let mut words = [Self { words: _mm256_setzero_si256(), token }; 16];
            for half in 0..2 {
                let mut rows = [_mm256_setzero_si256(); 8];
                for r in 0..8 {
                    rows[r] = swap(token, _mm256_loadu_si256(block(r).as_ptr().add(32 * half).cast()));
                }
                let [first, second] =
                    [[rows[0], rows[1], rows[2], rows[3]], [rows[4], rows[5], rows[6], rows[7]]];
                let (first, second) = (transpose_halves(token, first), transpose_halves(token, second));
                for c in 0..4 {
                    words[8 * half + c] =
                        Self { words: _mm256_permute2x128_si256::<0x20>(first[c], second[c]), token };
                    words[8 * half + 4 + c] =
                        Self { words: _mm256_permute2x128_si256::<0x31>(first[c], second[c]), token };
                }
            }
            words
        }
    }

    #[inline(always)]
    fn store([a, b, c, d, e, f, g, h]: [Self; 8], digests: &mut [[u8; 32]]) {
        assert_eq!(digests.len(), Self::COUNT, "a digest for each lane");
        let token = a.token;
        let first = transpose_halves(
            token,
            [swap(token, a.words), swap(token, b.words), swap(token, c.words), swap(token, d.words)],
        );
        let second = transpose_halves(
            token,
            [swap(token, e.words), swap(token, f.words), swap(token, g.words), swap(token, h.words)],
        );
        for r in 0..4 {
            // SAFETY: the token proves AVX2; each write is of a digest's 32 bytes.
            unsafe {
                let (low, high) = (
                    _mm256_permute2x128_si256::<0x20>(first[r], second[r]),
                    _mm256_permute2x128_si256::<0x31>(first[r], second[r]),
                );
                _mm256_storeu_si256(digests[r].as_mut_ptr().cast(), low);
                _mm256_storeu_si256(digests[4 + r].as_mut_ptr().cast(), high);
            }
        }
    }
}
