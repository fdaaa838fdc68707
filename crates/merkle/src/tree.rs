//! A tree in memory.

use crate::{
    Leaves, MerkleError, Opening,
    build::{fill, node_count, raise, split_layers},
    leaves::check_row_count,
    opening::{check_indices, siblings},
};
use proofmill_cpu::Level;
use proofmill_hash::{Digest, TreeHash};
use proofmill_memory::Pages;

/// Every node of a tree: `2 rows - 1` digests.
pub struct Tree {
    /// All layers, stored contiguously, from the leaves to the root.
    nodes: Pages<Digest>,
    rows: usize,
}

impl Tree {
    /// Builds the tree of these rows on the ambient rayon pool.
    ///
    /// # Errors
    /// [`MerkleError::NotCanonical`] for the first such word in the order of rows.
    pub fn build(level: Level, hash: &dyn TreeHash, leaves: &dyn Leaves) -> Result<Self, MerkleError> {
        let rows = leaves.rows();
        let mut nodes = Pages::new(node_count(rows));
        fill(level, hash, leaves, &mut nodes)?;
        Ok(Self { nodes, rows })
    }

    /// The tree over digests from several layers. A function is called with the nodes of its layer, by ascending heights above the
    /// leaves, and changes them before the next layer is computed. The function of height 0 writes the leaves.
    ///
    /// # Errors
    /// [`MerkleError::RowCount`], and those of the functions.
    ///
    /// # Panics
    /// If the heights do not begin with 0, do not ascend or exceed that of the tree.
    pub fn of_layers<F>(
        level: Level,
        hash: &dyn TreeHash,
        rows: usize,
        layers: impl IntoIterator<Item = (u32, F)>,
    ) -> Result<Self, MerkleError>
    where
        F: FnOnce(&mut [Digest]) -> Result<(), MerkleError>,
    {
        check_row_count(rows as u64)?;
        let mut nodes = Pages::new(node_count(rows));
        let mut all = split_layers(&mut nodes);
        let mut done = 0;
        for (index, (height, change)) in layers.into_iter().enumerate() {
            let height = height as usize;
            assert!((index == 0) == (height == 0) && height >= done, "ascending heights from 0 on");
            raise(level, hash, &mut all[done..=height]);
            change(all[height])?;
            done = height;
        }
        raise(level, hash, &mut all[done..]);
        drop(all);
        Ok(Self { nodes, rows })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The root.
    pub fn root(&self) -> Digest {
        self.nodes[self.nodes.len() - 1]
    }

    /// The layer that is `height` above the leaves: `rows >> height` digests from left to right. A verifier that knows it
    /// instead of the root (a cap) needs openings with fewer siblings: per path, one less for each layer from the cap to the
    /// root.
    ///
    /// # Panics
    /// If `height` exceeds that of the tree.
    pub fn layer(&self, height: u32) -> &[Digest] {
        &self.nodes[layer_start(self.rows, height)..][..self.rows >> height]
    }

    /// Opens the rows of ascending indices for a verifier that knows the cap of `cap` digests; 1 is the root. Siblings shared
    /// by several paths are included once, computable ones not at all.
    ///
    /// # Errors
    /// [`MerkleError::NoIndices`], [`MerkleError::IndexRange`], [`MerkleError::DuplicateIndex`],
    /// [`MerkleError::UnsortedIndices`], [`MerkleError::CapSize`].
    ///
    /// # Panics
    /// If the number of rows of `leaves` is not the tree's.
    pub fn open(&self, leaves: &dyn Leaves, indices: &[usize], cap: usize) -> Result<Opening, MerkleError> {
        assert_eq!(leaves.rows(), self.rows, "the rows that the tree was built of");
        Ok(Opening {
            rows: self.rows as u64,
            columns: leaves.columns() as u64,
            siblings: self.siblings(indices, cap)?,
            values: indices.iter().flat_map(|index| leaves.row(*index)).collect(),
            indices: indices.iter().map(|index| *index as u64).collect(),
        })
    }

    /// The siblings of [`open`](Self::open).
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn siblings(&self, indices: &[usize], cap: usize) -> Result<Vec<Digest>, MerkleError> {
        siblings_of(indices, self.rows, cap, |layer, index| self.layer(layer)[index])
    }
}

/// The siblings of [`Tree::open`] in a tree of `rows` rows whose nodes are elsewhere. `node` is called with the height of a layer and an
/// index in it, layer by layer, from left to right.
///
/// # Errors
/// As [`Tree::open`].
pub fn siblings_of<D>(
    indices: &[usize],
    rows: usize,
    cap: usize,
    mut node: impl FnMut(u32, usize) -> D,
) -> Result<Vec<D>, MerkleError> {
    let indices: Vec<u64> = indices.iter().map(|index| *index as u64).collect();
    let climbed = check_indices(&indices, rows as u64, cap as u64)?;
    siblings(&indices, climbed, |layer, index| Ok(node(layer, index as usize)))
}

/// The index of a layer's first node: after the `rows + rows / 2 + ...` nodes of the layers below.
pub(crate) fn layer_start(rows: usize, height: u32) -> usize {
    2 * rows - ((2 * rows) >> height)
}
