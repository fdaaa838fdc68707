//! Eight messages in 256-bit vectors; a rotation is two shifts and an exclusive or.

use crate::{
    formula::Word,
    lanes::{self, Lanes},
    x86_64::ssse3,
};
use proofmill_simd::Avx2;
use std::arch::{asm, x86_64::*};

/// Digests of messages of 64 bytes.
pub(crate) fn pairs(token: Avx2, pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
    token.vectorize(
        #[inline(always)]
        || lanes::pairs::<Words>(pairs, digests),
    );
}

/// Digests of messages of `length` bytes.
pub(crate) fn rows(token: Avx2, rows: &[u8], length: usize, digests: &mut [[u8; 32]]) {
    token.vectorize(
        #[inline(always)]
        || lanes::rows::<Words>(rows, length, digests),
    );
}

/// The kernel of [`ssse3`] for one message, with three-operand instructions and BMI2's rotations.
pub(crate) fn compress_blocks(token: Avx2, state: &mut [u32; 8], blocks: &[[u8; 64]]) {
    token.vectorize(
        #[inline(always)]
        || ssse3::compress_inlined(state, blocks),
    );
}

/// Only made where AVX2 is: the type is private, and the functions above take a token.
#[derive(Clone, Copy)]
struct Words(__m256i);

/// A sum that the compiler cannot see through.
#[inline]
#[target_feature(enable = "avx2")]
fn add_last(sum: __m256i, last: __m256i) -> __m256i {
    let result;
    // SAFETY: the feature is there, and nothing but the registers is touched.
    unsafe {
        asm!("vpaddd {}, {}, {}", out(ymm_reg) result, in(ymm_reg) sum, in(ymm_reg) last,
            options(pure, nomem, nostack, preserves_flags));
    }
    result
}

// SAFETY, for all below: AVX2 is there, see `Words`.
#[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all, above")]
impl Word for Words {
    const IS_ONE_CHAIN: bool = true;

    #[inline(always)]
    fn splat(word: u32) -> Self {
        Self(unsafe { _mm256_set1_epi32(word.cast_signed()) })
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(unsafe { _mm256_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn add_last(self, last: Self) -> Self {
        Self(unsafe { add_last(self.0, last.0) })
    }

    #[inline(always)]
    fn rotate_right(self, bits: u32) -> Self {
        let left = unsafe { _mm256_sllv_epi32(self.0, _mm256_set1_epi32(32 - bits.cast_signed())) };
        Self(unsafe { _mm256_or_si256(self.shift_right(bits).0, left) })
    }

    #[inline(always)]
    fn shift_right(self, bits: u32) -> Self {
        Self(unsafe { _mm256_srlv_epi32(self.0, _mm256_set1_epi32(bits.cast_signed())) })
    }

    #[inline(always)]
    fn parity(self, b: Self, c: Self) -> Self {
        self.xor(b).xor(c)
    }

    #[inline(always)]
    fn choose(self, f: Self, g: Self) -> Self {
        g.xor(self.and(f.xor(g)))
    }

    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        b.xor(self.xor(b).and(b.xor(c)))
    }
}

// SAFETY: as above.
#[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all, above")]
impl Words {
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(unsafe { _mm256_xor_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(unsafe { _mm256_and_si256(self.0, other.0) })
    }
}

/// The bytes of each word turned round.
#[inline(always)]
fn swap(x: __m256i) -> __m256i {
    // SAFETY: as above.
    unsafe {
        let order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
        _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(order))
    }
}

/// Transposes the words of four vectors within each 128 bits.
#[inline(always)]
fn transpose_halves([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: as above.
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

impl Lanes for Words {
    const COUNT: usize = 8;

    #[inline(always)]
    fn load<'a>(block: impl Fn(usize) -> &'a [u8; 64]) -> [Self; 16] {
        // SAFETY: as above; a block has the 64 bytes that are read.
        unsafe {
            let mut words = [Self(_mm256_setzero_si256()); 16];
            for half in 0..2 {
                let mut rows = [_mm256_setzero_si256(); 8];
                for r in 0..8 {
                    rows[r] = swap(_mm256_loadu_si256(block(r).as_ptr().add(32 * half).cast()));
                }
                let [first, second] =
                    [[rows[0], rows[1], rows[2], rows[3]], [rows[4], rows[5], rows[6], rows[7]]];
                let (first, second) = (transpose_halves(first), transpose_halves(second));
                for c in 0..4 {
                    words[8 * half + c] = Self(_mm256_permute2x128_si256::<0x20>(first[c], second[c]));
                    words[8 * half + 4 + c] = Self(_mm256_permute2x128_si256::<0x31>(first[c], second[c]));
                }
            }
            words
        }
    }

    #[inline(always)]
    fn store([a, b, c, d, e, f, g, h]: [Self; 8], digests: &mut [[u8; 32]]) {
        assert_eq!(digests.len(), Self::COUNT, "a digest for each lane");
        let first = transpose_halves([swap(a.0), swap(b.0), swap(c.0), swap(d.0)]);
        let second = transpose_halves([swap(e.0), swap(f.0), swap(g.0), swap(h.0)]);
        for r in 0..4 {
            // SAFETY: as above; a digest has the 32 bytes that are written.
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
