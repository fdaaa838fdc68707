//! BLS12-381: the fields of Ethereum's and Zcash's pairing curve.

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
/// The target group's field: the tower over [`Fq2`] with xi = 1 + u.
pub type Fq12<B = Portable> = Dodecic<FqParams, Fq<B>>;

impl Tower for FqParams {
    #[inline(always)]
    fn mul_by_xi<A: Algebra>(x: Quadratic<A>) -> Quadratic<A> {
        Quadratic::new(x.c0 - x.c1, x.c0 + x.c1)
    }
}
