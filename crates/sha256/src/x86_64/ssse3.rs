//! One message with four words of its schedule in a vector, and four messages in 128-bit vectors.
//!
//! The rounds of one message are a dependency chain, for which scalar code is best. Meanwhile vectors compute the schedule
//! sixteen rounds ahead, four words at a time. sigma1 needs the words two positions before, so it is computed in two halves.
//! For it each word stands twice in 64 bits: there, a 64-bit shift rotates the 32-bit word (Gueron and Krasnov, "Simultaneous
//! hashing of multiple messages", 2012, describe the schedule in vectors).

use crate::{
    constants::ROUND_CONSTANTS,
    formula::{MessageWord, sixteen_rounds},
    lanes::{self, MessageLanes},
};
use proofmill_cpu::{Ssse3, Token};
use std::arch::x86_64::*;

/// The state after these blocks.
pub(crate) fn compress_blocks(token: Ssse3, state: &mut [u32; 8], blocks: &[[u8; 64]]) {
    token.run(
        #[inline(always)]
        || compress_inlined(token, state, blocks),
    );
}

/// Digests of messages of 64 bytes, four at a time.
pub(crate) fn pairs(token: Ssse3, pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
    token.run(
        #[inline(always)]
        || lanes::pairs::<U32x4>(token, pairs, digests),
    );
}

/// Digests of messages of `length` bytes, four at a time.
pub(crate) fn rows(token: Ssse3, rows: &[u8], length: usize, digests: &mut [[u8; 32]]) {
    token.run(
        #[inline(always)]
        || lanes::rows::<U32x4>(token, rows, length, digests),
    );
}

/// The body of [`compress_blocks`], for levels beyond SSSE3.
#[inline(always)]
pub(crate) fn compress_inlined(token: Ssse3, state: &mut [u32; 8], blocks: &[[u8; 64]]) {
    for block in blocks {
        let before = *state;
        // SAFETY: the token proves SSSE3; each read is of 16 bytes from 16 * four <= 48 on, within the block's 64.
        unsafe {
            let mut w = [_mm_setzero_si128(); 4];
            let mut w_and_k = [0u32; 16];
            for four in 0..4 {
                w[four] = swap(token, _mm_loadu_si128(block.as_ptr().add(16 * four).cast()));
                store_four(
                    token,
                    &mut w_and_k,
                    four,
                    _mm_add_epi32(w[four], load_four(token, &ROUND_CONSTANTS[0], four)),
                );
            }
            for constants in &ROUND_CONSTANTS[1..] {
                sixteen_rounds(
                    state,
                    #[inline(always)]
                    |i| {
                        let sum = w_and_k[i];
                        if i % 4 == 3 {
                            let four = i / 4;
                            w[four] = schedule(
                                token,
                                [w[four], w[(four + 1) % 4], w[(four + 2) % 4], w[(four + 3) % 4]],
                            );
                            store_four(
                                token,
                                &mut w_and_k,
                                four,
                                _mm_add_epi32(w[four], load_four(token, constants, four)),
                            );
                        }
                        sum
                    },
                );
            }
            sixteen_rounds(
                state,
                #[inline(always)]
                |i| w_and_k[i],
            );
        }
        for (word, before) in state.iter_mut().zip(before) {
            *word = word.wrapping_add(before);
        }
    }
}

#[inline(always)]
fn load_four(_: Ssse3, words: &[u32; 16], four: usize) -> __m128i {
    // SAFETY: SSE2 is part of x86-64; `as_chunks` gives four words, all that are read.
    unsafe { _mm_loadu_si128(words.as_chunks::<4>().0[four].as_ptr().cast()) }
}

#[inline(always)]
fn store_four(_: Ssse3, words: &mut [u32; 16], four: usize, value: __m128i) {
    // SAFETY: SSE2 is part of x86-64; `as_chunks_mut` gives four words, all that are written.
    unsafe { _mm_storeu_si128(words.as_chunks_mut::<4>().0[four].as_mut_ptr().cast(), value) }
}

/// Words t to t + 3 of the schedule, from words t - 16 to t - 1.
#[inline(always)]
fn schedule(token: Ssse3, [w0, w1, w2, w3]: [__m128i; 4]) -> __m128i {
    // SAFETY: the token proves SSSE3.
    unsafe {
        let x = U32x4 { words: _mm_alignr_epi8::<4>(w1, w0), token };
        let sigma0 = x.rotate_right(7).parity(x.rotate_right(18), x.shift_right(3));
        let sum = _mm_add_epi32(_mm_add_epi32(w0, sigma0.words), _mm_alignr_epi8::<4>(w3, w2));
        let to_first = _mm_set_epi8(-1, -1, -1, -1, -1, -1, -1, -1, 11, 10, 9, 8, 3, 2, 1, 0);
        let to_last = _mm_set_epi8(11, 10, 9, 8, 3, 2, 1, 0, -1, -1, -1, -1, -1, -1, -1, -1);
        let first =
            _mm_shuffle_epi8(sigma1_of_twice(token, _mm_shuffle_epi32::<0b11_11_10_10>(w3)), to_first);
        let sum = _mm_add_epi32(sum, first);
        let last = _mm_shuffle_epi8(sigma1_of_twice(token, _mm_shuffle_epi32::<0b01_01_00_00>(sum)), to_last);
        _mm_add_epi32(sum, last)
    }
}

