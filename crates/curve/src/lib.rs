//! BN254: groups, multi-scalar multiplication, pairing, encodings.

pub mod bn254;
mod bn254_constants;
mod evm;
mod group;
mod msm;
mod pairing;

pub use evm::EncodingError;
pub use group::{Affine, Curve, Jacobian, Xyzz};
pub use msm::{Msm, msm};
pub use pairing::{Gt, multi_pairing, pairing, pairing_product_is_one};
