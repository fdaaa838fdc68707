//! Multi-scalar multiplication.
//!
//! ```
//! use proofmill::{curve::{Curve, bn254::G1}, field::Fr, msm::msm};
//!
//! let bases = [G1::GENERATOR; 3];
//! let scalars = [2, 3, 4].map(Fr::from);
//! assert_eq!(msm::<G1>(&bases, &scalars), G1::GENERATOR.mul_vartime(&Fr::from(9)));
//! ```

use crate::{
    curve::{Affine, Jacobian, Msm},
    machine::current,
};

/// The sum of `scalars[i] * bases[i]`. Runs on all threads.
///
/// Accepts any length, infinity among the bases, zero scalars, and repeated and opposite points. The running time depends on
/// the scalars.
///
/// # Panics
/// If the slices differ in length or hold 2^30 elements or more.
pub fn msm<C: Msm>(bases: &[Affine<C>], scalars: &[C::Scalar]) -> Jacobian<C> {
    proofmill_curve::msm(current().level, bases, scalars)
}
