//! Groth16 (Groth, "On the size of pairing-based non-interactive arguments", eprint 2016/260) in the variant of circom's tools:
//! keys in snarkjs's zkey files, the quotient evaluated on the odd coset.
//!
//! ```no_run
//! use proofmill_circom::{Groth16Zkey, read_witness};
//! use proofmill_cpu::Level;
//! use proofmill_curve::bn254::G1;
//! use proofmill_groth16::{prove, verify, verifying_key};
//! use proofmill_run::Progress;
//! use std::path::Path;
//!
//! # fn main() -> Result<(), proofmill_groth16::Groth16Error> {
//! let level = Level::best();
//! let key = Groth16Zkey::<G1>::open(Path::new("circuit.zkey"))?;
//! let witness = read_witness(Path::new("witness.wtns"), level)?;
//! let proof = prove(level.into(), &key, &witness)?;
//! let public = &witness[1..=key.header().public as usize];
//! verify(level, &verifying_key(level, &key)?, public, &proof)?;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod batch;
mod belongs;
mod circuit_hash;
mod columns;
mod combination;
mod curve;
mod error;
mod factors;
mod insecurity;
mod past_powers;
mod prove;
mod quotient;
mod setup;
pub mod solidity;
mod sums;
mod verify;

pub use batch::{Statement, find_invalid};
pub use belongs::differs;
pub use curve::Groth16Curve;
pub use error::Groth16Error;
pub use insecurity::{are_small_multiples, insecurity, insecurity_of_contributions};
pub use proofmill_circom::{Groth16Proof as Proof, Groth16VerificationKey as VerifyingKey};
pub use proofmill_run::Progress;
pub use prove::{assemble, assemble_with_rng, prove, prove_with_rng, verifying_key, verifying_key_text};
pub use quotient::{DividedQuotient, constraints, quotient};
pub use setup::{power, rows, setup};
pub use sums::Sums;
pub use verify::verify;
