//! BLS12-381: the fields of Ethereum's and Zcash's pairing curve.

pub use crate::bls12_381_constants::{FqParams, FrParams};
use crate::{prime::Fp, quadratic::Quadratic};
use proofmill_simd::Portable;

/// The base field.
pub type Fq<B = Portable> = Fp<FqParams, B>;
/// The scalar field.
pub type Fr<B = Portable> = Fp<FrParams, B>;
/// `Fq[u] / (u^2 + 1)`, the base field of G2.
pub type Fq2<B = Portable> = Quadratic<Fq<B>>;
