//! From messages to points: RFC 9380, "Hashing to Elliptic Curves".
//!
//! Not constant-time: messages are public.

mod sswu;
mod svdw;

pub use sswu::{encode_to_g1, encode_to_g2, hash_to_g1, hash_to_g2};
pub use svdw::Svdw;

use proofmill_field::PrimeField;
use proofmill_sha256::Sha256;

/// The output length of SHA-256 in bytes.
const OUTPUT: usize = 32;

/// The block length of SHA-256 in bytes.
const BLOCK: usize = 64;

/// The target security level in bits: the number of bits that [`hash_to_field`] draws in addition to the modulus's.
const SECURITY: usize = 128;

/// `length` uniform bytes from a message: `expand_message_xmd` of section 5.3.1 over SHA-256. The tag `dst` separates
/// domains; tags of more than 255 bytes are hashed first (section 5.3.3).
///
/// # Panics
/// If `dst` is empty, or `length` is above 255 times 32.
pub fn expand_message_xmd(message: &[u8], dst: &[u8], length: usize) -> Vec<u8> {
    assert!(!dst.is_empty(), "a tag of the domain");
    let blocks = length.div_ceil(OUTPUT);
    assert!(blocks <= 255, "at most 255 blocks of output, {blocks} wanted");
    let oversize = (dst.len() > 255).then(|| Sha256::new().chain(b"H2C-OVERSIZE-DST-").chain(dst).finish());
    let dst = oversize.as_ref().map_or(dst, |hash| &hash[..]);
    // Both lengths were checked above.
    let finish = |hash: Sha256| hash.chain(dst).chain(&[dst.len() as u8]).finish();
    let start = Sha256::new().chain(&[0; BLOCK]).chain(message);
    let first = finish(start.chain(&(length as u16).to_be_bytes()).chain(&[0]));
    let mut block = [0; OUTPUT];
    let mut bytes = Vec::with_capacity(blocks * OUTPUT);
    for i in 1..=blocks {
        // The previous block, initially zero, is XORed with the first hash.
        block.iter_mut().zip(&first).for_each(|(byte, first)| *byte ^= first);
        block = finish(Sha256::new().chain(&block).chain(&[i as u8]));
        bytes.extend(block);
    }
    bytes.truncate(length);
    bytes
}

/// `count` elements of a prime field from a message: `hash_to_field` of section 5.2 with [`expand_message_xmd`], at 128
/// bits of security. An element of an extension of degree m is m successive elements of these.
///
/// # Panics
/// See [`expand_message_xmd`]: `count` elements must not need more than 8160 bytes.
pub fn hash_to_field<F: PrimeField + From<u64>>(message: &[u8], dst: &[u8], count: usize) -> Vec<F> {
    let length = (F::BITS as usize + SECURITY).div_ceil(8);
    let bytes = expand_message_xmd(message, dst, count * length);
    bytes.chunks_exact(length).map(reduce).collect()
}

/// The integer of big-endian bytes, modulo p.
fn reduce<F: PrimeField + From<u64>>(bytes: &[u8]) -> F {
    let radix = F::from(1 << 32).square();
    bytes.rchunks(8).rev().fold(F::ZERO, |value, word| {
        let word = word.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        value * radix + F::from(word)
    })
}
