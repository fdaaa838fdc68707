//! BN254's groups: G1 is `y^2 = x^3 + 3` over Fq; G2 is `y^2 = x^3 + 3/(9 + u)` over Fq2.

mod constants;
mod subgroup;

pub use subgroup::first_outside;

pub(crate) use constants::{G1_SPLIT, G2_SPLIT};

use crate::group::{Affine, Curve, Jacobian, SourceGroups, operations};
use proofmill_field::bn254::{Fq, Fq2, Fr};

/// The parameter x.
pub const X: u64 = 4_965_661_367_192_848_881;

/// The first source group; its order is prime, so it contains every point on the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct G1(());

/// The second source group: the subgroup of order r of the sextic twist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct G2(());

/// A point of G1: x, y, each 32 bytes in memory, Montgomery form.
pub type G1Affine = Affine<G1>;
/// A point of G2: x, y, each two coefficients of 32 bytes, Montgomery form.
pub type G2Affine = Affine<G2>;

impl Curve for G1 {
    type Base = Fq;
    type Scalar = Fr;
    const B: Fq = Fq::constant(constants::G1_B);
    const GENERATOR: Affine<Self> =
        Affine { x: Fq::constant(constants::G1_GENERATOR[0]), y: Fq::constant(constants::G1_GENERATOR[1]) };
    const NAME: &'static str = "BN254 G1";

    operations!();
}

impl Curve for G2 {
    type Base = Fq2;
    type Scalar = Fr;
    const B: Fq2 = fq2(constants::G2_B[0], constants::G2_B[1]);
    const GENERATOR: Affine<Self> = Affine {
        x: fq2(constants::G2_GENERATOR[0], constants::G2_GENERATOR[1]),
        y: fq2(constants::G2_GENERATOR[2], constants::G2_GENERATOR[3]),
    };
    const NAME: &'static str = "BN254 G2";

    operations!();
}

const fn fq2(c0: [u64; 4], c1: [u64; 4]) -> Fq2 {
    Fq2 { c0: Fq::constant(c0), c1: Fq::constant(c1) }
}

/// The cube root of unity by which phi multiplies x.
pub(crate) const BETA: Fq = Fq::constant(constants::BETA);

/// The factors of the coordinates' conjugates in psi, the Frobenius map between untwist and twist.
pub(crate) const PSI: [Fq2; 2] =
    [fq2(constants::PSI[0], constants::PSI[1]), fq2(constants::PSI[2], constants::PSI[3])];

impl Affine<G2> {
    /// Whether a point of the curve is in the subgroup of order r: `[x + 1] P + psi([x] P) + psi^2([x] P) =
    /// psi^3([2x] P)` (Dai, Lin, Zhao, Zhou, "Fast subgroup membership testings for G1, G2 and GT on pairing-friendly
    /// curves", eprint 2022/348, with the criterion for BN curves), where psi is the Frobenius map on the twist.
    pub fn is_in_subgroup(&self) -> bool {
        let [x, y] = PSI;
        let psi = |point: Self| Self { x: point.x.conjugate() * x, y: point.y.conjugate() * y };
        let multiple = self.mul_words_vartime(&[X]);
        let once = psi(multiple.to_affine());
        let twice = psi(once);
        let left = multiple.add_affine(self).add_affine(&once).add_affine(&twice);
        left == Jacobian::from(psi(twice)).double()
    }
}

impl SourceGroups for G1 {
    type G2 = G2;
}
