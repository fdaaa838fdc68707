//! Number-theoretic transforms over every large prime field and, in [`goldilocks`], over the Goldilocks field.
//!
//! [`Domain`] is a subgroup of roots of unity of order 2^k; its methods convert polynomials between
//! coefficients and values, natural order in and out, in lanes where the level has them.

mod columns;
mod divided;
mod domain;
mod four_step;
pub mod goldilocks;
mod in_cache;
mod reverse_bits;

pub use divided::DividedTransform;
pub use domain::{Domain, Transformed};
