//! The second phase of the ceremony of a Groth16 key: contributions, beacons, and their verification.
//!
//! Each contribution multiplies delta by a secret, and divides the key's points C and H by it. Nobody can forge proofs for the key
//! if one participant has forgotten the secret (Bowe, Gabizon, Miers, eprint 2017/1050). Files, transcripts and the derivation of
//! points from hashes are those of snarkjs: a beacon gives the same bytes, and each verifies the other's contributions.
//!
//! The secret and the randomness are wiped after use, copies that the compiler and the generator make of them are not. The points are
//! multiplied by formulas without branches on the secret; the other computations with it are not protected.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod contribute;
mod error;
mod generator;
pub mod verify;

pub use contribute::{Randomness, contribute};
pub use error::CeremonyError;
