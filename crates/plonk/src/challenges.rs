//! The verifier's challenges: what each one is a hash of.
//!
//! | challenge | Keccak-256 of |
//! |---|---|
//! | eta | as beta, if there are lookups; otherwise there is none |
//! | beta | the key; public inputs; commitments of the first round. With lookups: eta, commitments of the second round |
//! | gamma | beta |
//! | delta, epsilon | the one before, if there are lookups |
//! | alpha | beta, gamma (delta, epsilon); commitments of the third round |
//! | xi | alpha, the parts of the quotient |
//! | v | xi, the values of the opened cells |
//! | u | v, Wxi, Wxiw |
//!
//! Of the key, snarkjs hashes the commitments and nothing else, and for u not v; deployed Solidity verifiers compute the
//! same hashes, so none may be added in standard circuits' proofs. There the domain's size, the multipliers and the reference
//! string come from the verifier's own key, and the commitments depend on them; u only has to be unknown when Wxi
//! and Wxiw are fixed, and binds exactly those. In all other circuits' the key is hashed whole: its
//! [digest](VerifyingKey::digest).
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{Proof, VerifyingKey};
use proofmill_curve::{Affine, bn254::G1};
use proofmill_field::bn254::Fr;
use proofmill_transcript::KeccakTranscript;

/// All challenges of a proof; those not drawn yet are zero.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Challenges {
    pub(crate) eta: Fr,
    pub(crate) beta: Fr,
    pub(crate) gamma: Fr,
    pub(crate) delta: Fr,
    pub(crate) epsilon: Fr,
    pub(crate) alpha: Fr,
    pub(crate) xi: Fr,
    pub(crate) v: Fr,
    pub(crate) u: Fr,
}

impl Challenges {
    /// The challenges of a finished proof.
    pub(crate) fn of(key: &VerifyingKey, public: &[Fr], proof: &Proof) -> Self {
        let mut challenges = Self::default();
        let [first, second, third] = &proof.commitments;
        challenges.after_first_round(key, public, first);
        challenges.after_second_round(key, second);
        challenges.after_third_round(key, third);
        challenges.after_quotient(&proof.quotient);
        challenges.after_evaluations(&proof.evaluations);
        challenges.after_openings(key, &proof.opening, &proof.shifted_opening);
        challenges
    }

    /// eta, or beta where there is no eta.
    pub(crate) fn after_first_round(
        &mut self,
        key: &VerifyingKey,
        public: &[Fr],
        commitments: &[Affine<G1>],
    ) {
        let mut transcript = KeccakTranscript::new();
        if key.system.is_standard() {
            key.fixed.iter().for_each(|point| transcript.absorb_point(point));
        } else {
            transcript.absorb_scalar(key.digest());
        }
        public.iter().for_each(|input| transcript.absorb_scalar(*input));
        commitments.iter().for_each(|point| transcript.absorb_point(point));
        let challenge = transcript.challenge();
        if key.system.lookup().is_some() {
            self.eta = challenge;
        } else {
            self.beta = challenge;
        }
    }

    /// beta where there is an eta, gamma, delta and epsilon.
    pub(crate) fn after_second_round(&mut self, key: &VerifyingKey, commitments: &[Affine<G1>]) {
        let has_lookups = key.system.lookup().is_some();
        if has_lookups {
            self.beta = next(&[self.eta], commitments);
        }
        self.gamma = next(&[self.beta], &[]);
        if has_lookups {
            self.delta = next(&[self.gamma], &[]);
            self.epsilon = next(&[self.delta], &[]);
        }
    }

    /// alpha.
    pub(crate) fn after_third_round(&mut self, key: &VerifyingKey, commitments: &[Affine<G1>]) {
        self.alpha = if key.system.lookup().is_some() {
            next(&[self.beta, self.gamma, self.delta, self.epsilon], commitments)
        } else {
            next(&[self.beta, self.gamma], commitments)
        };
    }

    /// xi.
    pub(crate) fn after_quotient(&mut self, parts: &[Affine<G1>]) {
        self.xi = next(&[self.alpha], parts);
    }

    /// v.
    pub(crate) fn after_evaluations(&mut self, evaluations: &[Fr]) {
        let mut transcript = KeccakTranscript::new();
        transcript.absorb_scalar(self.xi);
        evaluations.iter().for_each(|value| transcript.absorb_scalar(*value));
        self.v = transcript.challenge();
    }

    /// u.
    fn after_openings(&mut self, key: &VerifyingKey, opening: &Affine<G1>, shifted: &Affine<G1>) {
        let before: &[Fr] = if key.system.is_standard() { &[] } else { &[self.v] };
        self.u = next(before, &[*opening, *shifted]);
    }
}

/// The hash of earlier challenges and points.
fn next(before: &[Fr], points: &[Affine<G1>]) -> Fr {
    let mut transcript = KeccakTranscript::new();
    before.iter().for_each(|challenge| transcript.absorb_scalar(*challenge));
    points.iter().for_each(|point| transcript.absorb_point(point));
    transcript.challenge()
}
