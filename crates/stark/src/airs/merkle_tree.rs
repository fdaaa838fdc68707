//! Leaves of one Merkle tree.

use super::{
    bits::must_be_bit,
    execution::Execution,
    permutation::Permutation,
    poseidon2::{constrain, fill},
};
use crate::air::{Air, Row};
use proofmill_field::{Field, goldilocks::Goldilocks};
use proofmill_hash::{DIGEST, Digest};
use proofmill_merkle::Tree;
use proofmill_run::parallel;

/// Membership of leaves in a tree of [`Poseidon2<8>`](proofmill_hash::Poseidon2) whose leaves have four elements: the root is that of
/// [`proofmill_merkle::Tree`].
///
/// **Statement.** For each of `rows / period` paths, the prover knows an index below `2^depth` and a leaf that the tree with the public
/// root has at this index. Paths may be of equal leaves; a leaf is any four elements.
///
/// **Public values.** The four elements of the root.
///
/// **A row** is a permutation of Poseidon2, laid out as in [`airs::Poseidon2`](super::Poseidon2) (172 columns), with its digest (4), a
/// bit and an index. A path has a period of rows, the next power of two from `depth + 1` on: the leaf's hash, from the leaf up the
/// `depth` nodes, and idle rows. There are three periodic columns, for the leaf's row, the root's row and all rows of a period but its
/// last. There are 178 columns and 184 constraints of degree 3 at most; the number of rows is a multiple of the period, as both are
/// powers of two and shorter traces are refused.
///
/// Why this is enough:
/// * A leaf's row has zeros in the second half of its input, as the hash of four elements has, so that its digest is the leaf's.
/// * In each other row of a path, the bit is 0 or 1 and says which half of the input is the digest of the row before. The other half is the
///   sibling, which is free, as in every authentication path. The root's row of every path has the public digest.
/// * The index of a leaf's row is `2 index' + bit'` of the next row and so on, and that of the root's row is 0. So the leaf's index has
///   `depth` bits, at most 63, and is below p: the bits are its only representation.
/// * Idle rows go on in the same way above the root. They bind nothing, and nothing reads them: the constraint between rows does not hold
///   in the last row of a period. So it does not hold from the trace's last row to its first, either.
///
/// A node of a state of eight elements has no capacity; [`proofmill_hash::sponge`] says why trees are safe. Leaves cannot pass for nodes,
/// because the depth is the AIR's.
#[derive(Clone, Debug)]
pub struct MerkleTree {
    permutation: Permutation,
    depth: usize,
}

/// A leaf with its authentication path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MerklePath {
    /// The leaf's elements.
    pub leaf: [Goldilocks; DIGEST],
    /// The leaf's index; bit i is set if the node at height i is a right child.
    pub index: u64,
    /// The siblings, from the leaf's up.
    pub siblings: Vec<Digest>,
}

impl MerklePath {
    /// The path of a leaf in a tree that was built of these rows of four elements.
    ///
    /// # Panics
    /// If there is no leaf of this index.
    pub fn new(tree: &Tree, leaves: &[Goldilocks], index: u64) -> Self {
        let sibling = |height: u32| tree.layer(height)[(index as usize >> height) ^ 1];
        Self {
            leaf: leaves.as_chunks().0[index as usize],
            index,
            siblings: (0..tree.rows().ilog2()).map(sibling).collect(),
        }
    }
}

const STATE: usize = 2 * DIGEST;
const DIGEST_AT: usize = STATE + Permutation::committed(STATE);
const BIT: usize = DIGEST_AT + DIGEST;
const INDEX: usize = BIT + 1;
const COLUMNS: usize = INDEX + 1;

/// The periodic columns.
const IS_LEAF: usize = 0;
const IS_ROOT: usize = 1;
const IS_INNER: usize = 2;

impl MerkleTree {
    /// The AIR of trees with `2^depth` leaves.
    ///
    /// # Panics
    /// If the depth is not 1 to 63.
    pub fn new(depth: usize) -> Self {
        assert!((1..64).contains(&depth), "a depth of 1 to 63, not {depth}");
        Self { permutation: Permutation::new::<STATE>(), depth }
    }

