//! Openings: rows with the nodes that authenticate them against the root.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{
    MerkleError,
    leaves::{check_row_count, check_words},
};
use proofmill_cpu::Level;
use proofmill_hash::{Digest, TreeHash};
use std::iter;

/// Rows of a tree, and the siblings on their paths to the root or a cap.
///
/// A verifier must know the shape of the tree. With other numbers of rows and columns, the same bytes can be rows of another
/// tree with this root: two digests are eight elements, and a row of eight elements is hashed like a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The number of rows of the tree.
    pub rows: u64,
    /// The number of words of a row.
    pub columns: u64,
    /// The indices of the opened rows, ascending.
    pub indices: Vec<u64>,
    /// The words of the opened rows, stored contiguously.
    pub values: Vec<u64>,
    /// The nodes on the way to the cap that cannot be computed: layer by layer from the leaves, left to right.
    pub siblings: Vec<Digest>,
}

impl Opening {
    /// Checks that the rows are in the tree with this cap, of `rows` rows with `columns` words each. A cap is one whole layer:
    /// the root alone, or the digests of a lower layer.
    ///
    /// # Errors
    /// [`MerkleError::Rejected`] for a well-formed opening that does not lead to the cap; for a malformed one:
    /// [`MerkleError::Shape`] if the tree's shape differs, [`MerkleError::RowCount`], [`MerkleError::NoColumns`],
    /// [`MerkleError::NoIndices`], [`MerkleError::IndexRange`], [`MerkleError::DuplicateIndex`],
    /// [`MerkleError::UnsortedIndices`], [`MerkleError::CapSize`], [`MerkleError::ValueCount`], [`MerkleError::SiblingCount`],
    /// [`MerkleError::NotCanonical`], [`MerkleError::Digest`].
    pub fn check(
        &self,
        level: Level,
        hash: &dyn TreeHash,
        rows: u64,
        columns: u64,
        cap: &[Digest],
    ) -> Result<(), MerkleError> {
        self.check_layers(level, hash, rows, columns, cap, |_, _, _| Ok(()))
    }

    /// [`check`](Self::check) of a tree [of several layers](crate::Tree::of_layers). `change` is called for each height above the leaves, up
    /// to that of the cap, with the ascending indices of the known nodes and these nodes.
    ///
    /// # Errors
    /// As [`check`](Self::check), and those of `change`.
    pub fn check_layers(
        &self,
        level: Level,
        hash: &dyn TreeHash,
        rows: u64,
        columns: u64,
        cap: &[Digest],
        change: impl FnMut(u32, &[u64], &mut [Digest]) -> Result<(), MerkleError>,
    ) -> Result<(), MerkleError> {
        for (what, expected, found) in [("rows", rows, self.rows), ("columns", columns, self.columns)] {
            if expected != found {
                return Err(MerkleError::Shape { what, expected, found });
            }
        }
        let climbed = self.check_form(hash, cap.len() as u64)?;
        let (indices, nodes) = self.climb(level, hash, climbed, |_| (), change)?;
        let known = |index: &u64| cap.get(*index as usize).filter(|node| hash.is_digest(node));
        let agree = indices.iter().zip(&nodes).all(|(index, node)| known(index) == Some(node));
        if agree { Ok(()) } else { Err(MerkleError::Rejected) }
    }

    /// For each opened row the siblings on its path to a cap of this many digests, from the leaf up, as openings of single rows have them.
    ///
    /// Nothing says that the rows are in a tree.
    ///
    /// # Errors
    /// As [`check`](Self::check), of malformed openings.
    pub fn paths(
        &self,
        level: Level,
        hash: &dyn TreeHash,
        cap: u64,
    ) -> Result<Vec<Vec<Digest>>, MerkleError> {
        let climbed = self.check_form(hash, cap)?;
        let mut layers: Vec<Vec<Digest>> = Vec::new();
        self.climb(level, hash, climbed, |children| layers.push(children.to_vec()), |_, _, _| Ok(()))?;
        let mut paths = vec![Vec::new(); self.indices.len()];
        let mut nodes = self.indices.clone();
        for children in layers {
            let mut pairs = children.chunks_exact(2);
            let mut before = None;
            let mut pair: &[Digest] = &[];
            for (path, node) in paths.iter_mut().zip(&mut nodes) {
                if before != Some(*node >> 1) {
                    pair = pairs.next().unwrap_or(&[]);
                    before = Some(*node >> 1);
                }
                path.extend(pair.get(1 - (*node & 1) as usize).copied());
                *node >>= 1;
            }
        }
        Ok(paths)
    }

