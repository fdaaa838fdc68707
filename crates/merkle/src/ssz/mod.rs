//! Merkle trees as Ethereum's SSZ builds them (simple serialize, "Merkleization"): over chunks of 32 bytes, by SHA-256.
//!
//! A tree has a *limit*, the most chunks that there may ever be, which fixes its depth; chunks that are not there are zero, and
//! subtrees of such are known beforehand. So lists with limits of 2^40 cost what their chunks cost.
//!
//! * [`hash_tree_root`] keeps no node; [`mix_in_length`] is what a list's root has on top.
//! * [`SszTree`] keeps the nodes above its chunks: a changed chunk rehashes its path.
//! * [`SszProof`] shows any nodes to whoever knows the root; [`SszProof::check`] takes what an attacker wrote.
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

/// What a tree is over, and its nodes.
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

/// The depth of a tree of at most so many chunks: `limit` rounded up to a power of two is two to the power of it; 0 for none.
pub fn depth_of(limit: u64) -> u32 {
    if limit <= 1 { 0 } else { (limit - 1).ilog2() + 1 }
}

/// The depth for a limit, that of the chunks themselves without one.
fn checked_depth(chunks: usize, limit: Option<u64>) -> Result<u32, MerkleError> {
    let found = chunks as u64;
    let limit = limit.unwrap_or(found);
    if found > limit { Err(MerkleError::TooManyChunks { limit, found }) } else { Ok(depth_of(limit)) }
}
