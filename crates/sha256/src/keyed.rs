//! HMAC and HKDF. They hash secrets, so intermediate values are wiped.

use crate::Sha256;
use std::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The most bytes that [`hkdf_expand`] returns: 255 digests.
pub const HKDF_MOST: usize = 255 * 32;

/// HMAC-SHA-256 (RFC 2104) of a message that is given in parts.
///
/// The key may have any length; time depends on it and on the message's length alone.
#[derive(Clone, ZeroizeOnDrop)]
pub struct Hmac {
    inner: Sha256,
    outer: Sha256,
}

impl Hmac {
    /// The authentication code of the empty message under this key.
    pub fn new(key: &[u8]) -> Self {
        let mut block = [0; 64];
        if key.len() > 64 {
            let mut hash = Sha256::new();
            hash.update(key);
            block[..32].copy_from_slice(&hash.finish());
            hash.zeroize();
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        let mut hash_of = |pad: u8| {
            block.iter_mut().for_each(|byte| *byte ^= pad);
            let mut hash = Sha256::new();
            hash.update(&block);
            hash
        };
        // The first call leaves key ^ 0x36 in the block; the exclusive or with 0x36 ^ 0x5c makes it key ^ 0x5c.
        let hmac = Self { inner: hash_of(0x36), outer: hash_of(0x36 ^ 0x5c) };
        block.zeroize();
        hmac
    }

    /// Appends to the message.
    pub fn update(&mut self, part: &[u8]) {
        self.inner.update(part);
    }

    /// The authentication code of the message so far.
    pub fn finish(&self) -> [u8; 32] {
        let mut outer = self.outer.clone();
        outer.update(&self.inner.finish());
        let code = outer.finish();
        outer.zeroize();
        code
    }
}

impl fmt::Debug for Hmac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hmac").finish_non_exhaustive()
    }
}

/// The pseudorandom key of a secret and a salt, which may be empty: RFC 5869, section 2.2.
pub fn hkdf_extract(salt: &[u8], secret: &[u8]) -> [u8; 32] {
    let mut hmac = Hmac::new(salt);
    hmac.update(secret);
    hmac.finish()
}

/// Fills `output` with key material from a pseudorandom key: RFC 5869, section 2.3.
///
/// # Panics
/// If `output` is longer than [`HKDF_MOST`] bytes.
pub fn hkdf_expand(key: &[u8], info: &[u8], output: &mut [u8]) {
    assert!(output.len() <= HKDF_MOST, "at most {HKDF_MOST} bytes, {} wanted", output.len());
    let keyed = Hmac::new(key);
    let mut block = [0; 32];
    for (i, part) in output.chunks_mut(32).enumerate() {
        let mut hmac = keyed.clone();
        if i > 0 {
            hmac.update(&block);
        }
        hmac.update(info);
        hmac.update(&[i as u8 + 1]);
        block = hmac.finish();
        part.copy_from_slice(&block[..part.len()]);
    }
    block.zeroize();
}
