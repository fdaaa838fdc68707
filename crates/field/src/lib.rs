//! Prime fields and extension towers: single elements and vectors.
//!
//! * [`Fp`] is one element in Montgomery form on 64-bit limbs; its second parameter, a [`Backend`], selects
//!   the instructions that multiply.
//! * [`Vector`] is several elements in lanes; a level's [`Engine`] names its vectors and the backend.
//! * [`Algebra`] is the set of operations that formulas use: scalars, lanes and their extensions implement it, so
//!   that a group law or a butterfly is written once.
//!
//! Every element holds the token of its instructions, which has size zero, so safe code never executes instructions that the
//! CPU lacks.
//!
//! ```
//! use proofmill_field::{Field, Invert, bn254::Fr};
//!
//! let half = Fr::from(2).invert_vartime().expect("2 is not 0");
//! assert_eq!(half + half, Fr::ONE);
//! ```
#![cfg_attr(target_arch = "x86_64", doc = include_str!("tokens.md"))]

mod algebra;
pub mod bls12_381;
pub mod bn254;
mod dispatch;
mod error;
mod extension;
pub mod goldilocks;
mod montgomery;
#[cfg(target_arch = "x86_64")]
mod unrolled;

pub use algebra::{
    Algebra, Field, Invert, LANES, Lanes, PrimeField, Quadratic, Quadratics, Select, SquareRoot,
    batch_invert_vartime,
};
pub use dispatch::{goldilocks_level, goldilocks_levels, prime_field_level, prime_field_levels};
pub use error::FieldError;
pub use extension::{Dodecic, Sextic, Terms, Tower, frobenius_coefficients, quartic_squares};
pub use montgomery::{Backend, Engine, Fp, LanesOf, Limbs, Packable, Prime, Row, Scale, Vector};
#[doc(hidden)]
pub use proofmill_cpu as cpu;
