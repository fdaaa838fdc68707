//! Committed matrices: extended, and hashed row by row.

use crate::{
    StarkError, VerifyError,
    domain::{SHIFT, domain},
    error::unreachable_tree,
    proof::OpenedRows,
    security::Parameters,
};
use proofmill_cpu::Level;
use proofmill_field::{Invert, goldilocks::Goldilocks};
use proofmill_hash::TreeHash;
use proofmill_memory::Pages;
use proofmill_merkle::{MerkleError, Opening, RowMajor, Tree};
use proofmill_poly::goldilocks::Order;

/// A matrix of `2^log_rows` rows with the tree over them.
pub(crate) struct Committed<H: TreeHash> {
    /// Rows, stored contiguously; of extensions, in bit-reversed order.
    pub(crate) values: Pages<Goldilocks>,
    pub(crate) columns: usize,
    log_cap: u32,
    tree: Tree<H>,
}

impl<H: TreeHash> Committed<H> {
    /// Hashes the rows of a matrix, whose number is a power of two.
    pub(crate) fn new(
        level: Level,
        parameters: &Parameters,
        values: Pages<Goldilocks>,
        columns: usize,
    ) -> Self {
        let leaves = leaves(&values, columns);
        let tree = Tree::build(level, &leaves).unwrap_or_else(|error| unreachable_tree(&error));
        let log_cap = parameters.log_cap(tree.rows().ilog2());
        Self { values, columns, log_cap, tree }
    }

    /// The commitment.
    pub(crate) fn cap(&self) -> &[H::Digest] {
        self.tree.layer(self.tree.rows().ilog2() - self.log_cap)
    }

    /// The rows of queries, in their order; indices may repeat.
    pub(crate) fn open(&self, queries: &[usize]) -> OpenedRows<H> {
        let mut indices = queries.to_vec();
        indices.sort_unstable();
        indices.dedup();
        let leaves = leaves(&self.values, self.columns);
        let opening = self
            .tree
            .open(&leaves, &indices, 1 << self.log_cap)
            .unwrap_or_else(|error| unreachable_tree(&error));
        let row = |query: &usize| &self.values[query * self.columns..][..self.columns];
        OpenedRows { values: queries.iter().flat_map(row).copied().collect(), siblings: opening.siblings }
    }
}

fn leaves(values: &[Goldilocks], columns: usize) -> RowMajor<'_> {
    RowMajor::new(Goldilocks::as_words(values), columns).unwrap_or_else(|error| unreachable_tree(&error))
}

/// Checks the opened rows of queries, whose number of values was checked, against a commitment.
pub(crate) fn check_rows<H: TreeHash>(
    level: Level,
    parameters: &Parameters,
    cap: &[H::Digest],
    log_rows: u32,
    columns: usize,
    queries: &[usize],
    opened: &OpenedRows<H>,
) -> Result<(), VerifyError> {
    let log_cap = parameters.log_cap(log_rows);
    VerifyError::check_length("digests of a commitment", 1 << log_cap, cap.len())?;
    let mut rows: Vec<_> = queries.iter().zip(opened.values.chunks_exact(columns)).collect();
    rows.sort_by_key(|(index, _)| **index);
    if rows.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1) {
        return Err(VerifyError::Rejected("one row has two values"));
    }
    rows.dedup_by_key(|(index, _)| *index);
    let opening = Opening::<H> {
        rows: 1 << log_rows,
        columns: columns as u64,
        indices: rows.iter().map(|(index, _)| **index as u64).collect(),
        values: rows.iter().flat_map(|(_, row)| *row).map(|value| value.to_canonical()).collect(),
        siblings: opened.siblings.clone(),
    };
    opening.check(level, 1 << log_rows, columns as u64, cap).map_err(|error| match error {
        MerkleError::SiblingCount { expected, found } => VerifyError::Malformed {
            what: "digests of an opening",
            expected: expected as usize,
            found: found as usize,
        },
        _ => VerifyError::Rejected("rows are not those of the commitment"),
    })
}

/// The values on the coset of extensions, in bit-reversed order, of the polynomials whose values on `shift` times the subgroup, in
/// natural order, are columns of a matrix.
pub(crate) fn extend(
    level: Level,
    log_blowup: u32,
    values: &[Goldilocks],
    columns: usize,
    shift: Goldilocks,
) -> Pages<Goldilocks> {
    let mut extension = Pages::new(values.len() << log_blowup);
    extension[..values.len()].copy_from_slice(values);
    let ratio = SHIFT * shift.invert_vartime().expect("a shift is not zero");
    let log_rows = (values.len() / columns).ilog2();
    domain(log_rows).extend(level, &mut extension, log_blowup, ratio, Order::BitReversed);
    extension
}

/// The logarithm of the number of rows of a matrix that can be committed to.
pub(crate) fn check_shape(
    what: &'static str,
    values: usize,
    columns: usize,
    parameters: &Parameters,
) -> Result<u32, StarkError> {
    let most = parameters.most_log_rows();
    let rows = values / columns.max(1);
    if rows * columns != values || !rows.is_power_of_two() || columns == 0 || rows.ilog2() > most {
        return Err(StarkError::Shape { what, columns, most, found: values });
    }
    Ok(rows.ilog2())
}
