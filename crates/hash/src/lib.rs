//! Hashes that Merkle trees are made of.

pub mod poseidon;
