//! A tree in memory.

use crate::{
    Leaves, MerkleError, Opening,
    build::{fill, node_count},
    opening::{check_indices, siblings},
};
use proofmill_cpu::Level;
use proofmill_hash::TreeHash;
use proofmill_memory::Pages;

/// Every node of a tree: `2 rows - 1` digests.
pub struct Tree<H: TreeHash> {
    /// Layer by layer, leaves first, the root last.
    nodes: Pages<H::Digest>,
    rows: usize,
}

impl<H: TreeHash> Tree<H> {
    /// Hashes the rows, on all threads of the pool.
    ///
    /// # Errors
    /// [`MerkleError::NotCanonical`] of the first such word in the order of rows.
    pub fn build(level: Level, leaves: &impl Leaves) -> Result<Self, MerkleError> {
        let rows = leaves.rows();
        let mut nodes = Pages::new(node_count(rows));
        fill::<H, _>(level, leaves, &mut nodes)?;
        Ok(Self { nodes, rows })
    }

    /// How many rows it is of.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The digest at the top.
    pub fn root(&self) -> H::Digest {
        self.nodes[self.nodes.len() - 1]
    }

    /// The layer that is `height` above the leaves: `rows >> height` digests, the left most first. A verifier that knows it
    /// instead of the root is content with openings that are shorter by as many siblings a path as the layer is below the
    /// root.
    ///
    /// # Panics
    /// If the tree is not so high.
    pub fn layer(&self, height: u32) -> &[H::Digest] {
        &self.nodes[layer_start(self.rows, height)..][..self.rows >> height]
    }

    /// Shows the rows of ascending indices to whoever knows the cap of `cap` digests: the root with 1. A sibling that
    /// several paths need is there once, one that an opened row tells not at all.
    ///
    /// # Errors
    /// [`MerkleError::NoIndices`], [`MerkleError::IndexRange`], [`MerkleError::DuplicateIndex`],
    /// [`MerkleError::UnsortedIndices`], [`MerkleError::CapSize`].
    ///
    /// # Panics
    /// If `leaves` are not as many as the tree was built of.
    pub fn open(
        &self,
        leaves: &impl Leaves,
        indices: &[usize],
        cap: usize,
    ) -> Result<Opening<H>, MerkleError> {
        assert_eq!(leaves.rows(), self.rows, "the rows that the tree was built of");
        let indices: Vec<u64> = indices.iter().map(|index| *index as u64).collect();
        let climbed = check_indices(&indices, self.rows as u64, cap as u64)?;
        let node = |layer, index: u64| Ok(self.layer(layer)[index as usize]);
        Ok(Opening {
            rows: self.rows as u64,
            columns: leaves.columns() as u64,
            values: indices.iter().flat_map(|index| leaves.row(*index as usize)).collect(),
            siblings: siblings::<_, MerkleError>(&indices, climbed, node)?,
            indices,
        })
    }
}

/// Where a layer begins among the nodes: after `rows + rows / 2 + ...` of those below.
pub(crate) fn layer_start(rows: usize, height: u32) -> usize {
    2 * rows - ((2 * rows) >> height)
}
