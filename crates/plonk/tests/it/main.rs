//! Tests of `proofmill-plonk`: one program, so that what they share is compiled once.

mod built;
mod circuit_file;
mod circuit_key;
mod curve;
mod fflonk;
mod fixtures;
mod hash_circuits;
mod hostile_keys;
mod membership;
mod mutations;
mod operations;
mod pinned;
mod prove;
mod r1cs;
mod setup;
mod soundness;
mod verify;