    /// The number of rows of a path.
    pub fn period(&self) -> usize {
        (self.depth + 1).next_power_of_two()
    }

    /// The trace of paths. The public values are the root of the first path; paths to another root do not satisfy the constraints.
    ///
    /// # Panics
    /// If the number of paths is not a power of two, if a path has not as many siblings as the depth, or if its index is too large.
    pub fn trace(&self, paths: &[MerklePath]) -> Execution {
        assert!(paths.len().is_power_of_two(), "a power of two of paths, not {}", paths.len());
        for path in paths {
            assert_eq!(path.siblings.len(), self.depth, "as many siblings as the depth");
            assert!(path.index >> self.depth == 0, "leaf {} of 2^{}", path.index, self.depth);
        }
        let len = COLUMNS * self.period();
        let mut trace = vec![Goldilocks::ZERO; len * paths.len()];
        parallel::for_each(trace.chunks_exact_mut(len).zip(paths), |(rows, path)| self.fill(path, rows));
        let root = trace[self.depth * COLUMNS + DIGEST_AT..][..DIGEST].to_vec();
        Execution { trace, public_values: root }
    }

    fn fill(&self, path: &MerklePath, rows: &mut [Goldilocks]) {
        let mut digest = path.leaf;
        for (height, row) in rows.chunks_exact_mut(COLUMNS).enumerate() {
            // Height 0 is the leaf. Its row and idle rows have zero as sibling.
            let index = path.index >> height;
            let bit = height > 0 && path.index >> (height - 1) & 1 == 1;
            let sibling = height.checked_sub(1).and_then(|below| path.siblings.get(below));
            let sibling = sibling.copied().unwrap_or_default().0.map(Goldilocks::new);
            let (left, right) = ordered(digest, sibling, bit);
            let output = fill(&self.permutation, [left, right].as_flattened(), &mut row[..DIGEST_AT]);
            digest.copy_from_slice(&output[..DIGEST]);
            row[DIGEST_AT..BIT].copy_from_slice(&digest);
            row[BIT] = Goldilocks::new(bit.into());
            row[INDEX] = Goldilocks::new(index);
        }
    }
}

/// The children in their order.
fn ordered<T>(digest: T, sibling: T, digest_is_right: bool) -> (T, T) {
    if digest_is_right { (sibling, digest) } else { (digest, sibling) }
}

impl Air for MerkleTree {
    fn columns(&self) -> usize {
        COLUMNS
    }

    fn public_values(&self) -> usize {
        DIGEST
    }

    fn periodic_columns(&self) -> Vec<Vec<Goldilocks>> {
        let last = self.period() - 1;
        let column = |is_set: &dyn Fn(usize) -> bool| {
            (0..=last).map(|row| Goldilocks::new(is_set(row).into())).collect()
        };
        vec![column(&|row| row == 0), column(&|row| row == self.depth), column(&|row| row != last)]
    }

    fn constrain(&self, row: Row) {
        let output = constrain(&self.permutation, row);
        let [is_leaf, is_root, is_inner] = [IS_LEAF, IS_ROOT, IS_INNER].map(|column| row.periodic(column));
        let bit = row.column(BIT);
        must_be_bit(bit);
        (is_leaf * bit).must_vanish();
        for i in 0..DIGEST {
            let digest = row.column(DIGEST_AT + i);
            (digest - output[i]).must_vanish();
            (is_leaf * row.column(DIGEST + i)).must_vanish();
            (is_root * (digest - row.public_value(i))).must_vanish();
            let (left, right) = (row.next(i), row.next(DIGEST + i));
            (is_inner * (left + row.next(BIT) * (right - left) - digest)).must_vanish();
        }
        let (index, next) = (row.column(INDEX), row.next(INDEX));
        (is_inner * (next + next + row.next(BIT) - index)).must_vanish();
        (is_root * index).must_vanish();
    }
}
