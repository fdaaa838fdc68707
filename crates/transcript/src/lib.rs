//! Fiat-Shamir transcripts, one per protocol that needs its own.
//!
//! A transcript turns an interactive proof into a non-interactive one: each challenge of the verifier is a
//! hash of what the prover has sent so far. It is sound only if every public value that a challenge depends
//! on has been absorbed before it is drawn (Bernhard, Pereira, Warinschi, "How not to prove yourself", 2012),
//! so a protocol's documentation says what it absorbs where; for PLONK see `proofmill_plonk`.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)
)]

mod keccak;

pub use keccak::KeccakTranscript;
