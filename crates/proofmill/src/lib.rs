//! Zero-knowledge proofs and the mathematics under them, as fast as the CPU allows.
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
//! | [`groth16`], [`plonk`] | keys, proofs and verifiers of circom's circuits, and of circuits written in Rust |
//! | [`circom`] | witnesses, constraints, powers of tau, public signals |
//! | [`srs`] | structured reference strings and KZG's commitments |
//! | [`bls`] | BLS signatures of Ethereum's ciphersuite |
//! | [`merkle`] | trees over rows of words, and SSZ's |
//! | [`hash`] | SHA-256, Poseidon, Poseidon2, Pedersen |
//! | [`msm`](mod@msm), [`ntt`] | multi-scalar multiplication, number-theoretic transforms |
//! | [`field`], [`curve`] | elements and points |
//! | `arkworks` | conversions from and to arkworks' types (feature `arkworks`) |
//!
//! **One shape.** What comes from a file has `open`, and `from_bytes` or `from_json` for a file's content in memory; what goes into
//! one has `save`, which writes it whole or not at all, and `as_bytes`, `to_bytes` or `to_json`. Verifiers give `Ok(())` for what
//! is valid and nothing else; an [`Error`] says what kind of thing is wrong ([`Error::Rejected`] is a wrong proof,
//! [`Error::Malformed`] none at all) and names the file.
//!
//! **Level and threads** are the best and all, unless a [`Machine`] says otherwise; no other function asks for them.
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used)]

#[cfg(feature = "arkworks")]
pub mod arkworks;
pub mod bls;
pub mod circom;
pub mod curve;
mod error;
pub mod field;
pub mod groth16;
pub mod hash;
mod machine;
pub mod merkle;
pub mod msm;
pub mod ntt;
pub mod plonk;
pub mod srs;

pub use error::{Cause, Error, Result};
pub use machine::{Machine, MachineBuilder};
pub use proofmill_cpu::{Level, LevelError};
pub use proofmill_plonk::Memory;
