//! BN254 (also alt_bn128, bn128): the fields of the EVM's and circom's pairing curve.

pub use crate::bn254_constants::{FqParams, FrParams};
use crate::{prime::Fp, quadratic::Quadratic};
use proofmill_simd::Portable;

/// The base field.
pub type Fq<B = Portable> = Fp<FqParams, B>;
/// The scalar field.
pub type Fr<B = Portable> = Fp<FrParams, B>;
/// `Fq[u] / (u^2 + 1)`, the base field of G2.
pub type Fq2<B = Portable> = Quadratic<Fq<B>>;
