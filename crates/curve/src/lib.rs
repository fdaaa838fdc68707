//! BN254: groups, multi-scalar multiplication, pairing, encodings.

pub mod bn254;
mod bn254_constants;
mod group;
mod msm;

pub use group::{Affine, Curve, Jacobian, Xyzz};
pub use msm::msm;
