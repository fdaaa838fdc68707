//! Merkle trees as Ethereum's SSZ builds them (simple serialize, "Merkleization"): over chunks of 32 bytes, with SHA-256.
//!
//! The depth of a tree is fixed by its *limit*, the maximum number of chunks. Missing chunks are zero, and the roots of zero
//! subtrees are precomputed, so the cost depends on the chunks and not on the limit, which may be 2^40.
//!
//! * [`hash_tree_root`] keeps no node; [`mix_in_length`] adds the length to a list's root.
//! * [`SszTree`] keeps the nodes above its chunks: changing a chunk rehashes only its path.
//! * [`SszProof`] proves any nodes to a verifier that knows the root; [`SszProof::check`] is safe for hostile input.
//!
//! A node's *generalized index* is 1 for the root, `2 i` and `2 i + 1` for the children of node `i`.

mod proof;
mod root;
mod tree;

pub use proof::SszProof;
pub use root::{hash_tree_root, mix_in_length};
pub use tree::SszTree;

use crate::MerkleError;
use proofmill_sha256::digest;
use std::sync::LazyLock;

/// A chunk, or a node.
pub type Chunk = [u8; 32];

/// The greatest depth: of a limit above 2^63.
const MOST_DEPTH: u32 = 64;

/// The roots of trees of zeros, by depth.
static ZEROS: LazyLock<[Chunk; MOST_DEPTH as usize + 1]> = LazyLock::new(|| {
    let mut zeros = [[0; 32]; MOST_DEPTH as usize + 1];
    for depth in 1..zeros.len() {
        zeros[depth] = digest([zeros[depth - 1]; 2].as_flattened());
    }
    zeros
});

/// The root of the tree of `2^depth` zero chunks.
///
/// # Panics
/// If the depth is above 64.
pub fn zero_root(depth: u32) -> Chunk {
    ZEROS[depth as usize]
}

/// The depth of a tree of at most `limit` chunks: the base-2 logarithm of `limit`, rounded up; 0 for a limit of 0.
pub fn depth_of(limit: u64) -> u32 {
    if limit <= 1 { 0 } else { (limit - 1).ilog2() + 1 }
}

/// The depth for a limit; without a limit, for the number of chunks.
fn checked_depth(chunks: usize, limit: Option<u64>) -> Result<u32, MerkleError> {
    let found = chunks as u64;
    let limit = limit.unwrap_or(found);
    if found > limit { Err(MerkleError::TooManyChunks { limit, found }) } else { Ok(depth_of(limit)) }
}
