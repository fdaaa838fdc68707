//! Building trees: by subtrees whose digests stay in a core's cache.
//!
//! A task hashes the rows of one subtree and computes its nodes layer by layer up to its root, so that all lanes are used
//! except for the last few nodes. The roots of the subtrees are the leaves of the tree above, which is built in the same way.

use crate::{Leaves, MerkleError};
use proofmill_cpu::Level;
use proofmill_hash::{Digest, TreeHash};
use proofmill_run::parallel;

/// The most layers of a subtree above its leaves. The digests of 2^11 leaves take 64 KiB and all nodes twice that, which fits
/// into a core's second-level cache together with the rows. Unused lanes in the narrow layers cost half a percent.
const MOST_LAYERS: u32 = 11;

/// The least layers of a subtree, so that its leaves fill the lanes.
const LEAST_LAYERS: u32 = 5;

/// Subtrees per thread, so that threads finish at about the same time.
const TASKS: usize = 8;

/// The most subtrees that one task computes in the same memory.
const MOST_IN_TASK: usize = 16;

/// The layers of the subtrees into which a tree of `2^layers` leaves is divided.
fn subtree_layers(layers: u32) -> u32 {
    let tasks = (TASKS * parallel::threads()).next_power_of_two().ilog2();
    layers.saturating_sub(tasks).clamp(LEAST_LAYERS, MOST_LAYERS).min(layers)
}

/// The number of nodes of a tree with `leaves` leaves.
pub(crate) fn node_count(leaves: usize) -> usize {
    2 * leaves - 1
}

/// The layers of a tree's nodes, leaves first.
pub(crate) fn split_layers<D>(mut nodes: &mut [D]) -> Vec<&mut [D]> {
    let mut layers = Vec::new();
    while !nodes.is_empty() {
        let (layer, rest) = nodes.split_at_mut(nodes.len().div_ceil(2));
        layers.push(layer);
        nodes = rest;
    }
    layers
}

/// Computes all layers of a tree.
pub(crate) fn fill(
    level: Level,
    hash: &dyn TreeHash,
    leaves: &dyn Leaves,
    nodes: &mut [Digest],
) -> Result<(), MerkleError> {
    let mut layers = split_layers(nodes);
    let height = subtree_layers(leaves.rows().ilog2());
    let width = 1 << height;
    let results = parallel::map((0..).zip(subtrees(&mut layers, height)), |(i, mut layers)| {
        leaves.hash(level, hash, i * width, layers[0])?;
        climb(level, hash, &mut layers);
        Ok(())
    });
    // The first error in the order of rows, whichever thread is faster.
    results.into_iter().collect::<Result<(), MerkleError>>()?;
    raise(level, hash, &mut layers[height as usize..]);
    Ok(())
}

/// Computes the layers above the first.
pub(crate) fn raise(level: Level, hash: &dyn TreeHash, mut layers: &mut [&mut [Digest]]) {
    while layers.len() > 1 {
        let height = subtree_layers(layers.len() as u32 - 1);
        parallel::for_each(subtrees(layers, height), |mut layers| climb(level, hash, &mut layers));
        layers = &mut layers[height as usize..];
    }
}

/// Computes the layers above the first on the calling thread, one by one.
fn climb(level: Level, hash: &dyn TreeHash, layers: &mut [&mut [Digest]]) {
    for upper in 1..layers.len() {
        let (children, parents) = layers.split_at_mut(upper);
        hash.hash_pairs(level, children[upper - 1], parents[0]);
    }
}

/// Divides the lowest `height + 1` layers into those of subtrees.
fn subtrees<'a, D>(layers: &'a mut [&mut [D]], height: u32) -> Vec<Vec<&'a mut [D]>> {
    let mut subtrees: Vec<Vec<&mut [D]>> = Vec::new();
    subtrees.resize_with(layers[0].len() >> height, || Vec::with_capacity(height as usize + 1));
    for (layer, below) in layers[..=height as usize].iter_mut().zip((0..=height).rev()) {
        for (subtree, nodes) in subtrees.iter_mut().zip(layer.chunks_mut(1 << below)) {
            subtree.push(nodes);
        }
    }
    subtrees
}

/// Builds a tree and keeps only the upper layers, from the returned height on. `keep` receives the nodes below when they are
/// computed: the layer, the index of the first node in it, the nodes.
pub(crate) fn stream(
    level: Level,
    hash: &dyn TreeHash,
    leaves: &dyn Leaves,
    keep: impl Fn(u32, usize, &[Digest]) -> Result<(), MerkleError> + Sync,
) -> Result<(u32, Vec<Digest>), MerkleError> {
    let height = subtree_layers(leaves.rows().ilog2());
    let (width, count) = (1 << height, leaves.rows() >> height);
    let mut upper = vec![Digest::default(); node_count(count)];
    let mut layers = split_layers(&mut upper);
    let subtree = |scratch: &mut Vec<Digest>, i: usize, top: &mut Digest| {
        let mut layers = split_layers(scratch);
        leaves.hash(level, hash, i * width, layers[0])?;
        climb(level, hash, &mut layers);
        for (layer, nodes) in (0..height).zip(&layers) {
            keep(layer, (i * width) >> layer, nodes)?;
        }
        *top = layers[height as usize][0];
        Ok(())
    };
    let share = count.div_ceil(TASKS * parallel::threads()).min(MOST_IN_TASK);
    let results = parallel::map((0..).step_by(share).zip(layers[0].chunks_mut(share)), |(first, tops)| {
        let mut scratch = vec![Digest::default(); node_count(width)];
        (first..).zip(tops).try_for_each(|(i, top)| subtree(&mut scratch, i, top))
    });
    // The first error in the order of rows, whichever thread is faster.
    results.into_iter().collect::<Result<(), MerkleError>>()?;
    raise(level, hash, &mut layers);
    Ok((height, upper))
}

/// The root of a tree, without keeping its nodes. Needs memory for two digests per 2^11 rows.
///
/// # Errors
/// [`MerkleError::NotCanonical`].
pub fn root(level: Level, hash: &dyn TreeHash, leaves: &dyn Leaves) -> Result<Digest, MerkleError> {
    let (_, upper) = stream(level, hash, leaves, |_, _, _| Ok(()))?;
    Ok(upper[upper.len() - 1])
}
