//! What the prover sends, and what it is checked against.

use crate::{SELECTORS, WIRES};
use proofmill_circom::{PlonkProof, PlonkVerificationKey};
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::bn254::Fr;

/// A proof: nine points and six scalars, in the order of the rounds. [`PlonkProof`] is its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// Commitments to the wires' polynomials a, b, c.
    pub wires: [Affine<G1>; WIRES],
    /// Commitment to the grand product z of the permutation argument.
    pub grand_product: Affine<G1>,
    /// Commitments to the three parts of the quotient t.
    pub quotient: [Affine<G1>; 3],
    /// The openings at the challenge.
    pub evaluations: Evaluations,
    /// The proof of the openings at xi.
    pub opening: Affine<G1>,
    /// The proof of the opening at xi omega.
    pub shifted_opening: Affine<G1>,
}

/// Values of polynomials at the challenge xi.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluations {
    /// a, b, c at xi.
    pub wires: [Fr; WIRES],
    /// The permutation's S1 and S2 at xi.
    pub sigmas: [Fr; WIRES - 1],
    /// z at xi omega.
    pub shifted_grand_product: Fr,
}

/// What a verifier knows of a circuit. [`PlonkVerificationKey`] is its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    /// The domain has size `2^log_n`.
    pub log_n: u32,
    /// How many public inputs there are.
    pub public: u32,
    /// k1 and k2, which put the labels of wires b and c on cosets of their own.
    pub multipliers: [Fr; WIRES - 1],
    /// Commitments to the selectors, in the order of `Standard::NAMES`.
    pub selectors: [Affine<G1>; SELECTORS],
    /// Commitments to the permutation's S1, S2, S3.
    pub sigmas: [Affine<G1>; WIRES],
    /// The secret of the reference string times G2's generator.
    pub tau: Affine<G2>,
}

impl From<&Proof> for PlonkProof {
    fn from(proof: &Proof) -> Self {
        let [a, b, c] = proof.wires;
        let [t1, t2, t3] = proof.quotient;
        let Evaluations { wires: [eval_a, eval_b, eval_c], sigmas: [s1, s2], shifted_grand_product } =
            proof.evaluations;
        Self {
            points: [a, b, c, proof.grand_product, t1, t2, t3, proof.opening, proof.shifted_opening],
            evaluations: [eval_a, eval_b, eval_c, s1, s2, shifted_grand_product],
        }
    }
}

impl From<&PlonkProof> for Proof {
    fn from(file: &PlonkProof) -> Self {
        let [a, b, c, grand_product, t1, t2, t3, opening, shifted_opening] = file.points;
        let [eval_a, eval_b, eval_c, s1, s2, shifted_grand_product] = file.evaluations;
        Self {
            wires: [a, b, c],
            grand_product,
            quotient: [t1, t2, t3],
            evaluations: Evaluations {
                wires: [eval_a, eval_b, eval_c],
                sigmas: [s1, s2],
                shifted_grand_product,
            },
            opening,
            shifted_opening,
        }
    }
}

impl From<&VerifyingKey> for PlonkVerificationKey {
    fn from(key: &VerifyingKey) -> Self {
        let [k1, k2] = key.multipliers;
        let VerifyingKey { log_n: power, public, selectors, sigmas: sigma, tau: x_2, .. } = *key;
        Self { public, power, k1, k2, selectors, sigma, x_2 }
    }
}

impl From<&PlonkVerificationKey> for VerifyingKey {
    fn from(file: &PlonkVerificationKey) -> Self {
        let PlonkVerificationKey { public, power: log_n, k1, k2, selectors, sigma: sigmas, x_2: tau } = *file;
        Self { log_n, public, multipliers: [k1, k2], selectors, sigmas, tau }
    }
}
