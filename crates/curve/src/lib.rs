//! BN254, BLS12-381 and Grumpkin: groups, multi-scalar multiplication, hash-to-curve, encodings.

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
