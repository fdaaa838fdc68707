//! The verifier's challenges: what each one is a hash of.
//!
//! | challenge | Keccak-256 of |
//! |---|---|
//! | beta | commitments Qm, Ql, Qr, Qo, Qc, S1, S2, S3 of the key; public inputs; A, B, C |
//! | gamma | beta |
//! | alpha | beta, gamma, Z |
//! | xi | alpha, T1, T2, T3 |
//! | v | xi, the evaluations a, b, c, s1, s2, z(xi omega) |
//! | u | Wxi, Wxiw |
//!
//! Each includes the one before, u apart, which only has to be unknown when Wxi and Wxiw are fixed (it batches
//! the two pairing checks) and binds exactly those. The domain's size, k1, k2 and the reference string are
//! not hashed: the verifier takes them from its own key, and the commitments depend on them. Deployed Solidity
//! verifiers compute the same hashes, so none may be added here.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{Evaluations, Proof, VerifyingKey};
use proofmill_curve::{Affine, bn254::G1};
use proofmill_field::bn254::Fr;
use proofmill_transcript::KeccakTranscript;

/// All challenges of a proof.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Challenges {
    pub(crate) beta: Fr,
    pub(crate) gamma: Fr,
    pub(crate) alpha: Fr,
    pub(crate) xi: Fr,
    pub(crate) v: Fr,
    pub(crate) u: Fr,
}

impl Challenges {
    /// The challenges of a finished proof.
    pub(crate) fn of(key: &VerifyingKey, public: &[Fr], proof: &Proof) -> Self {
        let (beta, gamma) = permutation(key, public, &proof.wires);
        let alpha = quotient(beta, gamma, &proof.grand_product);
        let xi = evaluation(alpha, &proof.quotient);
        let v = opening(xi, &proof.evaluations);
        Self { beta, gamma, alpha, xi, v, u: batching(&proof.opening, &proof.shifted_opening) }
    }
}

/// beta and gamma, which fold wires and labels in the permutation argument.
pub(crate) fn permutation(key: &VerifyingKey, public: &[Fr], wires: &[Affine<G1>]) -> (Fr, Fr) {
    let mut transcript = KeccakTranscript::new();
    key.selectors.iter().chain(&key.sigmas).for_each(|point| transcript.absorb_point(point));
    public.iter().for_each(|input| transcript.absorb_scalar(*input));
    wires.iter().for_each(|point| transcript.absorb_point(point));
    let beta = transcript.challenge();
    transcript.absorb_scalar(beta);
    (beta, transcript.challenge())
}

/// alpha, which folds the gates' and the permutation's identities into one.
pub(crate) fn quotient(beta: Fr, gamma: Fr, grand_product: &Affine<G1>) -> Fr {
    let mut transcript = KeccakTranscript::new();
    transcript.absorb_scalar(beta);
    transcript.absorb_scalar(gamma);
    transcript.absorb_point(grand_product);
    transcript.challenge()
}

/// xi, where the identity is tested.
pub(crate) fn evaluation(alpha: Fr, quotient: &[Affine<G1>]) -> Fr {
    let mut transcript = KeccakTranscript::new();
    transcript.absorb_scalar(alpha);
    quotient.iter().for_each(|point| transcript.absorb_point(point));
    transcript.challenge()
}

/// v, which folds the openings at xi.
pub(crate) fn opening(xi: Fr, evaluations: &Evaluations) -> Fr {
    let mut transcript = KeccakTranscript::new();
    transcript.absorb_scalar(xi);
    let Evaluations { wires, sigmas, shifted_grand_product } = evaluations;
    wires.iter().chain(sigmas).for_each(|value| transcript.absorb_scalar(*value));
    transcript.absorb_scalar(*shifted_grand_product);
    transcript.challenge()
}

/// u, which folds the two openings' checks.
fn batching(opening: &Affine<G1>, shifted_opening: &Affine<G1>) -> Fr {
    let mut transcript = KeccakTranscript::new();
    transcript.absorb_point(opening);
    transcript.absorb_point(shifted_opening);
    transcript.challenge()
}
