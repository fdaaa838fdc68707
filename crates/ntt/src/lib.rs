//! Number-theoretic transforms over every large prime field and, in [`goldilocks`], over the Goldilocks field.
//!
//! [`Domain`] is a subgroup of roots of unity of order 2^k; its methods convert polynomials between
//! coefficients and values, natural order in and out, in lanes where the level has them.
//!
//! ```
//! use proofmill_cpu::Level;
//! use proofmill_field::bn254::{Fr, FrParams};
//! use proofmill_ntt::Domain;
//!
//! let domain = Domain::<FrParams>::new(2).expect("the field has roots of order 4");
//! let mut values = [1, 2, 3, 4].map(Fr::from);
//! domain.ntt(Level::best(), &mut values);
//! domain.intt(Level::best(), &mut values);
//! assert_eq!(values, [1, 2, 3, 4].map(Fr::from));
//! ```

mod columns;
mod divided;
mod domain;
mod four_step;
pub mod goldilocks;
mod in_cache;
mod reverse_bits;

pub use divided::DividedTransform;
pub use domain::{Domain, Transformed};
