//! BLS signatures on BLS12-381, in Ethereum's variant: the ciphersuite `BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_` of
//! draft-irtf-cfrg-bls-signature-05. Public keys are in G1 (48 bytes), signatures and proofs of possession in G2 (96
//! bytes).
//!
//! * [`SecretKey`] is derived from a seed (EIP-2333), signs in constant time, and is wiped when dropped.
//! * [`PublicKey`] is bytes; [`ValidPublicKey`] is a checked key, to be kept and reused. A [`Signature`] is checked, too.
//! * [`verify`], [`aggregate_verify`], [`fast_aggregate_verify`] and [`eth_fast_aggregate_verify`] check one signature or
//!   aggregate, [`verify_batch`] many; [`find_invalid`] finds those that made a batch fail.
//!
//! Every operation takes a level. Operations on several inputs run on the ambient rayon pool.
//!
//! ```
//! use proofmill_bls::{BlsError, SecretKey, verify};
//! use proofmill_cpu::Level;
//!
//! # fn main() -> Result<(), BlsError> {
//! let level = Level::best();
//! let key = SecretKey::derive_master(b"at least 32 bytes, and not these")?;
//! let signature = key.sign(level, b"message");
//! verify(level, &key.public_key(level), b"message", &signature)?;
//! assert!(verify(level, &key.public_key(level), b"massage", &signature).is_err());
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod batch;
mod derive;
mod error;
mod public;
mod secret;
mod signature;
pub mod vectors;
mod verify;

pub use batch::{SignatureSet, find_invalid, find_invalid_with_rng, verify_batch, verify_batch_with_rng};
pub use error::BlsError;
pub use public::{PublicKey, ValidPublicKey};
pub use secret::SecretKey;
pub use signature::Signature;
pub use verify::{
    aggregate_verify, eth_fast_aggregate_verify, fast_aggregate_verify, verify, verify_possession,
};

/// The domain separation tag for hashing messages to G2.
pub const DST: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";
/// The domain separation tag for hashing public keys to G2 in proofs of possession.
pub const POSSESSION_DST: &[u8] = b"BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";
