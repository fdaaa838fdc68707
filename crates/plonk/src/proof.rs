//! What the prover sends, and what it is checked against.

use crate::{SELECTORS, WIRES};
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::bn254::Fr;

/// A proof: nine points and six scalars, in the order of the rounds.
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

/// What a verifier knows of a circuit.
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