/// sigma1 in the lower half of each 64 bits, whose two halves hold the same word.
#[inline(always)]
fn sigma1_of_twice(_: Ssse3, words: __m128i) -> __m128i {
    // SAFETY: the token proves SSSE3.
    unsafe {
        let rotations = _mm_xor_si128(_mm_srli_epi64::<17>(words), _mm_srli_epi64::<19>(words));
        _mm_xor_si128(rotations, _mm_srli_epi32::<10>(words))
    }
}

/// Reverses the bytes of each word.
#[inline(always)]
fn swap(_: Ssse3, x: __m128i) -> __m128i {
    // SAFETY: the token proves SSSE3.
    unsafe { _mm_shuffle_epi8(x, _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3)) }
}

/// 4 words with the token of the instructions.
#[derive(Clone, Copy)]
struct U32x4 {
    words: __m128i,
    token: Ssse3,
}

// SAFETY, for all blocks below: the token proves SSSE3, and so SSE2.
#[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all, above")]
impl MessageWord for U32x4 {
    type Token = Ssse3;

    #[inline(always)]
    fn token(self) -> Ssse3 {
        self.token
    }

    #[inline(always)]
    fn splat(token: Ssse3, word: u32) -> Self {
        Self { words: unsafe { _mm_set1_epi32(word.cast_signed()) }, token }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { words: unsafe { _mm_add_epi32(self.words, other.words) }, ..self }
    }

    #[inline(always)]
    fn rotate_right(self, bits: u32) -> Self {
        let left = unsafe { _mm_sll_epi32(self.words, _mm_cvtsi32_si128(32 - bits.cast_signed())) };
        Self { words: unsafe { _mm_or_si128(self.shift_right(bits).words, left) }, ..self }
    }

    #[inline(always)]
    fn shift_right(self, bits: u32) -> Self {
        Self { words: unsafe { _mm_srl_epi32(self.words, _mm_cvtsi32_si128(bits.cast_signed())) }, ..self }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self { words: unsafe { _mm_xor_si128(self.words, other.words) }, ..self }
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self { words: unsafe { _mm_and_si128(self.words, other.words) }, ..self }
    }
}

/// Transposes the words of four vectors.
#[inline(always)]
fn transpose(_: Ssse3, [a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        let (ab, cd) = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
        let (ab_high, cd_high) = (_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d));
        [
            _mm_unpacklo_epi64(ab, cd),
            _mm_unpackhi_epi64(ab, cd),
            _mm_unpacklo_epi64(ab_high, cd_high),
            _mm_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}

impl MessageLanes for U32x4 {
    const COUNT: usize = 4;

    #[inline(always)]
    fn load<'a>(token: Ssse3, block: impl Fn(usize) -> &'a [u8; 64]) -> [Self; 16] {
        // SAFETY: the token proves SSSE3; reads are of 16 bytes from 16 * quarter <= 48 on, within the block's 64.
        unsafe {
            let mut words = [Self { words: _mm_setzero_si128(), token }; 16];
            for quarter in 0..4 {
                let mut rows = [_mm_setzero_si128(); 4];
                for r in 0..4 {
                    rows[r] = swap(token, _mm_loadu_si128(block(r).as_ptr().add(16 * quarter).cast()));
                }
                let columns = transpose(token, rows);
                for c in 0..4 {
                    words[4 * quarter + c] = Self { words: columns[c], token };
                }
            }
            words
        }
    }

    #[inline(always)]
    fn store([a, b, c, d, e, f, g, h]: [Self; 8], digests: &mut [[u8; 32]]) {
        assert_eq!(digests.len(), Self::COUNT, "a digest for each lane");
        let token = a.token;
        // SAFETY: the token proves SSSE3; the two writes are of a digest's 32 bytes.
        unsafe {
            let first = transpose(
                token,
                [swap(token, a.words), swap(token, b.words), swap(token, c.words), swap(token, d.words)],
            );
            let second = transpose(
                token,
                [swap(token, e.words), swap(token, f.words), swap(token, g.words), swap(token, h.words)],
            );
            for r in 0..4 {
                let digest = digests[r].as_mut_ptr().cast::<__m128i>();
                _mm_storeu_si128(digest, first[r]);
                _mm_storeu_si128(digest.add(1), second[r]);
            }
        }
    }
}
