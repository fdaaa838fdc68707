//! Sixteen messages in 512-bit vectors, or 32 in pairs of vectors.
//!
//! A rotation is one instruction (`vprord`) and so is every function of three words (`vpternlogd`): a round takes 16
//! instructions and one for its constant, a word of the schedule 11. A message of 64 bytes has two blocks; the second is
//! constant padding. They take 128 rounds and 48 words of schedule, and some 150 instructions transpose the words: 2,850
//! instructions for sixteen messages.
//!
//! A Zen 5 starts 4 of these a cycle (3 of `vpternlogd`, 2 rotations): at least 712 cycles for sixteen messages. Its vector
//! instructions have a latency of 2 cycles, so that the dependency chain of a round takes 10 cycles with sums in the order of
//! the standard, and 6 with [`IS_ONE_CHAIN`](MessageWord::IS_ONE_CHAIN), which costs one more sum; measured: 1,140 cycles. Two
//! interleaved groups hide each other's latency: 890 cycles for sixteen, with schedule words in memory. Barriers against
//! reordering made two groups slower by a third.

use crate::{
    formula::MessageWord,
    lanes::{self, MessageLanes},
    x86_64::two::Two,
};
use proofmill_cpu::{Avx512, Token};
use std::arch::{asm, x86_64::*};

/// Digests of messages of 64 bytes.
pub(crate) fn pairs(token: Avx512, pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
    token.run(
        #[inline(always)]
        || {
            // Two interleaved groups, even if the second is incomplete, take less time than one after the other.
            let last = pairs.len() % (2 * U32x16::COUNT);
            let in_two = if last > U32x16::COUNT { pairs.len() } else { pairs.len() - last };
            let (pairs, rest) = pairs.split_at(in_two);
            let (digests, rest_digests) = digests.split_at_mut(in_two);
            lanes::pairs::<Two<U32x16>>(token, pairs, digests);
            lanes::pairs::<U32x16>(token, rest, rest_digests);
        },
    );
}

/// Digests of messages of `length` bytes.
pub(crate) fn rows(token: Avx512, rows: &[u8], length: usize, digests: &mut [[u8; 32]]) {
    token.run(
        #[inline(always)]
        || lanes::rows::<U32x16>(token, rows, length, digests),
    );
}

/// 16 words with the token of the instructions.
#[derive(Clone, Copy)]
struct U32x16 {
    words: __m512i,
    token: Avx512,
}

/// The truth table of the first operand of `vpternlogd`; `B` and `C` are those of the second and third.
const A: i32 = 0xf0;
const B: i32 = 0xcc;
const C: i32 = 0xaa;

/// A sum that the compiler cannot reorder.
#[inline]
#[target_feature(enable = "avx512f")]
fn add_last(sum: __m512i, last: __m512i) -> __m512i {
    let result;
    // SAFETY: the function's target feature is AVX-512 F, and the instruction touches only the registers named.
    unsafe {
        asm!("vpaddd {}, {}, {}", out(zmm_reg) result, in(zmm_reg) sum, in(zmm_reg) last,
            options(pure, nomem, nostack, preserves_flags));
    }
    result
}

// SAFETY, for all blocks below: the token, in `self` or as an argument, proves AVX-512 F and BW.
#[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all, above")]
impl MessageWord for U32x16 {
    const IS_ONE_CHAIN: bool = true;

    type Token = Avx512;

    #[inline(always)]
    fn token(self) -> Avx512 {
        self.token
    }

    #[inline(always)]
    fn splat(token: Avx512, word: u32) -> Self {
        Self { words: unsafe { _mm512_set1_epi32(word.cast_signed()) }, token }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { words: unsafe { _mm512_add_epi32(self.words, other.words) }, ..self }
    }

    #[inline(always)]
    fn add_last(self, last: Self) -> Self {
        Self { words: unsafe { add_last(self.words, last.words) }, ..self }
    }

    #[inline(always)]
    fn rotate_right(self, bits: u32) -> Self {
        Self {
            words: unsafe { _mm512_rorv_epi32(self.words, _mm512_set1_epi32(bits.cast_signed())) },
            ..self
        }
    }

    #[inline(always)]
    fn shift_right(self, bits: u32) -> Self {
        Self {
            words: unsafe { _mm512_srlv_epi32(self.words, _mm512_set1_epi32(bits.cast_signed())) },
            ..self
        }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self { words: unsafe { _mm512_xor_si512(self.words, other.words) }, ..self }
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self { words: unsafe { _mm512_and_si512(self.words, other.words) }, ..self }
    }

    #[inline(always)]
    fn parity(self, b: Self, c: Self) -> Self {
        Self {
            words: unsafe { _mm512_ternarylogic_epi32::<{ A ^ B ^ C }>(self.words, b.words, c.words) },
            ..self
        }
    }

