//! SHA-NI: two rounds in one instruction (`sha256rnds2`), four words of the schedule in two (`sha256msg1`, `sha256msg2`).
//!
//! A block is a chain of 32 `sha256rnds2` with a latency of 4 cycles each, on Zen and on Intel's cores; the unit starts one
//! every two cycles, so two interleaved messages keep it busy. If their number is odd, three are hashed together: two and
//! then one take 1.1 times as long.

use crate::instructions::{self, MessageState};
use proofmill_cpu::{ShaNi, Token};
use std::arch::x86_64::*;

/// The state after these blocks.
pub(crate) fn compress_blocks(token: ShaNi, state: &mut [u32; 8], blocks: &[[u8; 64]]) {
    token.run(
        #[inline(always)]
        || instructions::compress_blocks::<Halves>(token, state, blocks),
    );
}

/// The digest of a message.
pub(crate) fn digest(token: ShaNi, message: &[u8]) -> [u8; 32] {
    token.run(
        #[inline(always)]
        || instructions::digest::<Halves>(token, message),
    )
}

/// Digests of messages of 64 bytes.
#[inline]
pub(crate) fn pairs(token: ShaNi, pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
    if let ([pair], [one]) = (pairs, &mut *digests) {
        // A separate function has a shorter set-up.
        return token.run(
            #[inline(always)]
            || instructions::pair::<Halves>(token, pair, one),
        );
    }
    token.run(
        #[inline(always)]
        || instructions::pairs::<Halves>(token, pairs, digests),
    );
}

/// The state in the order of the instructions' operands, most significant word first, with the token of the instructions.
#[derive(Clone, Copy)]
struct Halves {
    abef: __m128i,
    cdgh: __m128i,
    token: ShaNi,
}

// SAFETY, for all blocks below: the token, in the state or as an argument, proves the SHA instructions, SSE 4.1 and SSSE3;
// pointers come from references to arrays with all bytes that are read or written.
#[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all, above")]
impl MessageState for Halves {
    type Token = ShaNi;
    type Four = __m128i;

    #[inline(always)]
    fn token(self) -> ShaNi {
        self.token
    }

    #[inline(always)]
    fn of_words(token: ShaNi, words: &[u32; 8]) -> Self {
        unsafe {
            let words = words.as_ptr().cast::<__m128i>();
            let badc = _mm_shuffle_epi32::<0xb1>(_mm_loadu_si128(words));
            let hgfe = _mm_shuffle_epi32::<0x1b>(_mm_loadu_si128(words.add(1)));
            Self { abef: _mm_alignr_epi8::<8>(badc, hgfe), cdgh: _mm_blend_epi16::<0xf0>(hgfe, badc), token }
        }
    }

    #[inline(always)]
    fn to_words(self) -> [u32; 8] {
        let mut words = [0; 8];
        unsafe {
            let (feba, dchg) = (_mm_shuffle_epi32::<0x1b>(self.abef), _mm_shuffle_epi32::<0xb1>(self.cdgh));
            let halves = words.as_mut_ptr().cast::<__m128i>();
            _mm_storeu_si128(halves, _mm_blend_epi16::<0xf0>(feba, dchg));
            _mm_storeu_si128(halves.add(1), _mm_alignr_epi8::<8>(dchg, feba));
        }
        words
    }

    #[inline(always)]
    fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        unsafe {
            // One shuffle reverses both words and bytes.
            let order = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let halves = bytes.as_mut_ptr().cast::<__m128i>();
            let abcd = _mm_unpackhi_epi64(self.cdgh, self.abef);
            let efgh = _mm_unpacklo_epi64(self.cdgh, self.abef);
            _mm_storeu_si128(halves, _mm_shuffle_epi8(abcd, order));
            _mm_storeu_si128(halves.add(1), _mm_shuffle_epi8(efgh, order));
        }
        bytes
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self {
            abef: Self::sum(self.token, self.abef, other.abef),
            cdgh: Self::sum(self.token, self.cdgh, other.cdgh),
            ..self
        }
    }

    #[inline(always)]
    fn four_rounds(&mut self, w_and_k: __m128i) {
        unsafe {
            self.cdgh = _mm_sha256rnds2_epu32(self.cdgh, self.abef, w_and_k);
            self.abef = _mm_sha256rnds2_epu32(self.abef, self.cdgh, _mm_shuffle_epi32::<0x0e>(w_and_k));
        }
    }

    #[inline(always)]
    fn four_rounds_of_all<const N: usize>(states: &mut [Self; N], w_and_k: __m128i) {
        unsafe {
            // The instruction takes the sums from register xmm0: each half is loaded there once for all states.
            for Self { abef, cdgh, .. } in &mut *states {
                *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, w_and_k);
            }
            let rest = _mm_shuffle_epi32::<0x0e>(w_and_k);
            for Self { abef, cdgh, .. } in states {
                *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, rest);
            }
        }
    }

    #[inline(always)]
    fn finish_before(&mut self, words: &mut __m128i) {
        // SAFETY: the assembly is only a comment: it has no instruction, and the registers keep their values.
        unsafe {
            std::arch::asm!(
                "/* {} {} {} */", inout(xmm_reg) self.abef, inout(xmm_reg) self.cdgh, inout(xmm_reg) *words,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
    }

    #[inline(always)]
    fn load(_: ShaNi, words: &[u32; 4]) -> __m128i {
        unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn load_bytes(_: ShaNi, bytes: &[u8; 16]) -> __m128i {
        unsafe {
            let order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
            _mm_shuffle_epi8(_mm_loadu_si128(bytes.as_ptr().cast()), order)
        }
    }

    #[inline(always)]
    fn sum(_: ShaNi, words: __m128i, others: __m128i) -> __m128i {
        unsafe { _mm_add_epi32(words, others) }
    }

    #[inline(always)]
    fn schedule(_: ShaNi, [w0, w1, w2, w3]: [__m128i; 4]) -> __m128i {
        unsafe {
            let sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8::<4>(w3, w2));
            _mm_sha256msg2_epu32(sum, w3)
        }
    }
}
