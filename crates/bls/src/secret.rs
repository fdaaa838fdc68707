//! Secret keys. No function here branches on a key or uses it as an address.

use crate::{BlsError, DST, POSSESSION_DST, Signature, ValidPublicKey, verify::hash_one};
use proofmill_cpu::Level;
use proofmill_curve::constant_time::{multiple_in_g2, multiple_of_generator};
use proofmill_field::{Prime, bls12_381::FrParams};
use std::hint::black_box;
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// A secret key: an integer from 1 to r - 1. It has no `Debug`, and is wiped when dropped.
#[derive(Clone, ZeroizeOnDrop)]
pub struct SecretKey {
    /// The integer as little-endian words.
    words: [u64; 4],
}

impl SecretKey {
    /// The length of the encoding in bytes.
    pub const BYTES: usize = 32;

    /// Decodes a big-endian integer.
    ///
    /// # Errors
    /// [`BlsError::Length`]; [`BlsError::SecretKeyRange`] for zero and for r or more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BlsError> {
        let bytes: &[u8; Self::BYTES] = bytes.try_into().map_err(|_| BlsError::Length {
            what: "a secret key",
            expected: Self::BYTES,
            found: bytes.len(),
        })?;
        let mut key = Self { words: [0; 4] };
        for (word, bytes) in key.words.iter_mut().zip(bytes.as_chunks().0.iter().rev()) {
            *word = u64::from_be_bytes(*bytes);
        }
        if declassify(key.is_in_range()) { Ok(key) } else { Err(BlsError::SecretKeyRange) }
    }

    /// The key of an integer below r, `None` for zero.
    pub(crate) fn from_words(words: [u64; 4]) -> Option<Self> {
        let key = Self { words };
        declassify(key.is_in_range()).then_some(key)
    }

    /// The big-endian integer.
    pub fn to_bytes(&self) -> Zeroizing<[u8; Self::BYTES]> {
        let mut bytes = Zeroizing::new([0; Self::BYTES]);
        for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().rev().zip(&self.words) {
            *bytes = word.to_be_bytes();
        }
        bytes
    }

    /// The public key: the generator of G1 times the secret key.
    pub fn public_key(&self, level: Level) -> ValidPublicKey {
        ValidPublicKey::of_point(multiple_of_generator(level, &self.words))
    }

    /// The signature of a message: the message's hash in G2 times the secret key.
    pub fn sign(&self, level: Level, message: &[u8]) -> Signature {
        self.sign_with(level, message, DST)
    }

    /// The proof of possession of this key, for [`verify_possession`](crate::verify_possession).
    pub fn prove_possession(&self, level: Level) -> Signature {
        self.sign_with(level, &self.public_key(level).to_bytes(), POSSESSION_DST)
    }

    fn sign_with(&self, level: Level, message: &[u8], dst: &[u8]) -> Signature {
        Signature::of_point(multiple_in_g2(level, &hash_one(level, message, dst), &self.words))
    }

    /// 1 for an integer from 1 to r - 1, else 0.
    fn is_in_range(&self) -> u64 {
        let (mut borrow, mut any) = (0, 0);
        for (word, modulus) in self.words.iter().zip(&FrParams::MODULUS) {
            let difference = u128::from(*word).wrapping_sub(u128::from(*modulus)).wrapping_sub(borrow);
            borrow = difference >> 127;
            any |= word;
        }
        // A word or its negative has the top bit, unless it is zero; a borrow says below r.
        let nonzero = (any | any.wrapping_neg()) >> 63;
        nonzero & borrow as u64
    }
}

/// Whether a bit is 1, by a branch, for bits that may become public. No other function branches on a value that depends on a
/// key; the check for secret-dependent branches in `.ci` exempts only this function, by name.
#[inline(never)]
fn declassify(bit: u64) -> bool {
    #[inline(never)]
    fn yes() -> bool {
        black_box(true)
    }
    #[inline(never)]
    fn no() -> bool {
        black_box(false)
    }
    if bit == 1 { yes() } else { no() }
}
