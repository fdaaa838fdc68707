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
//! Nothing is drawn after W2. snarkjs hashes only C0 of the key. Deployed Solidity verifiers compute the same
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
pub(super) struct FflonkChallenges {
    pub(super) beta: Fr,
    pub(super) gamma: Fr,
    pub(super) seed: Fr,
    pub(super) alpha: Fr,
    pub(super) y: Fr,
}

impl FflonkChallenges {
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
        // beta is a hash of all messages before it, so it stands for them.
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
        // 24 = lcm(8, 4, 3), so 8th, 4th and 3rd roots of xi are powers of the seed.
        self.seed.pow_vartime(&[24])
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proofmill_curve::{Curve, bn254::G2};
    use proofmill_field::Field;

    /// Asserts that a change changes the challenges from `first` on, and none before.
    fn assert_from(first: usize, change: impl FnOnce(&mut VerifyingKey, &mut [Fr], &mut Proof)) {
        let point = |k: u64| G1::GENERATOR.mul_words_vartime(&[k]).to_affine();
        let mut key = VerifyingKey {
            public: 2,
            power: 4,
            k1: Fr::from(2),
            k2: Fr::from(3),
            x_2: G2::GENERATOR,
            c0: point(9),
            insecure_setup: false,
        };
        let mut public = [Fr::from(7), Fr::from(8)];
        let mut proof = Proof {
            points: [1, 2, 3, 4].map(point),
            evaluations: std::array::from_fn(|index| Fr::from(index as u64)),
            inverse: Fr::ONE,
        };
        let drawn = |key: &VerifyingKey, public: &[Fr], proof: &Proof| {
            let FflonkChallenges { beta, gamma, seed, alpha, y } = FflonkChallenges::of(key, public, proof);
            [beta, gamma, seed, alpha, y]
        };
        let before = drawn(&key, &public, &proof);
        change(&mut key, &mut public, &mut proof);
        let after = drawn(&key, &public, &proof);
        for (index, (before, after)) in before.into_iter().zip(after).enumerate() {
            assert_eq!(before != after, index >= first, "challenge {index}, {first}");
        }
    }

    #[test]
    fn every_message_changes_all_later_challenges_and_no_earlier_one() {
        let [beta, seed, alpha, y, none] = [0, 2, 3, 4, 5];
        assert_from(beta, |key, _, _| key.c0 = -key.c0);
        for index in 0..2 {
            assert_from(beta, |_, public, _| public[index] += Fr::ONE);
        }
        for (index, first) in [beta, seed, y, none].into_iter().enumerate() {
            assert_from(first, |_, _, proof| proof.points[index] = -proof.points[index]);
        }
        for index in 0..15 {
            assert_from(alpha, |_, _, proof| proof.evaluations[index] += Fr::ONE);
        }
        assert_from(none, |_, _, proof| proof.inverse += Fr::ONE);
    }
}