    /// Computes the nodes `layers` layers above the rows, and their indices; `seen` gets the children of each layer, in pairs, `change` is
    /// that of [`check_layers`](Self::check_layers). The form was checked.
    fn climb(
        &self,
        level: Level,
        hash: &dyn TreeHash,
        layers: u32,
        mut seen: impl FnMut(&[Digest]),
        mut change: impl FnMut(u32, &[u64], &mut [Digest]) -> Result<(), MerkleError>,
    ) -> Result<(Vec<u64>, Vec<Digest>), MerkleError> {
        // No overflow: the product was compared with the number of values.
        let columns = self.columns as usize;
        let mut nodes = vec![Digest::default(); self.indices.len()];
        hash.hash_rows(level, &self.values, columns, &mut nodes);
        let mut indices = self.indices.clone();
        let mut siblings = self.siblings.iter().copied();
        for height in 1..=layers {
            let combine = |children: &[_], parents: &mut [_]| {
                seen(children);
                hash.hash_pairs(level, children, parents);
            };
            (indices, nodes) = parents(&indices, &nodes, &mut siblings, combine)?;
            change(height, &indices, &mut nodes)?;
        }
        Ok((indices, nodes))
    }

    /// Checks everything but the hashes. Returns the number of layers up to the cap.
    fn check_form(&self, hash: &dyn TreeHash, cap: u64) -> Result<u32, MerkleError> {
        check_row_count(self.rows)?;
        if self.columns == 0 {
            return Err(MerkleError::NoColumns);
        }
        let climbed = check_indices(&self.indices, self.rows, cap)?;
        let (expected, found) =
            ((self.indices.len() as u64).checked_mul(self.columns), self.values.len() as u64);
        if expected != Some(found) {
            return Err(MerkleError::ValueCount { expected: expected.unwrap_or(u64::MAX), found });
        }
        let needed = siblings(&self.indices, climbed, |_, _| Ok::<_, MerkleError>(()))?;
        if needed.len() != self.siblings.len() {
            let (expected, found) = (needed.len() as u64, self.siblings.len() as u64);
            return Err(MerkleError::SiblingCount { expected, found });
        }
        if let Some(at) = self.siblings.iter().position(|sibling| !hash.is_digest(sibling)) {
            let problem = "expected elements below the field's modulus".to_owned();
            return Err(MerkleError::Digest { place: format!("siblings[{at}]"), problem });
        }
        let columns = self.columns as usize;
        let row = |at| self.indices.get(at / columns).map_or(usize::MAX, |row| *row as usize);
        check_words(hash, &self.values, |at| (row(at), at % columns))?;
        Ok(climbed)
    }
}

/// Computes the nodes one layer up, and their indices; `hash` computes parents from twice as many children.
pub(crate) fn parents<D: Copy + Default>(
    indices: &[u64],
    nodes: &[D],
    siblings: &mut impl Iterator<Item = D>,
    hash: impl FnOnce(&[D], &mut [D]),
) -> Result<(Vec<u64>, Vec<D>), MerkleError> {
    let mut children = Vec::with_capacity(2 * nodes.len());
    let mut above = Vec::with_capacity(nodes.len());
    let mut known = indices.iter().copied().zip(nodes.iter().copied()).peekable();
    while let Some((index, node)) = known.next() {
        let sibling = match known.next_if(|(next, _)| *next == index ^ 1) {
            Some((_, sibling)) => sibling,
            // `None` cannot occur: the number of siblings was checked.
            None => siblings.next().ok_or(MerkleError::Rejected)?,
        };
        children.extend(if index & 1 == 0 { [node, sibling] } else { [sibling, node] });
        above.push(index >> 1);
    }
    let mut parents = vec![D::default(); above.len()];
    hash(&children, &mut parents);
    Ok((above, parents))
}

/// The siblings that the paths from ascending indices need and that cannot be computed, over `layers` layers: layer by layer,
/// left to right. `node` returns a node by layer and index.
pub(crate) fn siblings<D, E>(
    indices: &[u64],
    layers: u32,
    mut node: impl FnMut(u32, u64) -> Result<D, E>,
) -> Result<Vec<D>, E> {
    let (mut found, mut indices) = (Vec::new(), indices.to_vec());
    for layer in 0..layers {
        let mut known = indices.iter().copied().peekable();
        let mut above = Vec::with_capacity(indices.len());
        while let Some(index) = known.next() {
            if known.next_if_eq(&(index ^ 1)).is_none() {
                found.push(node(layer, index ^ 1)?);
            }
            above.push(index >> 1);
        }
        indices = above;
    }
    Ok(found)
}

/// Checks that the indices are ascending and in range, that `rows` is a power of two, and that the cap fits. Returns the number
/// of layers up to the cap.
pub(crate) fn check_indices(indices: &[u64], rows: u64, cap: u64) -> Result<u32, MerkleError> {
    if indices.is_empty() {
        return Err(MerkleError::NoIndices);
    }
    let before = iter::once(None).chain(indices.iter().copied().map(Some));
    for (before, index) in before.zip(indices.iter().copied()) {
        match before {
            _ if index >= rows => return Err(MerkleError::IndexRange { index, rows }),
            Some(before) if before == index => return Err(MerkleError::DuplicateIndex(index)),
            Some(before) if before > index => return Err(MerkleError::UnsortedIndices { index, before }),
            _ => {}
        }
    }
    if !cap.is_power_of_two() || cap > rows {
        return Err(MerkleError::CapSize { rows, found: cap });
    }
    Ok(rows.ilog2() - cap.ilog2())
}
