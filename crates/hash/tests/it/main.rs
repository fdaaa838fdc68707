//! Tests of `proofmill-hash`: one program, so that what they share is compiled once.

mod keccak;
mod pedersen;
mod poseidon;
mod poseidon2;
mod poseidon_bn254;
