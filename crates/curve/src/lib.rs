//! BN254, BLS12-381 and Grumpkin: groups, multi-scalar multiplication, hash-to-curve, encodings.
//!
//! * [`Affine`], [`Jacobian`] and [`Xyzz`] are points of a [`Curve`]; [`formulas`] has the group law once, for single points and lanes.
//! * [`msm`] and [`Msm`] are Pippenger's algorithm with signed digits and affine buckets; [`FixedBase`] multiplies one point many times.
//! * [`bn254`] and [`bls12_381`] have encodings and checks of subgroups, [`hash_to_curve`] is RFC 9380.
//!
//! Functions whose names end in `_vartime` are for public values; those of [`constant_time`] take secret scalars.
//!
//! ```
//! use proofmill_cpu::Level;
//! use proofmill_curve::{Curve, bn254::G1, msm};
//! use proofmill_field::bn254::Fr;
//!
//! let (points, scalars) = ([G1::GENERATOR; 3], [1, 2, 3].map(Fr::from));
//! let sum = msm(Level::best(), &points, &scalars);
//! assert_eq!(sum.to_affine(), G1::GENERATOR.mul_vartime(&Fr::from(6)).to_affine());
//! ```

pub mod bls12_381;
pub mod bn254;
pub mod constant_time;
mod encoding;
mod evm;
pub mod formulas;
mod group;
pub mod grumpkin;
pub mod hash_to_curve;
mod msm;
mod multiples;
mod products;
mod projective;
mod steps;

pub use encoding::EncodingError;
pub use group::{Affine, Curve, Jacobian, SourceGroups, Xyzz};
pub use msm::{Bases, FixedBase, Msm, msm};
pub use multiples::{CompleteCurve, multiples_of_points, sum_of_multiples, sum_of_points};
pub use products::{Products, products_of_points, sums_and_differences};
