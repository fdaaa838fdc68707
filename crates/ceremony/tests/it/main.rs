//! Tests of `proofmill-ceremony`: one program, so that what they share is compiled once.

mod bls12_381;
mod phase1;
mod phase2;
mod structure;
