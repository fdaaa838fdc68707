//! Committed matrices: extended, and hashed row by row.

use crate::{
    StarkError, VerifyError,
    domain::{SHIFT, domain, reverse},
    error::unreachable_tree,
    proof::OpenedRows,
    security::Parameters,
    tiled::Tiled,
};
use proofmill_cpu::Level;
use proofmill_field::{Invert, goldilocks::Goldilocks};
use proofmill_hash::TreeHash;
use proofmill_memory::Pages;
use proofmill_merkle::{Leaves, MerkleError, Opening, RowMajor, Tree};
use proofmill_parallel as parallel;
use proofmill_poly::goldilocks::Order;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A matrix of `2^log_rows` rows with the tree over them.
pub(crate) struct Committed<H: TreeHash> {
    pub(crate) rows: Rows,
    pub(crate) columns: usize,
    log_cap: u32,
    tree: Tree<H>,
}

/// The rows of a matrix.
pub(crate) enum Rows {
    /// Stored contiguously; of extensions, in bit-reversed order.
    Kept(Pages<Goldilocks>),
    /// Of an extension, computed when they are needed.
    Computed(Mutex<Tiled>),
}

/// No other thread has it: the lock is for sharing keys between proofs.
pub(crate) fn lock(tiled: &Mutex<Tiled>) -> MutexGuard<'_, Tiled> {
    tiled.lock().unwrap_or_else(PoisonError::into_inner)
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
        Self::of_tree(parameters, Rows::Kept(values), columns, tree)
    }

    /// Hashes the rows of an extension part by part.
    pub(crate) fn tiled(level: Level, parameters: &Parameters, mut tiled: Tiled) -> Result<Self, StarkError> {
        let columns = tiled.columns();
        let log_blowup = parameters.log_blowup;
        let rows = tiled.tiles() << (tiled.log_tile_rows() + log_blowup);
        let mut hashed = Ok(());
        let tree = Tree::of_digests(level, rows, |digests| {
            hashed = tiled.for_each_part(level, log_blowup, |first, values| {
                let (leaves, count) = (leaves(values, columns), values.len() / columns);
                let digests = digests[first..][..count].chunks_mut(HASHED);
                parallel::for_each((0..).step_by(HASHED).zip(digests), |(first, digests)| {
                    let hashed = leaves.hash::<H>(level, first, digests);
                    hashed.unwrap_or_else(|error| unreachable_tree(&error));
                });
            });
            Ok(())
        });
        let tree = tree.unwrap_or_else(|error| unreachable_tree(&error));
        hashed?;
        Ok(Self::of_tree(parameters, Rows::Computed(Mutex::new(tiled)), columns, tree))
    }

    fn of_tree(parameters: &Parameters, rows: Rows, columns: usize, tree: Tree<H>) -> Self {
        Self { rows, columns, log_cap: parameters.log_cap(tree.rows().ilog2()), tree }
    }

    /// The rows that are kept.
    ///
    /// # Panics
    /// If they are not.
    pub(crate) fn kept(&self) -> &[Goldilocks] {
        match &self.rows {
            Rows::Kept(values) => values,
            Rows::Computed(_) => unreachable!("only the trace is computed in parts"),
        }
    }

    /// What rows are computed of, if they are.
    pub(crate) fn into_computed(self) -> Option<Tiled> {
        match self.rows {
            Rows::Kept(_) => None,
            Rows::Computed(tiled) => Some(tiled.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// The logarithm of the number of rows.
    pub(crate) fn log_rows(&self) -> u32 {
        self.tree.rows().ilog2()
    }

    /// The commitment.
    pub(crate) fn cap(&self) -> &[H::Digest] {
        self.tree.layer(self.log_rows() - self.log_cap)
    }

    /// The rows of queries, in their order; indices may repeat.
    pub(crate) fn open(
        &self,
        level: Level,
        parameters: &Parameters,
        queries: &[usize],
    ) -> Result<OpenedRows<H>, StarkError> {
        let mut indices = queries.to_vec();
        indices.sort_unstable();
        indices.dedup();
        let siblings = self.tree.siblings(&indices, 1 << self.log_cap);
        let siblings = siblings.unwrap_or_else(|error| unreachable_tree(&error));
        let values = match &self.rows {
            Rows::Kept(rows) => {
                let row = |query: &usize| &rows[query * self.columns..][..self.columns];
                queries.iter().flat_map(row).copied().collect()
            }
            Rows::Computed(tiled) => lock(tiled).rows(level, parameters.log_blowup, queries)?,
        };
        Ok(OpenedRows { values, siblings })
    }
}

/// The rows that a task hashes.
const HASHED: usize = 1 << 6;

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
    let opening = opening(log_rows, columns, queries, opened)?;
    opening.check(level, 1 << log_rows, columns as u64, cap).map_err(|error| match error {
        MerkleError::SiblingCount { expected, found } => VerifyError::Malformed {
            what: "digests of an opening",
            expected: expected as usize,
            found: found as usize,
        },
        _ => VerifyError::Rejected("rows are not those of the commitment"),
    })
}

/// The opened rows of queries as an opening, in which each row occurs once.
pub(crate) fn opening<H: TreeHash>(
    log_rows: u32,
    columns: usize,
    queries: &[usize],
    opened: &OpenedRows<H>,
) -> Result<Opening<H>, VerifyError> {
    let mut rows: Vec<_> = queries.iter().zip(opened.values.chunks_exact(columns)).collect();
    rows.sort_by_key(|(index, _)| **index);
    if rows.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1) {
        return Err(VerifyError::Rejected("one row has two values"));
    }
    rows.dedup_by_key(|(index, _)| *index);
    Ok(Opening {
        rows: 1 << log_rows,
        columns: columns as u64,
        indices: rows.iter().map(|(index, _)| **index as u64).collect(),
        values: rows.iter().flat_map(|(_, row)| *row).map(|value| value.to_canonical()).collect(),
        siblings: opened.siblings.clone(),
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
    extend_in_place(level, log_blowup, &mut extension, columns, shift);
    extension
}

/// As [`extend`] of values at the beginning of the memory of the extension.
pub(crate) fn extend_in_place(
    level: Level,
    log_blowup: u32,
    extension: &mut [Goldilocks],
    columns: usize,
    shift: Goldilocks,
) {
    let ratio = SHIFT * shift.invert_vartime().expect("a shift is not zero");
    let log_rows = (extension.len() / columns).ilog2() - log_blowup;
    domain(log_rows).extend(level, extension, log_blowup, ratio, Order::BitReversed);
}

/// The values on the whole coset of extensions from those on its first part, both in bit-reversed order.
pub(crate) fn extend_coset(
    level: Level,
    log_blowup: u32,
    mut values: Vec<Goldilocks>,
    columns: usize,
) -> Pages<Goldilocks> {
    reverse_rows(&mut values, columns);
    extend(level, log_blowup, &values, columns, SHIFT)
}

/// Brings rows from bit-reversed to natural order.
fn reverse_rows(values: &mut [Goldilocks], columns: usize) {
    let rows = values.len() / columns;
    for row in 0..rows {
        let other = reverse(row, rows.ilog2());
        if row < other {
            let (low, high) = values.split_at_mut(other * columns);
            low[row * columns..][..columns].swap_with_slice(&mut high[..columns]);
        }
    }
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
