//! BN254: groups, multi-scalar multiplication, pairing, encodings.

pub mod bn254;
mod group;
mod msm;

pub use group::{Affine, Curve, Jacobian, Xyzz};
