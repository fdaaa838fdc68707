//! One message at a time, in plain Rust.

use crate::{
    constants::INITIAL,
    formula::{compress, compress_padding_of_64},
};

/// Updates the state by these blocks.
pub(crate) fn compress_blocks(state: &mut [u32; 8], blocks: &[[u8; 64]]) {
    for block in blocks {
        *state = compress(*state, words(block));
    }
}

/// Digests of messages of 64 bytes; `compress` updates a state by one block.
#[inline(always)]
pub(crate) fn pairs(
    compress: impl Fn(&mut [u32; 8], &[u8; 64]),
    pairs: &[[u8; 64]],
    digests: &mut [[u8; 32]],
) {
    for (pair, digest) in pairs.iter().zip(digests) {
        let mut state = INITIAL;
        compress(&mut state, pair);
        *digest = to_bytes(compress_padding_of_64(state));
    }
}

/// The block's sixteen words, read as big-endian.
#[inline(always)]
fn words(block: &[u8; 64]) -> [u32; 16] {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    words
}

/// The digest: words a to h as big-endian bytes.
#[inline(always)]
pub(crate) fn to_bytes(state: [u32; 8]) -> [u8; 32] {
    let mut digest = [0; 32];
    for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
    digest
}
