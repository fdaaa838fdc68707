//! The curves of keys and proofs.

use proofmill_circom::CircomCurve;
use proofmill_curve::{Msm, Products, bls12_381, bn254};
use proofmill_ntt::Transformed;
use proofmill_pairing::Pairing;

/// A curve of Groth16: one with a pairing, sums, products and transforms.
pub trait Groth16Curve:
    CircomCurve<ScalarPrime: Transformed, BasePrime = <Self as Pairing>::Prime, G2: Msm>
    + Pairing
    + Msm
    + Products
{
}

impl Groth16Curve for bn254::G1 {}
impl Groth16Curve for bls12_381::G1 {}
