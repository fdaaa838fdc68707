//! Nodes with the helper nodes that authenticate them against the root: the multiproofs of the consensus specifications
//! ("ssz/merkle-proofs").
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::Chunk;
use crate::{
    MerkleError,
    opening::{parents, siblings},
};
use proofmill_sha256::{Kernels, hash_pairs};

/// Nodes of a tree by generalized index, with the siblings along their paths to the root.
///
/// A generalized index also states the depth of a node, so a verifier must check that the indices are the expected ones: a
/// valid proof for an inner node says nothing about chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SszProof {
    /// The generalized indices of the proven nodes, in any order; none is above another.
    pub indices: Vec<u64>,
    /// These nodes, in the same order.
    pub leaves: Vec<Chunk>,
    /// The helper nodes, which cannot be computed from those, by descending generalized index.
    pub helpers: Vec<Chunk>,
}

impl SszProof {
    /// Checks that the tree with this root has the nodes. Takes at most 64 hashes per index, and memory in proportion to the
    /// proof.
    ///
    /// # Errors
    /// [`MerkleError::Rejected`] for a well-formed proof that does not lead to the root; for a malformed one:
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

    /// The root computed from the nodes, if the proof is well-formed.
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
            // A layer's helpers are in descending order, and are needed in ascending order.
            let needed = siblings(&indices, 1, |_, index| Ok::<_, MerkleError>(index))?.len();
            let (now, later) = helpers.split_at_checked(needed).ok_or(MerkleError::Rejected)?;
            helpers = later;
            let hash = |children: &[Chunk], parents: &mut [Chunk]| {
                hash_pairs(kernels, children.as_flattened().as_chunks().0, parents);
            };
            let (above, hashed) = parents(&indices, &nodes, &mut now.iter().rev().copied(), hash)?;
            here.extend(above.into_iter().zip(hashed));
        }
        // One node is left, the root: a leaf of index 1, or computed from the others.
        here.extend(leaves);
        here.first().map(|(_, node)| *node).ok_or(MerkleError::NoIndices)
    }
}

/// Walks from nodes of generalized indices to the root, after checking the indices. `needed` receives the indices of the
/// siblings, layer by layer from the bottom, ascending within a layer.
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

/// Checks that none of the nodes with these ascending indices is above another.
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
