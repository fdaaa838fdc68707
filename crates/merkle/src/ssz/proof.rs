//! Nodes shown with what leads from them to the root: multiproofs of the consensus specifications ("ssz/merkle-proofs").
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::Chunk;
use crate::{
    MerkleError,
    opening::{parents, siblings},
};
use proofmill_sha256::{Kernels, hash_pairs};

/// Nodes of a tree by generalized index, and the nodes beside their paths to the root.
///
/// A generalized index says how deep a node is, so that whoever knows the tree's shape has to look at the indices: a proof
/// that is right for the index of an inner node says nothing about chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SszProof {
    /// Generalized indices of the nodes that are shown, in any order; none is above another.
    pub indices: Vec<u64>,
    /// These nodes, in the same order.
    pub leaves: Vec<Chunk>,
    /// The nodes that cannot be computed from those, by falling generalized index.
    pub helpers: Vec<Chunk>,
}

impl SszProof {
    /// Checks that the tree of this root has the nodes. At most 64 hashes for each index, and memory for as many nodes as
    /// the proof has.
    ///
    /// # Errors
    /// [`MerkleError::Rejected`] for a well-formed proof that does not lead to the root; else what is malformed:
    /// [`MerkleError::NoIndices`], [`MerkleError::GeneralizedIndex`] of 0, [`MerkleError::DuplicateIndex`],
    /// [`MerkleError::NestedIndices`], [`MerkleError::ValueCount`], [`MerkleError::SiblingCount`].
    pub fn check(&self, kernels: Kernels, root: &Chunk) -> Result<(), MerkleError> {
        let (expected, found) = (self.indices.len() as u64, self.leaves.len() as u64);
        if expected != found {
            return Err(MerkleError::ValueCount { expected, found });
        }
        let mut count = 0;
        climb(&self.indices, |needed| {
            count += needed.len() as u64;
            Ok(())
        })?;
        let found = self.helpers.len() as u64;
        if count != found {
            return Err(MerkleError::SiblingCount { expected: count, found });
        }
        if self.computed_root(kernels)? == *root { Ok(()) } else { Err(MerkleError::Rejected) }
    }

    /// The root that the nodes lead to, if the form is right.
    fn computed_root(&self, kernels: Kernels) -> Result<Chunk, MerkleError> {
        let mut leaves: Vec<(u64, Chunk)> =
            self.indices.iter().copied().zip(self.leaves.iter().copied()).collect();
        leaves.sort_unstable_by_key(|(index, _)| *index);
        let mut helpers = &self.helpers[..];
        let mut here: Vec<(u64, Chunk)> = Vec::new();
        for depth in (1..u64::BITS).rev() {
            let deeper = leaves.partition_point(|(index, _)| *index < 1 << depth);
            here.extend(leaves.drain(deeper..));
            here.sort_unstable_by_key(|(index, _)| *index);
            let (indices, nodes): (Vec<u64>, Vec<Chunk>) = here.drain(..).unzip();
            // The layer's helpers come with falling indices, and are needed with rising ones.
            let needed = siblings(&indices, 1, |_, index| Ok::<_, MerkleError>(index))?.len();
            let (now, later) = helpers.split_at_checked(needed).ok_or(MerkleError::Rejected)?;
            helpers = later;
            let hash = |children: &[Chunk], parents: &mut [Chunk]| {
                hash_pairs(kernels, children.as_flattened().as_chunks().0, parents);
            };
            let (above, hashed) = parents(&indices, &nodes, &mut now.iter().rev().copied(), hash)?;
            here.extend(above.into_iter().zip(hashed));
        }
        // One node is left, which is the root: a leaf of index 1 or what the others led to.
        here.extend(leaves);
        here.first().map(|(_, node)| *node).ok_or(MerkleError::NoIndices)
    }
}

/// Goes from nodes of generalized indices to the root, after checking the indices. `needed` is handed the indices of the
/// nodes beside the paths, layer by layer from below, rising within one.
pub(super) fn climb(
    indices: &[u64],
    mut needed: impl FnMut(Vec<u64>) -> Result<(), MerkleError>,
) -> Result<(), MerkleError> {
    let mut given = indices.to_vec();
    given.sort_unstable();
    check_indices(&given)?;
    let mut here = Vec::new();
    for depth in (1..u64::BITS).rev() {
        let deeper = given.partition_point(|index| *index < 1 << depth);
        here.extend(given.drain(deeper..));
        here.sort_unstable();
        needed(siblings(&here, 1, |_, index| Ok::<_, MerkleError>(index))?)?;
        here.iter_mut().for_each(|index| *index /= 2);
        here.dedup();
    }
    Ok(())
}

/// That rising indices are of nodes none of which is above another.
fn check_indices(rising: &[u64]) -> Result<(), MerkleError> {
    match rising.first() {
        None => return Err(MerkleError::NoIndices),
        Some(0) => return Err(MerkleError::GeneralizedIndex { index: 0, depth: u64::BITS - 1 }),
        Some(_) => {}
    }
    if let Some(twice) = rising.iter().zip(rising.iter().skip(1)).find(|(index, next)| index == next) {
        return Err(MerkleError::DuplicateIndex(*twice.0));
    }
    for index in rising.iter().copied() {
        let above = (1..=index.ilog2()).map(|layers| index >> layers);
        if let Some(above) = above.into_iter().find(|above| rising.binary_search(above).is_ok()) {
            return Err(MerkleError::NestedIndices { index, above });
        }
    }
    Ok(())
}
