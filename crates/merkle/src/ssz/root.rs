//! Roots, without keeping nodes.

use super::{Chunk, checked_depth, zero_root};
use crate::MerkleError;
use proofmill_run::parallel;
use proofmill_sha256::{Kernels, digest};

/// The layers of a subtree: 2^11 chunks take 64 KiB, which stay in a core's second-level cache with the nodes above.
const LAYERS: u32 = 11;

/// Tasks per thread, if there are enough subtrees.
const TASKS: usize = 8;

/// The most subtrees that one task computes in the same memory.
const MOST_IN_TASK: usize = 16;

/// SSZ's `merkleize`: the root of the tree over these chunks, padded with zeros to the limit, rounded up to a power of
/// two. Without a limit they are padded to the next power of two. Runs on the ambient rayon pool.
///
/// # Errors
/// [`MerkleError::TooManyChunks`].
///
/// ```
/// use proofmill_merkle::ssz::{hash_tree_root, zero_root};
/// use proofmill_sha256::{Kernels, digest};
///
/// let root = hash_tree_root(Kernels::best(), &[[1; 32]], Some(2)).unwrap();
/// assert_eq!(root, digest([[1; 32], [0; 32]].as_flattened()));
/// assert_eq!(hash_tree_root(Kernels::best(), &[], Some(1 << 40)).unwrap(), zero_root(40));
/// ```
pub fn hash_tree_root(kernels: Kernels, chunks: &[Chunk], limit: Option<u64>) -> Result<Chunk, MerkleError> {
    let depth = checked_depth(chunks.len(), limit)?;
    if chunks.is_empty() {
        return Ok(zero_root(depth));
    }
    let mut height = 0;
    let mut above = Vec::new();
    while height == 0 || above.len() > 1 {
        let layers = LAYERS.min(depth - height);
        let below = if height == 0 { chunks } else { &above[..] };
        let mut roots = vec![[0; 32]; below.len().div_ceil(1 << layers)];
        let share = roots.len().div_ceil(TASKS * parallel::threads()).min(MOST_IN_TASK);
        parallel::for_each(roots.chunks_mut(share).zip(below.chunks(share << layers)), |(roots, nodes)| {
            let mut scratch = Vec::new();
            for (root, nodes) in roots.iter_mut().zip(nodes.chunks(1 << layers)) {
                *root = subtree_root(kernels, nodes, height, layers, &mut scratch);
            }
        });
        above = roots;
        height += layers;
        if layers == 0 {
            break;
        }
    }
    // One subtree is left; on every layer above, its sibling is a zero subtree on the right.
    Ok((height..depth).fold(above[0], |node, height| parent(&node, &zero_root(height))))
}

/// The root of a list: the hash of its elements' root and the number of elements (not chunks). Unions mix in their selector in
/// the same way.
pub fn mix_in_length(root: &Chunk, length: u64) -> Chunk {
    let mut chunk = [0; 32];
    chunk[..8].copy_from_slice(&length.to_le_bytes());
    parent(root, &chunk)
}

/// The parent of two nodes.
fn parent(left: &Chunk, right: &Chunk) -> Chunk {
    digest([*left, *right].as_flattened())
}

/// The node `layers` above these nodes, 1 to `2^layers` of them, which are `height` above the chunks.
fn subtree_root(
    kernels: Kernels,
    nodes: &[Chunk],
    height: u32,
    layers: u32,
    scratch: &mut Vec<Chunk>,
) -> Chunk {
    scratch.resize(2 * nodes.len().div_ceil(2), [0; 32]);
    let (mut below, mut above) = scratch.split_at_mut(nodes.len().div_ceil(2));
    let mut count = nodes.len();
    for layer in 0..layers {
        let nodes = if layer == 0 { nodes } else { &below[..count] };
        let (pairs, odd) = nodes.as_flattened().as_chunks();
        kernels.pairs(pairs, &mut above[..pairs.len()]);
        if let Some(left) = odd.as_chunks().0.first() {
            above[pairs.len()] = parent(left, &zero_root(height + layer));
        }
        count = count.div_ceil(2);
        std::mem::swap(&mut below, &mut above);
    }
    if layers == 0 { nodes[0] } else { below[0] }
}
