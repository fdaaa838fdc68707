//! Zero-knowledge proofs and their mathematics, with kernels chosen at run time by the CPU's features.
//!
//! ```
//! use proofmill::{circom::Witness, groth16::ProvingKey};
//!
//! # fn main() -> proofmill::Result<()> {
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
//! # std::env::set_current_dir(folder).expect("the example");
//! let key = ProvingKey::open("groth16.zkey")?;
//! let proof = key.prove(&Witness::open("witness.wtns")?)?;
//! proof.verify(&key.verifying_key())?;
//! # Ok(())
//! # }
//! ```
//!
//! | module | |
//! |---|---|
//! | [`groth16`], [`plonk`], [`fflonk`] | keys, proofs and verifiers of circom's circuits, and of circuits written in Rust |
//! | [`circom`] | files of witnesses, constraints, powers of tau, public signals |
//! | [`ceremony`] | ceremonies: powers of tau, contributions to Groth16 keys, and their verification |
//! | [`audit`](mod@audit) | what keys and contracts show of their setup |
//! | [`srs`] | structured reference strings and KZG commitments |
//! | [`stark`] | STARKs over Goldilocks for AIRs written in Rust |
//! | [`bls`] | BLS signatures of Ethereum's ciphersuite |
//! | [`merkle`] | Merkle trees over rows of words, and SSZ trees |
//! | [`hash`] | SHA-256, Poseidon, Poseidon2, Pedersen |
//! | [`msm`](mod@msm), [`ntt`] | multi-scalar multiplication, number-theoretic transforms |
//! | [`field`], [`curve`] | field elements, points, pairings |
//! | `arkworks` | conversions from and to arkworks' types (feature `arkworks`) |
//!
//! **Conventions.** Types that are read from files have `open`, and `from_bytes` or `from_json` for the same content in memory.
//! Types that are written have `save`, which writes a file completely or not at all, and `as_bytes`, `to_bytes` or `to_json`.
//! Verifiers return `Ok(())` only for valid input. An [`Error`] has a kind ([`Error::Rejected`] for a wrong proof,
//! [`Error::Malformed`] for bytes that are not a proof) and a message that names the file.
//!
//! **Level and threads.** Functions use the best level and all threads by default; a [`Machine`] changes that. No other
//! function takes a level or a number of threads.
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used)]

#[cfg(feature = "arkworks")]
pub mod arkworks;
pub mod audit;
pub mod bls;
pub mod ceremony;
pub mod circom;
pub mod curve;
mod error;
pub mod field;
pub mod hash;
mod machine;
pub mod merkle;
pub mod msm;
pub mod ntt;
pub mod srs;
pub mod stark;
mod systems;

pub use error::{Cause, Error, Result};
pub use machine::{Cancellation, Machine, MachineBuilder};
pub use proofmill_cpu::{Level, LevelError};
pub use proofmill_run::{ErrorKind, Memory};
pub use systems::{
    AnyProof, AnyProvingKey, AnyVerifyingKey, PolynomialCommitments, Proof, ProofSystem, ProvingKey,
    SetupPowers, SolidityVerifier, System, SystemPrime, VerifyingKey, fflonk, groth16, plonk,
};
