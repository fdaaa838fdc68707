//! Four messages in 128-bit vectors of NEON, for CPUs without the SHA-256 instructions.

use crate::{
    formula::MessageWord,
    lanes::{self, MessageLanes},
};
use proofmill_cpu::{Neon, Token};
use std::arch::aarch64::*;

/// Digests of messages of 64 bytes.
pub(crate) fn pairs(token: Neon, pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
    token.run(
        #[inline(always)]
        || lanes::pairs::<U32x4>(token, pairs, digests),
    );
}

/// Digests of messages of `length` bytes.
pub(crate) fn rows(token: Neon, rows: &[u8], length: usize, digests: &mut [[u8; 32]]) {
    token.run(
        #[inline(always)]
        || lanes::rows::<U32x4>(token, rows, length, digests),
    );
}

/// 4 words with the token of the instructions.
#[derive(Clone, Copy)]
struct U32x4 {
    words: uint32x4_t,
    token: Neon,
}

// SAFETY, for all blocks below: the token, in `self` or as an argument, proves NEON.
#[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all, above")]
impl MessageWord for U32x4 {
    type Token = Neon;

    #[inline(always)]
    fn token(self) -> Neon {
        self.token
    }

    #[inline(always)]
    fn splat(token: Neon, word: u32) -> Self {
        Self { words: unsafe { vdupq_n_u32(word) }, token }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { words: unsafe { vaddq_u32(self.words, other.words) }, ..self }
    }

    #[inline(always)]
    fn rotate_right(self, bits: u32) -> Self {
        let left = unsafe { vshlq_u32(self.words, vdupq_n_s32(32 - bits.cast_signed())) };
        Self { words: unsafe { vorrq_u32(left, self.shift_right(bits).words) }, ..self }
    }

    #[inline(always)]
    fn shift_right(self, bits: u32) -> Self {
        Self { words: unsafe { vshlq_u32(self.words, vdupq_n_s32(-bits.cast_signed())) }, ..self }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self { words: unsafe { veorq_u32(self.words, other.words) }, ..self }
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self { words: unsafe { vandq_u32(self.words, other.words) }, ..self }
    }

    #[inline(always)]
    fn choose(self, f: Self, g: Self) -> Self {
        Self { words: unsafe { vbslq_u32(self.words, f.words, g.words) }, ..self }
    }

    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        Self { words: unsafe { vbslq_u32(veorq_u32(b.words, c.words), self.words, b.words) }, ..self }
    }
}

/// Transposes the words of four vectors.
#[inline(always)]
fn transpose(_: Neon, [a, b, c, d]: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
    // SAFETY: the token proves NEON.
    unsafe {
        let (ab, cd) = (vzip1q_u32(a, b), vzip1q_u32(c, d));
        let (ab_high, cd_high) = (vzip2q_u32(a, b), vzip2q_u32(c, d));
        let low =
            |x, y| vreinterpretq_u32_u64(vzip1q_u64(vreinterpretq_u64_u32(x), vreinterpretq_u64_u32(y)));
        let high =
            |x, y| vreinterpretq_u32_u64(vzip2q_u64(vreinterpretq_u64_u32(x), vreinterpretq_u64_u32(y)));
        [low(ab, cd), high(ab, cd), low(ab_high, cd_high), high(ab_high, cd_high)]
    }
}

impl MessageLanes for U32x4 {
    const COUNT: usize = 4;

    #[inline(always)]
    fn load<'a>(token: Neon, block: impl Fn(usize) -> &'a [u8; 64]) -> [Self; 16] {
        // SAFETY: the token proves NEON; reads are of 16 bytes from 16 * quarter <= 48 on, within the block's 64.
        unsafe {
            let mut words = [Self { words: vdupq_n_u32(0), token }; 16];
            for quarter in 0..4 {
                let mut rows = [vdupq_n_u32(0); 4];
                for r in 0..4 {
                    let bytes = vld1q_u8(block(r).as_ptr().add(16 * quarter));
                    rows[r] = vreinterpretq_u32_u8(vrev32q_u8(bytes));
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
        // SAFETY: the token proves NEON; writes are of 16 bytes from 0 and 16 on, within the digest's 32.
        unsafe {
            let first = transpose(token, [a.words, b.words, c.words, d.words]);
            let second = transpose(token, [e.words, f.words, g.words, h.words]);
            for r in 0..4 {
                let digest = digests[r].as_mut_ptr();
                vst1q_u8(digest, vrev32q_u8(vreinterpretq_u8_u32(first[r])));
                vst1q_u8(digest.add(16), vrev32q_u8(vreinterpretq_u8_u32(second[r])));
            }
        }
    }
}
