//! Hashes for Merkle trees and circuits.
//!
//! A [`Permutation`] is written once over vectors of the Goldilocks field; [`tiles`] runs it at a level on as many states as
//! the level has lanes; [`sponge`] makes a hash of rows from it, and [`TreeHash`] is the interface for trees.
//!
//! ```
//! use proofmill_cpu::Level;
//! use proofmill_hash::{Digest, Keccak, TreeHash};
//!
//! let mut digests = [Digest::default(); 2];
//! Keccak.hash_rows(Level::best(), &[1, 2, 3, 4], 2, &mut digests);
//! assert_ne!(digests[0], digests[1]);
//! ```

pub mod grain;
mod keccak;
mod narrow_nodes;
pub mod pedersen;
mod permutation;
pub mod poseidon;
pub mod poseidon2;
pub mod poseidon_bn254;
mod sha256;
pub mod sponge;
mod state;
mod tiles;
mod tree;

pub use keccak::{
    KECCAK_ROTATIONS, KECCAK_ROUND_CONSTANTS, KECCAK_WIDTH, Keccak, Keccak256, keccak_f, keccak_f_states,
};
pub use narrow_nodes::NarrowNodes;
pub use permutation::{Absorption, MAX_WIDTH, Permutation, permute};
pub use poseidon::Poseidon;
pub use poseidon_bn254::{PoseidonBn254, PoseidonBn254Sponge};
pub use poseidon2::Poseidon2;
pub use sha256::Sha256;
pub use sponge::Sponge;
pub use state::State;
pub use tiles::permute_states;
pub use tree::{DIGEST, Digest, TreeHash};
