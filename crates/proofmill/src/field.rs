//! Elements of the fields: BN254's, BLS12-381's, Grumpkin's (which are BN254's, exchanged) and Goldilocks.
//!
//! ```
//! use proofmill::field::{Field, Fr, Goldilocks};
//!
//! let x = Fr::from(3) - Fr::from(5);
//! assert_eq!(x * x, Fr::from(4));
//! assert_eq!(x.invert().map(|inverse| inverse * x), Some(Fr::ONE));
//! let x: Fr = "21888242871839275222246405745257275088548364400416034343698204186575808495616".parse()?;
//! assert_eq!(x, -Fr::ONE);
//! assert_eq!(Goldilocks::new(u64::MAX).to_canonical(), 0xffff_fffe);
//! # Ok::<(), proofmill::field::FieldError>(())
//! ```

/// BN254's scalar field: the field of circom's circuits.
pub use proofmill_field::bn254::Fr;
pub use proofmill_field::{
    Field, FieldError, Fp, Prime, PrimeField, SquareRoot, batch_invert,
    goldilocks::{CubicExtension, ExtensionField, Goldilocks, QuadraticExtension},
};

/// BN254's fields.
pub mod bn254 {
    pub use proofmill_field::bn254::{Fq, Fq2, Fq12, FqParams, Fr, FrParams};
}

/// BLS12-381's fields.
pub mod bls12_381 {
    pub use proofmill_field::bls12_381::{Fq, Fq2, Fq12, FqParams, Fr, FrParams};
}
