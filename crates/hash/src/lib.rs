//! Hashes that Merkle trees are made of.
//!
//! A [`Permutation`] is written once over vectors of the Goldilocks field; [`tiles`] runs it at a level on as many states as
//! the level has lanes; [`sponge`] makes a hash of rows of it, and [`TreeHash`] is what a tree asks for.

mod narrow_nodes;
mod permutation;
pub mod poseidon;
pub mod poseidon2;
mod sha256;
pub mod sponge;
mod tiles;
mod tree;

pub use narrow_nodes::NarrowNodes;
pub use permutation::{MAX_WIDTH, Permutation, permute};
pub use poseidon::Poseidon;
pub use poseidon2::Poseidon2;
pub use sha256::Sha256;
pub use sponge::{Absorption, Digest, Sponge};
pub use tree::TreeHash;
