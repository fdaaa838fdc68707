//! The Fiat-Shamir transcript of snarkjs and of its Solidity verifiers.
//!
//! A transcript makes an interactive proof non-interactive: each challenge of the verifier is a hash of
//! everything that the prover has sent so far. It is sound only if every public value that a challenge
//! depends on is absorbed before the challenge is drawn (Bernhard, Pereira, Warinschi, "How not to prove
//! yourself", 2012). [`crate::transcript::challenges`] lists the inputs of each challenge.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)
)]

pub(crate) mod challenges;

use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::bn254::Fr;
use proofmill_hash::Keccak256;

/// Keccak-256 (the EVM's, not SHA-3) over concatenated encodings, as in the EVM. A scalar is 32 big-endian
/// bytes. A point of G1 is x then y, 32 big-endian bytes each; infinity is 64 zero bytes.
///
/// No lengths or labels are absorbed: the protocol must fix the number and kind of values before each
/// challenge, as PLONK does for a given verification key. A challenge depends on earlier ones only if the
/// protocol absorbs them.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeccakTranscript {
    hasher: Keccak256,
}

impl KeccakTranscript {
    /// An empty transcript.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Absorbs a scalar.
    pub(crate) fn absorb_scalar(&mut self, scalar: Fr) {
        self.hasher.update(&scalar.to_bytes_be());
    }

    /// Absorbs a point.
    pub(crate) fn absorb_point(&mut self, point: &Affine<G1>) {
        self.hasher.update(&point.to_evm());
    }

    /// Absorbs a point of G2: x then y, each as two coefficients in 32 big-endian bytes, the constant one
    /// last, as in the EVM; infinity is all zeros.
    pub(crate) fn absorb_g2(&mut self, point: &Affine<G2>) {
        for coordinate in [point.x, point.y] {
            self.hasher.update(&coordinate.c1.to_bytes_be());
            self.hasher.update(&coordinate.c0.to_bytes_be());
        }
    }

    /// Absorbs bytes without a length; if their number is not fixed, the caller adds a delimiter.
    pub(crate) fn absorb_bytes(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
    }

    /// Returns the digest of everything absorbed since the last challenge, as a big-endian integer reduced
    /// modulo r. The transcript is empty afterwards.
    pub(crate) fn challenge(&mut self) -> Fr {
        Fr::from_bytes_be_reduced(&self.hasher.finalize_reset())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofmill_field::Field;

    /// keccak256("") and keccak256 of 32 zero bytes: well-known values of the EVM.
    const EMPTY: &str = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
    const ZERO_WORD: &str = "290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e563";

    fn reduced(digest: &str) -> Fr {
        let nibbles: Vec<u8> =
            digest.chars().map(|digit| digit.to_digit(16).expect("hexadecimal") as u8).collect();
        let bytes: Vec<u8> = nibbles.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        Fr::from_bytes_be_reduced(&bytes)
    }

    #[test]
    fn challenges_are_reduced_digests() {
        let mut transcript = KeccakTranscript::new();
        assert_eq!(transcript.challenge(), reduced(EMPTY));
        transcript.absorb_scalar(Fr::ZERO);
        assert_eq!(transcript.challenge(), reduced(ZERO_WORD));
        assert_eq!(transcript.challenge(), reduced(EMPTY), "a challenge empties the transcript");
    }

    #[test]
    fn a_point_is_absorbed_as_two_words() {
        let point = Affine { x: 1.into(), y: 2.into() };
        let (mut as_point, mut as_words) = (KeccakTranscript::new(), KeccakTranscript::new());
        as_point.absorb_point(&point);
        as_words.absorb_scalar(1.into());
        as_words.absorb_scalar(2.into());
        assert_eq!(as_point.challenge(), as_words.challenge());
    }
}
