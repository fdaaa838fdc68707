//! Grumpkin, `y^2 = x^3 - 17` over BN254's scalar field: a group whose prime order is BN254's base modulus, so that
//! BN254's circuits compute in it natively.

mod constants;

use crate::group::{Affine, Curve, operations};
use proofmill_field::bn254;

/// The field of the coordinates.
pub type Fq = bn254::Fr;
/// The field of the scalars.
pub type Fr = bn254::Fq;

/// The group, which contains every point on the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grumpkin;

impl Curve for Grumpkin {
    type Base = Fq;
    type Scalar = Fr;
    const B: Fq = Fq::constant(constants::B);
    const GENERATOR: Affine<Self> =
        Affine { x: Fq::constant(constants::GENERATOR[0]), y: Fq::constant(constants::GENERATOR[1]) };
    const NAME: &'static str = "Grumpkin";

    operations!();
}
