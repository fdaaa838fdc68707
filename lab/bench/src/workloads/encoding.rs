//! The encoding of inputs for peers and of outputs for digests: canonical integers, little-endian, not in
//! Montgomery form.

use proofmill_curve::{Affine, Curve};
use proofmill_field::{Dodecic, Fp, Prime, Quadratic, goldilocks::Goldilocks};
use proofmill_hash::Digest;

/// A type with this encoding.
pub(crate) trait Encode {
    /// Appends the encoding.
    fn put(&self, bytes: &mut Vec<u8>);
}

impl<P: Prime> Encode for Fp<P> {
    fn put(&self, bytes: &mut Vec<u8>) {
        let limbs = self.to_canonical();
        limbs.as_ref().iter().for_each(|limb| bytes.extend(limb.to_le_bytes()));
    }
}

/// Constant coefficient first.
impl<A: Encode> Encode for Quadratic<A> {
    fn put(&self, bytes: &mut Vec<u8>) {
        self.c0.put(bytes);
        self.c1.put(bytes);
    }
}

/// x, then y; zeros for infinity.
impl<C: Curve<Base: Encode>> Encode for Affine<C> {
    fn put(&self, bytes: &mut Vec<u8>) {
        self.x.put(bytes);
        self.y.put(bytes);
    }
}

impl<P, A: Encode> Encode for Dodecic<P, A> {
    /// The coefficients of 1, v, v^2, w, v w, v^2 w.
    fn put(&self, bytes: &mut Vec<u8>) {
        self.c0.c.put(bytes);
        self.c1.c.put(bytes);
    }
}

impl Encode for Goldilocks {
    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_bytes_le());
    }
}

impl Encode for u64 {
    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }
}

impl Encode for Digest {
    fn put(&self, bytes: &mut Vec<u8>) {
        self.0.put(bytes);
    }
}

impl<const N: usize> Encode for [u8; N] {
    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self);
    }
}

/// The elements in order.
impl<T: Encode> Encode for [T] {
    fn put(&self, bytes: &mut Vec<u8>) {
        self.iter().for_each(|item| item.put(bytes));
    }
}

/// The encoding of a value or of a slice.
pub(crate) fn encoded<T: Encode + ?Sized>(thing: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    thing.put(&mut bytes);
    bytes
}
