//! A tree that keeps its nodes.

use super::{Chunk, SszProof, checked_depth, proof::climb, zero_root};
use crate::MerkleError;
use proofmill_sha256::{Kernels, hash_pairs};
use std::ops::Range;

/// The tree over a list of chunks that may change and grow up to its limit. It keeps about two nodes per chunk.
#[derive(Clone, Debug)]
pub struct SszTree {
    kernels: Kernels,
    /// The layers from the chunks to the root. Only nodes with a chunk below them are stored; the others are roots of zero
    /// trees.
    layers: Vec<Vec<Chunk>>,
    limit: u64,
}

impl SszTree {
    /// The tree over these chunks, which can grow up to the limit. Runs on the ambient rayon pool.
    ///
    /// # Errors
    /// [`MerkleError::TooManyChunks`].
    pub fn new(kernels: Kernels, chunks: Vec<Chunk>, limit: u64) -> Result<Self, MerkleError> {
        let depth = checked_depth(chunks.len(), Some(limit))?;
        let mut layers = vec![chunks];
        layers.resize(depth as usize + 1, Vec::new());
        let mut tree = Self { kernels, layers, limit };
        tree.rehash_range(0..tree.chunks().len());
        Ok(tree)
    }

    /// The chunks.
    pub fn chunks(&self) -> &[Chunk] {
        &self.layers[0]
    }

    /// The maximum number of chunks.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The number of layers above the chunks.
    pub fn depth(&self) -> u32 {
        self.layers.len() as u32 - 1
    }

    /// The root, without the length of a list.
    pub fn root(&self) -> Chunk {
        self.known(self.depth(), 0)
    }

    /// Replaces chunks, given with their indices in any order (of two with the same index, the last counts), and rehashes each
    /// node above them once. Returns the number of these nodes: for one chunk, the depth.
    ///
    /// # Errors
    /// [`MerkleError::ChunkRange`], and nothing is changed.
    pub fn replace(&mut self, changes: &[(usize, Chunk)]) -> Result<usize, MerkleError> {
        let chunks = self.chunks().len();
        if let Some((index, _)) = changes.iter().find(|(index, _)| *index >= chunks) {
            return Err(MerkleError::ChunkRange { index: *index as u64, chunks: chunks as u64 });
        }
        let mut indices: Vec<usize> = changes.iter().map(|(index, _)| *index).collect();
        for (index, chunk) in changes {
            self.layers[0][*index] = *chunk;
        }
        indices.sort_unstable();
        let (mut hashed, mut pairs, mut parents) = (0, Vec::new(), Vec::new());
        for height in 0..self.depth() {
            indices.iter_mut().for_each(|index| *index /= 2);
            indices.dedup();
            pairs.clear();
            pairs.extend(indices.iter().map(|index| self.pair(height, *index)));
            parents.resize(pairs.len(), [0; 32]);
            hash_pairs(self.kernels, &pairs, &mut parents);
            for (index, parent) in indices.iter().zip(&parents) {
                self.layers[height as usize + 1][*index] = *parent;
            }
            hashed += indices.len();
        }
        Ok(hashed)
    }

    /// Appends chunks, and rehashes the nodes above them.
    ///
    /// # Errors
    /// [`MerkleError::TooManyChunks`], and nothing is changed.
    pub fn extend(&mut self, chunks: &[Chunk]) -> Result<(), MerkleError> {
        let before = self.chunks().len();
        checked_depth(before.saturating_add(chunks.len()), Some(self.limit))?;
        self.layers[0].extend_from_slice(chunks);
        self.rehash_range(before..before + chunks.len());
        Ok(())
    }

    /// Rehashes the nodes above a range of chunks that ends with the last.
    fn rehash_range(&mut self, mut range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        for height in 0..self.depth() {
            range = range.start / 2..range.end.div_ceil(2);
            let (below, above) = self.layers.split_at_mut(height as usize + 1);
            let (nodes, above) = (&below[height as usize][2 * range.start..], &mut above[0]);
            above.resize(range.end, [0; 32]);
            let (pairs, odd) = nodes.as_flattened().as_chunks();
            let whole = range.start + pairs.len();
            hash_pairs(self.kernels, pairs, &mut above[range.start..whole]);
            if !odd.is_empty() {
                let pair = self.pair(height, whole);
                self.layers[height as usize + 1][whole] = self.kernels.digest(&pair);
            }
        }
    }

    /// The two children, at this height, of node `parent` one layer up, as 64 bytes.
    fn pair(&self, height: u32, parent: usize) -> [u8; 64] {
        let mut pair = [0; 64];
        pair[..32].copy_from_slice(&self.known(height, 2 * parent));
        pair[32..].copy_from_slice(&self.known(height, 2 * parent + 1));
        pair
    }

    /// The node with an index within its layer, stored or zero.
    fn known(&self, height: u32, index: usize) -> Chunk {
        self.layers[height as usize].get(index).copied().unwrap_or_else(|| zero_root(height))
    }

    /// The node with a generalized index.
    ///
    /// # Errors
    /// [`MerkleError::GeneralizedIndex`].
    pub fn node(&self, index: u64) -> Result<Chunk, MerkleError> {
        let depth = self.depth();
        match index.checked_ilog2() {
            // An index beyond `usize` is of a node that is not stored.
            Some(above) if above <= depth => {
                Ok(self.known(depth - above, usize::try_from(index - (1 << above)).unwrap_or(usize::MAX)))
            }
            _ => Err(MerkleError::GeneralizedIndex { index, depth }),
        }
    }

    /// Proves the nodes with these generalized indices, in any order, to a verifier that knows the root.
    ///
    /// # Errors
    /// [`MerkleError::NoIndices`], [`MerkleError::GeneralizedIndex`], [`MerkleError::DuplicateIndex`],
    /// [`MerkleError::NestedIndices`].
    pub fn prove(&self, indices: &[u64]) -> Result<SszProof, MerkleError> {
        let leaves = indices.iter().map(|index| self.node(*index)).collect::<Result<_, _>>()?;
        let mut proof = SszProof { indices: indices.to_vec(), leaves, helpers: Vec::new() };
        climb(indices, |needed| {
            for index in needed.into_iter().rev() {
                proof.helpers.push(self.node(index)?);
            }
            Ok(())
        })?;
        Ok(proof)
    }
}
