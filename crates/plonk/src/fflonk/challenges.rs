//! The verifier's challenges and the inputs of their hashes.
//!
//! | challenge | Keccak-256 of |
//! |---|---|
//! | beta | C0, public inputs, C1 |
//! | gamma | beta |
//! | seed | gamma, C2; xi is its 24th power |
//! | alpha | seed, the 15 values of the proof |
//! | y | alpha, W1 |
//!
//! Nothing is drawn after W2. Of the key, snarkjs hashes only C0. Deployed Solidity verifiers compute the same
//! hashes, so nothing can be added. This is sound: the domain's size, the multipliers, the number of public inputs
//! and the reference string come from the verifier's own key, and C0 depends on them. The proof's `inv` is not
//! hashed; it is determined by everything else.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::{Proof, VerifyingKey};
use crate::transcript::KeccakTranscript;
use proofmill_curve::{Affine, bn254::G1};
use proofmill_field::{Algebra, bn254::Fr};

/// The challenges of a proof. Those not drawn yet are zero.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Challenges {
    pub(super) beta: Fr,
    pub(super) gamma: Fr,
    pub(super) seed: Fr,
    pub(super) alpha: Fr,
    pub(super) y: Fr,
}

impl Challenges {
    /// The challenges of a complete proof.
    pub(super) fn of(key: &VerifyingKey, public: &[Fr], proof: &Proof) -> Self {
        let [c1, c2, w1, _] = &proof.points;
        let mut challenges = Self::default();
        challenges.after_first_round(&key.c0, public, c1);
        challenges.after_second_round(c2);
        challenges.after_evaluations(&proof.evaluations);
        challenges.after_opening(w1);
        challenges
    }

    /// Draws beta and gamma.
    pub(super) fn after_first_round(&mut self, c0: &Affine<G1>, public: &[Fr], c1: &Affine<G1>) {
        let mut transcript = KeccakTranscript::new();
        transcript.absorb_point(c0);
        public.iter().for_each(|input| transcript.absorb_scalar(*input));
        transcript.absorb_point(c1);
        self.beta = transcript.challenge();
        transcript.absorb_scalar(self.beta);
        self.gamma = transcript.challenge();
    }

    /// Draws the seed of xi.
    pub(super) fn after_second_round(&mut self, c2: &Affine<G1>) {
        let mut transcript = KeccakTranscript::new();
        transcript.absorb_scalar(self.gamma);
        transcript.absorb_point(c2);
        self.seed = transcript.challenge();
    }

    /// Draws alpha.
    pub(super) fn after_evaluations(&mut self, evaluations: &[Fr]) {
        let mut transcript = KeccakTranscript::new();
        transcript.absorb_scalar(self.seed);
        evaluations.iter().for_each(|value| transcript.absorb_scalar(*value));
        self.alpha = transcript.challenge();
    }

    /// Draws y.
    pub(super) fn after_opening(&mut self, w1: &Affine<G1>) {
        let mut transcript = KeccakTranscript::new();
        transcript.absorb_scalar(self.alpha);
        transcript.absorb_point(w1);
        self.y = transcript.challenge();
    }

    /// The point where the polynomials are opened: an 8th, 4th and 3rd power, of known roots.
    pub(super) fn xi(&self) -> Fr {
        self.seed.pow_vartime(&[24])
    }
}
