//! BN254 (also alt_bn128, bn128): the fields of the EVM's and circom's pairing curve.

mod constants;

pub use constants::{FqParams, FrParams};

use crate::{
    algebra::{Algebra, Quadratic},
    extension::{Dodecic, Tower},
    montgomery::Fp,
};
use proofmill_cpu::Portable;

/// The base field.
pub type Fq<B = Portable> = Fp<FqParams, B>;
/// The scalar field.
pub type Fr<B = Portable> = Fp<FrParams, B>;
/// `Fq[u] / (u^2 + 1)`, the base field of G2.
pub type Fq2<B = Portable> = Quadratic<Fq<B>>;
/// The target group's field: the tower over [`Fq2`] with xi = 9 + u.
pub type Fq12<B = Portable> = Dodecic<FqParams, Fq<B>>;

impl Tower for FqParams {
    #[inline(always)]
    fn mul_by_xi<A: Algebra>(x: Quadratic<A>) -> Quadratic<A> {
        // Ten terms for each of x's, where sums are not reduced.
        let x = x.reduced();
        let nine = |c: A| c.double().double().double() + c;
        Quadratic::new(nine(x.c0) - x.c1, nine(x.c1) + x.c0)
    }
}
