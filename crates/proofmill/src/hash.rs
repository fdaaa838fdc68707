//! Hashes: SHA-256, Poseidon and Pedersen over BN254's scalar field, Poseidon and Poseidon2 over Goldilocks.
//!
//! ```
//! use proofmill::{field::Fr, hash};
//!
//! let digest = hash::sha256(b"abc");
//! assert_eq!(digest[..4], [0xba, 0x78, 0x16, 0xbf]);
//!
//! // circomlib's Poseidon.
//! let hash = hash::poseidon(&[1, 2].map(Fr::from));
//! assert_eq!(hash.to_string(), "7853200120776062878684798364095072458815029376092732009249414926327459813530");
//! assert_eq!(hash::poseidon_many(2, &[1, 2, 1, 2].map(Fr::from)), [hash, hash]);
//! ```

use crate::{field::Fr, machine::current};
use proofmill_hash::{PoseidonBn254, pedersen as lower, poseidon_bn254};
use proofmill_sha256::Kernels;
pub use proofmill_sha256::{Hmac, hkdf_expand, hkdf_extract};

/// The SHA-256 digest of a message.
pub fn sha256(message: &[u8]) -> [u8; 32] {
    Kernels::at(current().level).digest(message)
}

/// The SHA-256 digest of a message that is given in parts.
///
/// ```
/// use proofmill::hash::{Sha256, sha256};
///
/// let mut state = Sha256::new();
/// state.update(b"ab");
/// state.update(b"c");
/// assert_eq!(state.finish(), sha256(b"abc"));
/// ```
#[derive(Clone, Debug)]
pub struct Sha256(proofmill_sha256::Sha256);

impl Sha256 {
    /// The hash of the empty message so far.
    pub fn new() -> Self {
        Self(proofmill_sha256::Sha256::with(Kernels::at(current().level)))
    }

    /// Appends a part.
    pub fn update(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    /// The digest of the message so far; more parts may follow.
    pub fn finish(&self) -> [u8; 32] {
        self.0.finish()
    }
}

impl Default for Sha256 {
    fn default() -> Self {
        Self::new()
    }
}

/// The SHA-256 digests of many messages of 64 bytes, such as pairs of nodes of a tree. Runs on the calling thread.
pub fn sha256_pairs(pairs: &[[u8; 64]]) -> Vec<[u8; 32]> {
    let mut digests = vec![[0; 32]; pairs.len()];
    proofmill_sha256::hash_pairs(Kernels::at(current().level), pairs, &mut digests);
    digests
}

/// circomlib's Poseidon of 1 to 16 elements.
///
/// # Panics
/// If there are no inputs, or more than 16.
pub fn poseidon(inputs: &[Fr]) -> Fr {
    poseidon_bn254::poseidon(inputs)
}

/// [`poseidon`] of many rows of `columns` elements each, stored contiguously. Runs on all threads.
///
/// # Panics
/// If `columns` is not from 1 to 16, or does not divide the number of inputs.
pub fn poseidon_many(columns: usize, inputs: &[Fr]) -> Vec<Fr> {
    PoseidonBn254::of_width(columns + 1).hash_many(current().level, inputs)
}

/// The Pedersen hash of two elements: the x coordinate of a point of Grumpkin.
pub fn pedersen(a: Fr, b: Fr) -> Fr {
    lower::pedersen(a, b)
}

/// [`pedersen`] of many pairs. Runs on all threads.
pub fn pedersen_many(pairs: &[[Fr; 2]]) -> Vec<Fr> {
    lower::pedersen_many(current().level, pairs)
}

pub use crate::merkle::Hash as RowHash;

/// The digests of rows of `columns` 64-bit words each, stored contiguously, by one of the hashes of Merkle trees: Poseidon or
/// Poseidon2 for Goldilocks elements, or SHA-256 for any words. Runs on the calling thread.
///
/// A digest of Poseidon or Poseidon2 is four elements, each as eight little-endian bytes. Digests are collision-resistant only
/// among rows of one length: Poseidon and Poseidon2 do not hash the length.
///
/// ```
/// use proofmill::hash::{RowHash, rows};
///
/// let digests = rows(RowHash::Poseidon2, &[1, 2, 3, 4, 5, 1, 2, 3, 4, 5], 5);
/// assert_eq!(digests[0], digests[1]);
/// ```
///
/// # Panics
/// If `columns` is 0 or does not divide the number of words, or a word is not below the hash's modulus.
pub fn rows(hash: RowHash, words: &[u64], columns: usize) -> Vec<[u8; 32]> {
    assert!(columns > 0 && words.len().is_multiple_of(columns), "whole rows of {columns} words");
    crate::merkle::digests(hash, words, columns)
}
