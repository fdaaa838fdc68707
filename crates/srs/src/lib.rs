//! Structured reference strings on BN254: powers of a secret tau, from which KZG commitments are computed (Kate, Zaverucha,
//! Goldberg, "Constant-size commitments to polynomials and their applications", 2010).
//!
//! An [`Srs`] is opened from a snarkjs `.ptau` of any size, from transcripts of Aztec's Ignition ceremony, or from the output
//! of [`write_insecure`], a `.ptau` with fewer sections. Files are mapped: [`Srs::msm`] reads only the powers that it needs,
//! and decodes and checks them on the way. Files may be hostile; the result is a string or an [`SrsError`]. Only [`Srs::check`]
//! checks that all powers belong to one tau.
//!
//! ```no_run
//! use proofmill_cpu::Level;
//! use proofmill_srs::Srs;
//! use std::path::Path;
//!
//! # fn main() -> Result<(), proofmill_srs::SrsError> {
//! let powers = Srs::open(Path::new("powers.ptau"))?;
//! powers.check(Level::best())?;
//! println!("{} powers of tau", powers.len());
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod ceremonies;
mod check;
mod error;
mod insecure;
mod prepared;
mod string;
mod transcript;

pub use ceremonies::{ceremony_of_alpha, ceremony_of_tau};
pub use check::{first_broken, sides};
pub use error::SrsError;
pub use insecure::{SPARE, write_insecure};
pub use prepared::write_insecure_prepared;
pub use string::{Srs, SrsBases, SrsKind};
