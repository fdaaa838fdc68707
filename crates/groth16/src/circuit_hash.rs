//! snarkjs's hash of a circuit, which binds the contributions of a ceremony to their circuit. It is BLAKE2b-512 (RFC 7693) of
//! the key without contributions, with points uncompressed and big-endian.

use blake2::{Blake2b512, Digest};
use proofmill_circom::{CircomCurve, Coordinate, Groth16Header};
use proofmill_curve::{Affine, Curve};

/// The hash of the data added so far.
pub(crate) struct CircuitHash(Blake2b512);

impl CircuitHash {
    /// A hash to which the header's points were added.
    pub(crate) fn new<C: CircomCurve>(header: &Groth16Header<C>) -> Self {
        let mut hash = Self(Blake2b512::new());
        hash.points(&[header.alpha_1, header.beta_1]);
        hash.points(&[header.beta_2, header.gamma_2]);
        hash.points(&[header.delta_1]);
        hash.points(&[header.delta_2]);
        hash
    }

    /// Adds a list's length.
    pub(crate) fn length(&mut self, length: usize) {
        self.0.update((length as u32).to_be_bytes());
    }

    /// Adds points: x, then y, each as one big-endian number, so that in G2 the coefficient of u comes first.
    pub(crate) fn points<C: Curve<Base: Coordinate>>(&mut self, points: &[Affine<C>]) {
        let mut bytes = Vec::new();
        for point in points {
            bytes.clear();
            point.x.write_be(&mut bytes);
            point.y.write_be(&mut bytes);
            self.0.update(&bytes);
        }
    }

    pub(crate) fn finish(self) -> [u8; 64] {
        self.0.finalize().into()
    }
}
