//! Points of BN254, BLS12-381 and Grumpkin, and pairings.
//!
//! ```
//! use proofmill::{curve::{Curve, bn254::{G1, G2}, pairing}, field::Fr};
//!
//! let (p, q) = (G1::GENERATOR, G2::GENERATOR);
//! let double = p.mul_vartime(&Fr::from(2)).to_affine();
//! assert_eq!(pairing(&double, &q), pairing(&p, &q.mul_vartime(&Fr::from(2)).to_affine()));
//! ```

use crate::machine::current;
pub use proofmill_curve::{Affine, Curve, EncodingError, Jacobian, Msm};
pub use proofmill_pairing::{Gt, Pairing};

/// BN254's groups.
pub mod bn254 {
    /// The first source group.
    pub type G1 = proofmill_curve::bn254::G1;
    /// The second source group.
    pub type G2 = proofmill_curve::bn254::G2;
    /// A point of [`G1`].
    pub type G1Affine = super::Affine<G1>;
    /// A point of [`G2`].
    pub type G2Affine = super::Affine<G2>;
}

/// BLS12-381's groups.
pub mod bls12_381 {
    /// The first source group.
    pub type G1 = proofmill_curve::bls12_381::G1;
    /// The second source group.
    pub type G2 = proofmill_curve::bls12_381::G2;
    /// A point of [`G1`].
    pub type G1Affine = super::Affine<G1>;
    /// A point of [`G2`].
    pub type G2Affine = super::Affine<G2>;
}

/// Grumpkin, whose base field is BN254's scalar field.
pub mod grumpkin {
    pub use proofmill_curve::grumpkin::{Fq, Fr, Grumpkin};
}

/// `e(p, q)`. The points must be in their groups. The result is 1 if one is infinity.
pub fn pairing<C: Pairing>(p: &Affine<C>, q: &Affine<C::G2>) -> Gt<C> {
    proofmill_pairing::pairing(current().level, p, q)
}

/// The product of `e(p, q)` over all pairs, with one final exponentiation; 1 without pairs.
pub fn multi_pairing<C: Pairing>(pairs: &[(Affine<C>, Affine<C::G2>)]) -> Gt<C> {
    proofmill_pairing::multi_pairing(current().level, pairs)
}

/// Whether the product of `e(p, q)` over all pairs is 1.
pub fn pairing_product_is_one<C: Pairing>(pairs: &[(Affine<C>, Affine<C::G2>)]) -> bool {
    proofmill_pairing::pairing_product_is_one(current().level, pairs)
}
