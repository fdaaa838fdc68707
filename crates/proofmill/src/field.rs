//! The fields of BN254, BLS12-381, Grumpkin (BN254's two fields with roles exchanged) and Goldilocks.
//!
//! ```
//! use proofmill::field::{Field, Fr, Goldilocks, Invert};
//!
//! let x = Fr::from(3) - Fr::from(5);
//! assert_eq!(x * x, Fr::from(4));
//! assert_eq!(x.invert_vartime().map(|inverse| inverse * x), Some(Fr::ONE));
//! let x: Fr = "21888242871839275222246405745257275088548364400416034343698204186575808495616".parse()?;
//! assert_eq!(x, -Fr::ONE);
//! assert_eq!(Goldilocks::new(u64::MAX).to_canonical(), 0xffff_fffe);
//! # Ok::<(), proofmill::field::FieldError>(())
//! ```

pub use proofmill_field::{
    Algebra, Field, FieldError, Fp, Invert, Prime, PrimeField, SquareRoot, batch_invert_vartime,
    goldilocks::{CubicExtension, ExtensionField, Goldilocks, QuadraticExtension},
};

/// BN254's scalar field: the field of circom's circuits.
pub type Fr = bn254::Fr;

/// BN254's fields.
pub mod bn254 {
    pub use proofmill_field::bn254::{FqParams, FrParams};

    /// The base field, of coordinates.
    pub type Fq = proofmill_field::bn254::Fq;
    /// The quadratic extension of [`Fq`], of coordinates of G2.
    pub type Fq2 = proofmill_field::bn254::Fq2;
    /// The extension of degree 12 of [`Fq`], of results of pairings.
    pub type Fq12 = proofmill_field::bn254::Fq12;
    /// The scalar field.
    pub type Fr = proofmill_field::bn254::Fr;
}

/// BLS12-381's fields.
pub mod bls12_381 {
    pub use proofmill_field::bls12_381::{FqParams, FrParams};

    /// The base field, of coordinates.
    pub type Fq = proofmill_field::bls12_381::Fq;
    /// The quadratic extension of [`Fq`], of coordinates of G2.
    pub type Fq2 = proofmill_field::bls12_381::Fq2;
    /// The extension of degree 12 of [`Fq`], of results of pairings.
    pub type Fq12 = proofmill_field::bls12_381::Fq12;
    /// The scalar field.
    pub type Fr = proofmill_field::bls12_381::Fr;
}
