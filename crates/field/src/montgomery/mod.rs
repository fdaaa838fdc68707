//! Prime fields of 4 or 6 limbs in Montgomery form: single elements ([`Fp`]), vectors of elements ([`Vector`]), and the
//! types of each level ([`Engine`]).

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod backend;
mod element;
mod levels;
mod limbs;
mod prime;
mod safegcd;
mod scalar_lanes;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use backend::Backend;
pub use element::Fp;
pub use prime::{Limbs, Prime};
pub use vector::{Engine, LanesOf, Packable, Row, Scale, Vector};
