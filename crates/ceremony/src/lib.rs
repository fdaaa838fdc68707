//! The ceremonies of Groth16: powers of tau, which serve any circuit ([`powers`]), then contributions to a circuit's key.
//!
//! Each contribution to powers multiplies tau, alpha and beta by secrets. Each contribution to a key multiplies delta by a secret, and
//! divides the key's points C and H by it. Nobody can forge proofs for the key if in each phase one participant has forgotten the secrets
//! (Bowe, Gabizon, Miers, eprint 2017/1050). Files, transcripts and the derivation of points from hashes are those of snarkjs: a beacon gives
//! the same bytes, and each verifies the other's contributions.
//!
//! The secrets and the randomness are wiped after use, copies that the compiler and the generator make of them are not. The points are
//! multiplied by formulas without branches on the secrets; the other computations with them are not protected.
//!
//! ```no_run
//! use proofmill_ceremony::{Randomness, contribute};
//! use proofmill_circom::Groth16Zkey;
//! use proofmill_cpu::Level;
//! use proofmill_curve::bn254::G1;
//! use proofmill_run::Progress;
//! use std::path::Path;
//!
//! # fn main() -> Result<(), proofmill_ceremony::CeremonyError> {
//! let key = Groth16Zkey::<G1>::open(Path::new("circuit_0000.zkey"))?;
//! let target = Path::new("circuit_0001.zkey");
//! let hash = contribute(Level::best().into(), &key, target, Some("Alice"), Randomness::System(b""))?;
//! # Ok(())
//! # }
//! ```
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

pub mod bellman;
mod contribute;
mod encoding;
mod error;
mod generator;
pub mod powers;
mod raw_file;
mod state;
mod transform;
pub mod verify;

pub use contribute::{Randomness, contribute};
pub use encoding::CeremonyCurve;
pub use error::CeremonyError;
