//! Prime fields and extension towers, scalar and lane-packed.
//!
//! * [`Fp`] is one element in Montgomery form on 64-bit limbs; its second parameter, a [`Backend`], says
//!   which instructions multiply.
//! * [`Packed`] is eight elements side by side; a level's [`Engine`] names the packed type and the backend.
//! * [`Algebra`] is what a formula needs: scalars, lanes and the extensions over either implement it, so
//!   that a group law or a butterfly is written once.
//!
//! Every element holds the token of its instructions, of zero size, so that safe code executes none that the CPU lacks.
#![cfg_attr(target_arch = "x86_64", doc = include_str!("tokens.md"))]

mod algebra;
mod backend;
pub mod bls12_381;
mod bls12_381_constants;
pub mod bn254;
mod bn254_constants;
mod dispatch;
mod engine;
pub mod goldilocks;
mod limbs;
mod packable;
mod packed;
mod prime;
mod quadratic;
mod safegcd;
mod single;
mod terms;
mod tower;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use algebra::{Algebra, Field, Invert, PrimeField, Quadratics, SquareRoot, batch_invert_vartime};
pub use backend::Backend;
pub use dispatch::{goldilocks_level, goldilocks_levels, prime_field_level, prime_field_levels};
pub use engine::Engine;
pub use limbs::Limbs;
pub use packable::Packable;
pub use packed::{LANES, Packed, ScalarLanes, Vector};
pub use prime::{FieldError, Fp, Prime};
#[doc(hidden)]
pub use proofmill_cpu as cpu;
pub use quadratic::Quadratic;
pub use single::{MOST_TERMS, Single};
pub use terms::Terms;
pub use tower::{Dodecic, Sextic, Tower};