    #[inline(always)]
    fn choose(self, f: Self, g: Self) -> Self {
        Self {
            words: unsafe {
                _mm512_ternarylogic_epi32::<{ (A & B) | (!A & 0xff & C) }>(self.words, f.words, g.words)
            },
            ..self
        }
    }

    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        Self {
            words: unsafe {
                _mm512_ternarylogic_epi32::<{ (A & B) | (A & C) | (B & C) }>(self.words, b.words, c.words)
            },
            ..self
        }
    }
}

/// Reverses the bytes of each word.
#[inline(always)]
fn swap(_: Avx512, x: __m512i) -> __m512i {
    // SAFETY: the token proves AVX-512 F and BW.
    unsafe {
        let order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
        _mm512_shuffle_epi8(x, _mm512_broadcast_i32x4(order))
    }
}

/// Transposes the words of four vectors within each 128 bits.
#[inline(always)]
fn transpose_quarters(_: Avx512, [a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    // SAFETY: the token proves AVX-512 F and BW.
    unsafe {
        let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
        let (ab_high, cd_high) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
        [
            _mm512_unpacklo_epi64(ab, cd),
            _mm512_unpackhi_epi64(ab, cd),
            _mm512_unpacklo_epi64(ab_high, cd_high),
            _mm512_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}

impl MessageLanes for U32x16 {
    const COUNT: usize = 16;

    #[inline(always)]
    fn load<'a>(token: Avx512, block: impl Fn(usize) -> &'a [u8; 64]) -> [Self; 16] {
        // SAFETY: the token proves AVX-512 F; each read is of a block's 64 bytes.
        unsafe {
            let zero = _mm512_setzero_si512();
            // quarters[g][c] holds, in its L-th 128 bits, word 4 L + c of blocks 4 g to 4 g + 3.
            let mut quarters = [[zero; 4]; 4];
            for g in 0..4 {
                let mut rows = [zero; 4];
                for r in 0..4 {
                    rows[r] = swap(token, _mm512_loadu_si512(block(4 * g + r).as_ptr().cast()));
                }
                quarters[g] = transpose_quarters(token, rows);
            }
            let mut words = [Self { words: zero, token }; 16];
            for c in 0..4 {
                let [q0, q1, q2, q3] = [quarters[0][c], quarters[1][c], quarters[2][c], quarters[3][c]];
                let (low01, low23) =
                    (_mm512_shuffle_i32x4::<0x44>(q0, q1), _mm512_shuffle_i32x4::<0x44>(q2, q3));
                let (high01, high23) =
                    (_mm512_shuffle_i32x4::<0xee>(q0, q1), _mm512_shuffle_i32x4::<0xee>(q2, q3));
                words[c] = Self { words: _mm512_shuffle_i32x4::<0x88>(low01, low23), token };
                words[4 + c] = Self { words: _mm512_shuffle_i32x4::<0xdd>(low01, low23), token };
                words[8 + c] = Self { words: _mm512_shuffle_i32x4::<0x88>(high01, high23), token };
                words[12 + c] = Self { words: _mm512_shuffle_i32x4::<0xdd>(high01, high23), token };
            }
            words
        }
    }

    #[inline(always)]
    fn store([a, b, c, d, e, f, g, h]: [Self; 8], digests: &mut [[u8; 32]]) {
        assert_eq!(digests.len(), Self::COUNT, "a digest for each lane");
        let token = a.token;
        let first = transpose_quarters(
            token,
            [swap(token, a.words), swap(token, b.words), swap(token, c.words), swap(token, d.words)],
        );
        let second = transpose_quarters(
            token,
            [swap(token, e.words), swap(token, f.words), swap(token, g.words), swap(token, h.words)],
        );
        // SAFETY: the token proves AVX-512 F; each write is of a digest's 32 bytes.
        unsafe {
            // The halves of digests r and 4 + r, and of 8 + r and 12 + r.
            let low = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
            let high = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
            for r in 0..4 {
                let both = _mm512_permutex2var_epi64(first[r], low, second[r]);
                _mm256_storeu_si256(digests[r].as_mut_ptr().cast(), _mm512_castsi512_si256(both));
                _mm256_storeu_si256(digests[4 + r].as_mut_ptr().cast(), _mm512_extracti64x4_epi64::<1>(both));
                let both = _mm512_permutex2var_epi64(first[r], high, second[r]);
                _mm256_storeu_si256(digests[8 + r].as_mut_ptr().cast(), _mm512_castsi512_si256(both));
                _mm256_storeu_si256(
                    digests[12 + r].as_mut_ptr().cast(),
                    _mm512_extracti64x4_epi64::<1>(both),
                );
            }
        }
    }
}
