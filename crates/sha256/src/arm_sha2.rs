//! Armv8's cryptographic extension: four rounds in two instructions (`sha256h`, `sha256h2`), four words of the schedule in
//! two (`sha256su0`, `sha256su1`).

use crate::instructions::{self, MessageState};
use proofmill_cpu::{ArmSha2, Token};
use std::arch::aarch64::*;

/// The state after these blocks.
pub(crate) fn compress_blocks(token: ArmSha2, state: &mut [u32; 8], blocks: &[[u8; 64]]) {
    token.run(
        #[inline(always)]
        || instructions::compress_blocks::<Halves>(token, state, blocks),
    );
}

/// The digest of a message.
pub(crate) fn digest(token: ArmSha2, message: &[u8]) -> [u8; 32] {
    token.run(
        #[inline(always)]
        || instructions::digest::<Halves>(token, message),
    )
}

/// Digests of messages of 64 bytes.
#[inline]
pub(crate) fn pairs(token: ArmSha2, pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
    if let ([pair], [one]) = (pairs, &mut *digests) {
        // The function for one message has a shorter set-up.
        *one = digest(token, pair);
        return;
    }
    token.run(
        #[inline(always)]
        || instructions::pairs::<Halves>(token, pairs, digests),
    );
}

/// The state, with the token of the instructions.
#[derive(Clone, Copy)]
struct Halves {
    abcd: uint32x4_t,
    efgh: uint32x4_t,
    token: ArmSha2,
}

// `four_rounds` and `schedule` are separate functions because the compiler inlines intrinsics only where their feature is
// declared.

#[inline]
#[target_feature(enable = "sha2")]
fn four_rounds(abcd: uint32x4_t, efgh: uint32x4_t, w_and_k: uint32x4_t) -> (uint32x4_t, uint32x4_t) {
    (vsha256hq_u32(abcd, efgh, w_and_k), vsha256h2q_u32(efgh, abcd, w_and_k))
}

#[inline]
#[target_feature(enable = "sha2")]
fn schedule(w0: uint32x4_t, w1: uint32x4_t, w2: uint32x4_t, w3: uint32x4_t) -> uint32x4_t {
    vsha256su1q_u32(vsha256su0q_u32(w0, w1), w2, w3)
}

// SAFETY, for all blocks below: the token, in the state or as an argument, proves NEON and the SHA-256 instructions; pointers
// come from references to arrays with all bytes that are read or written.
#[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all, above")]
impl MessageState for Halves {
    type Token = ArmSha2;
    type Four = uint32x4_t;

    #[inline(always)]
    fn token(self) -> ArmSha2 {
        self.token
    }

    #[inline(always)]
    fn of_words(token: ArmSha2, words: &[u32; 8]) -> Self {
        unsafe { Self { abcd: vld1q_u32(words.as_ptr()), efgh: vld1q_u32(words.as_ptr().add(4)), token } }
    }

    #[inline(always)]
    fn to_words(self) -> [u32; 8] {
        let mut words = [0; 8];
        unsafe {
            vst1q_u32(words.as_mut_ptr(), self.abcd);
            vst1q_u32(words.as_mut_ptr().add(4), self.efgh);
        }
        words
    }

    #[inline(always)]
    fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        unsafe {
            vst1q_u8(bytes.as_mut_ptr(), vrev32q_u8(vreinterpretq_u8_u32(self.abcd)));
            vst1q_u8(bytes.as_mut_ptr().add(16), vrev32q_u8(vreinterpretq_u8_u32(self.efgh)));
        }
        bytes
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self {
            abcd: Self::sum(self.token, self.abcd, other.abcd),
            efgh: Self::sum(self.token, self.efgh, other.efgh),
            ..self
        }
    }

    #[inline(always)]
    fn four_rounds(&mut self, w_and_k: uint32x4_t) {
        (self.abcd, self.efgh) = unsafe { four_rounds(self.abcd, self.efgh, w_and_k) };
    }

    #[inline(always)]
    fn load(_: ArmSha2, words: &[u32; 4]) -> uint32x4_t {
        unsafe { vld1q_u32(words.as_ptr()) }
    }

    #[inline(always)]
    fn load_bytes(_: ArmSha2, bytes: &[u8; 16]) -> uint32x4_t {
        unsafe { vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(bytes.as_ptr()))) }
    }

    #[inline(always)]
    fn sum(_: ArmSha2, words: uint32x4_t, others: uint32x4_t) -> uint32x4_t {
        unsafe { vaddq_u32(words, others) }
    }

    #[inline(always)]
    fn schedule(_: ArmSha2, [w0, w1, w2, w3]: [uint32x4_t; 4]) -> uint32x4_t {
        unsafe { schedule(w0, w1, w2, w3) }
    }
}
