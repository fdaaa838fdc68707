//! BLS12-381's groups: G1 is `y^2 = x^3 + 4` over Fq; G2 is `y^2 = x^3 + 4 (1 + u)` over Fq2.

mod constants;
mod encoding;
mod map_constants;
pub(crate) mod points;
pub(crate) mod roots;
pub(crate) mod source_group;

pub use encoding::{Encoded, Subgroup, decode_compressed, decode_uncompressed, in_subgroup};

pub(crate) use constants::{G1_SPLIT, G2_SPLIT};
pub(crate) use source_group::PSI;

use crate::group::{Affine, Curve, SourceGroups, operations};
use proofmill_field::bls12_381::{Fq, Fq2, Fr};

/// The absolute value of the parameter x, which is negative.
pub const X: u64 = 0xd201_0000_0001_0000;

/// The first source group: the subgroup of order r of the curve over the base field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct G1(());

/// The second source group: the subgroup of order r of the sextic twist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct G2(());

/// A point of G1's curve: x, y, each 48 bytes in memory, Montgomery form.
pub type G1Affine = Affine<G1>;
/// A point of G2's twist: x, y, each two coefficients of 48 bytes, Montgomery form.
pub type G2Affine = Affine<G2>;

impl Curve for G1 {
    type Base = Fq;
    type Scalar = Fr;
    const B: Fq = Fq::constant(constants::B);
    const GENERATOR: Affine<Self> =
        Affine { x: Fq::constant(constants::G1_GENERATOR[0]), y: Fq::constant(constants::G1_GENERATOR[1]) };
    const NAME: &'static str = "BLS12-381 G1";

    operations!();
}

impl Curve for G2 {
    type Base = Fq2;
    type Scalar = Fr;
    const B: Fq2 = fq2([constants::B, constants::B]);
    const GENERATOR: Affine<Self> = {
        let [x0, x1, y0, y1] = constants::G2_GENERATOR;
        Affine { x: fq2([x0, x1]), y: fq2([y0, y1]) }
    };
    const NAME: &'static str = "BLS12-381 G2";

    operations!();
}

/// The cube root of unity by which phi multiplies x.
pub(crate) const BETA: Fq = Fq::constant(map_constants::BETA);

const fn fq2([c0, c1]: [[u64; 6]; 2]) -> Fq2 {
    Fq2 { c0: Fq::constant(c0), c1: Fq::constant(c1) }
}

impl SourceGroups for G1 {
    type G2 = G2;
}
