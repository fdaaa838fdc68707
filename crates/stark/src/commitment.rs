//! Committed matrices: extended, and hashed row by row.

use crate::{
    StarkError, VerifyError,
    domain::{SHIFT, domain, reverse},
    error::unreachable_tree,
    proof::OpenedRows,
    security::Parameters,
    store::Buffer,
    tiled::Tiled,
};
use proofmill_cpu::Level;
use proofmill_field::{Invert, goldilocks::Goldilocks};
use proofmill_hash::TreeHash;
use proofmill_memory::Pages;
use proofmill_merkle::{Leaves, MerkleError, Opening, RowMajor, Tree};
use proofmill_parallel as parallel;
use proofmill_poly::goldilocks::Order;
use std::{
    borrow::Cow,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Matrices with the tree over their rows.
///
/// Rows of the tallest matrices, side by side, are the leaves. Those of a shorter one are hashed, too, and combined with the nodes of
/// the layer that has as many, from the right: so does `MerkleTreeMmcs` of Plonky3.
pub(crate) struct Committed<H: TreeHash> {
    pub(crate) matrices: Vec<Matrix>,
    log_cap: u32,
    tree: Tree<H>,
}

/// A matrix of `2^log_rows` rows.
pub(crate) struct Matrix {
    pub(crate) rows: Rows,
    pub(crate) columns: usize,
    pub(crate) log_rows: u32,
}

impl Matrix {
    fn kept_of(values: Box<dyn Buffer>, columns: usize) -> Self {
        let log_rows = (values.len() / columns).ilog2();
        Self { rows: Rows::Kept(values), columns, log_rows }
    }

    /// The rows that are kept.
    ///
    /// # Panics
    /// If they are not.
    pub(crate) fn kept(&self) -> &[Goldilocks] {
        match &self.rows {
            Rows::Kept(values) => values,
            Rows::Computed(_) => unreachable!("only a trace is computed in parts"),
        }
    }
}

/// The rows of a matrix.
pub(crate) enum Rows {
    /// Stored contiguously; of extensions, in bit-reversed order.
    Kept(Box<dyn Buffer>),
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
        values: Box<dyn Buffer>,
        columns: usize,
    ) -> Self {
        let leaves = leaves(&values, columns);
        let tree = Tree::build(level, &leaves).unwrap_or_else(|error| unreachable_tree(&error));
        Self::of_tree(parameters, vec![Matrix::kept_of(values, columns)], tree)
    }

    /// Hashes the rows of matrices with these numbers of columns; there is at least one.
    pub(crate) fn of_matrices(
        level: Level,
        parameters: &Parameters,
        matrices: impl IntoIterator<Item = (Pages<Goldilocks>, usize)>,
    ) -> Self {
        let kept = |(values, columns)| Matrix::kept_of(Box::new(values), columns);
        let matrices: Vec<_> = matrices.into_iter().map(kept).collect();
        let shapes: Vec<_> = matrices.iter().map(|matrix| (matrix.log_rows, matrix.columns)).collect();
        let log_rows = tallest(&shapes);
        let of_height = |height: u32| -> Vec<&Matrix> {
            matrices.iter().filter(|matrix| matrix.log_rows == log_rows - height).collect()
        };
        let layers = (0..=log_rows).map(|height| (height, of_height(height)));
        let layers = layers.filter(|(_, matrices)| !matrices.is_empty());
        let layers = layers.map(|(height, matrices)| {
            let change = move |nodes: &mut [H::Digest]| {
                let tasks = (0..).step_by(HASHED).zip(nodes.chunks_mut(HASHED));
                parallel::for_each(tasks, |(first, nodes)| {
                    let rows = side_by_side(&matrices, first, nodes.len());
                    let columns = rows.len() / nodes.len();
                    if height == 0 {
                        H::hash_rows(level, Goldilocks::as_words(&rows), columns, nodes);
                    } else {
                        add_rows::<H>(level, Goldilocks::as_words(&rows), columns, nodes);
                    }
                });
                Ok(())
            };
            (height, change)
        });
        let tree = Tree::of_layers(level, 1 << log_rows, layers);
        let tree = tree.unwrap_or_else(|error| unreachable_tree(&error));
        Self::of_tree(parameters, matrices, tree)
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
        let rows = Rows::Computed(Mutex::new(tiled));
        let matrix = Matrix { rows, columns, log_rows: tree.rows().ilog2() };
        Ok(Self::of_tree(parameters, vec![matrix], tree))
    }

    fn of_tree(parameters: &Parameters, matrices: Vec<Matrix>, tree: Tree<H>) -> Self {
        Self { matrices, log_cap: parameters.log_cap(tree.rows().ilog2()), tree }
    }

    /// The rows of the first matrix.
    pub(crate) fn into_rows(self) -> Option<Rows> {
        self.matrices.into_iter().next().map(|matrix| matrix.rows)
    }

    /// The logarithm of the number of rows of the tallest matrix.
    pub(crate) fn log_rows(&self) -> u32 {
        self.tree.rows().ilog2()
    }

    /// The commitment.
    pub(crate) fn cap(&self) -> &[H::Digest] {
        self.tree.layer(self.log_rows() - self.log_cap)
    }

    /// The rows of queries, in their order; indices, of rows of the tallest matrix, may repeat.
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
        let parts = self.matrices.iter().map(|matrix| {
            let queries: Vec<_> =
                queries.iter().map(|query| query >> (self.log_rows() - matrix.log_rows)).collect();
            match &matrix.rows {
                Rows::Kept(rows) => {
                    let row = |query: &usize| &rows[query * matrix.columns..][..matrix.columns];
                    Ok(queries.iter().flat_map(row).copied().collect())
                }
                Rows::Computed(tiled) => lock(tiled).rows(level, parameters.log_blowup, &queries),
            }
        });
        let parts = parts.collect::<Result<Vec<Vec<_>>, StarkError>>()?;
        let mut values = Vec::with_capacity(parts.iter().map(Vec::len).sum());
        for query in 0..queries.len() {
            for (part, matrix) in parts.iter().zip(&self.matrices) {
                values.extend_from_slice(&part[query * matrix.columns..][..matrix.columns]);
            }
        }
        Ok(OpenedRows { values, siblings })
    }
}

/// Rows of kept matrices, each row's parts one after the other.
fn side_by_side<'a>(matrices: &[&'a Matrix], first: usize, count: usize) -> Cow<'a, [Goldilocks]> {
    let rows = |matrix: &&'a Matrix| &matrix.kept()[first * matrix.columns..][..count * matrix.columns];
    if let [matrix] = matrices {
        return rows(matrix).into();
    }
    let columns: usize = matrices.iter().map(|matrix| matrix.columns).sum();
    let mut values = Vec::with_capacity(count * columns);
    for row in 0..count {
        for matrix in matrices {
            values.extend_from_slice(&rows(matrix)[row * matrix.columns..][..matrix.columns]);
        }
    }
    values.into()
}

/// Replaces nodes by the hashes of themselves and the digests of rows.
fn add_rows<H: TreeHash>(level: Level, rows: &[u64], columns: usize, nodes: &mut [H::Digest]) {
    let mut digests = vec![H::Digest::default(); nodes.len()];
    H::hash_rows(level, rows, columns, &mut digests);
    let pairs: Vec<_> = nodes.iter().zip(&digests).flat_map(|(node, digest)| [*node, *digest]).collect();
    H::hash_pairs(level, &pairs, nodes);
}

/// The greatest logarithm of a number of rows; the others are numbers of columns.
fn tallest(shapes: &[(u32, usize)]) -> u32 {
    shapes.iter().map(|(log_rows, _)| *log_rows).max().unwrap_or(0)
}

/// The rows that a task hashes.
const HASHED: usize = 1 << 6;

fn leaves(values: &[Goldilocks], columns: usize) -> RowMajor<'_> {
    RowMajor::new(Goldilocks::as_words(values), columns).unwrap_or_else(|error| unreachable_tree(&error))
}

/// Checks the opened rows of queries, whose number of values was checked, against a commitment to matrices with these logarithms of
/// numbers of rows and numbers of columns. Queries are rows of the tallest.
pub(crate) fn check_rows<H: TreeHash>(
    level: Level,
    parameters: &Parameters,
    cap: &[H::Digest],
    shapes: &[(u32, usize)],
    queries: &[usize],
    opened: &OpenedRows<H>,
) -> Result<(), VerifyError> {
    let log_rows = tallest(shapes);
    let log_cap = parameters.log_cap(log_rows);
    VerifyError::check_length("digests of a commitment", 1 << log_cap, cap.len())?;
    // What is added above the cap would not be checked.
    let least = shapes.iter().map(|(log_rows, _)| *log_rows).min().unwrap_or(0);
    if least < log_cap {
        return Err(VerifyError::Rejected("a matrix has fewer rows than its commitment has digests"));
    }
    let opening = opening(shapes, queries, opened)?;
    let mut added = Vec::new();
    for (height, log_rows) in (1..).zip((log_cap..log_rows).rev()) {
        if shapes.iter().any(|shape| shape.0 == log_rows) {
            added.push((height, rows_of_height(shapes, log_rows, queries, &opened.values)?));
        }
    }
    let add = |height: u32, indices: &[u64], nodes: &mut [H::Digest]| {
        let Some((_, rows)) = added.iter().find(|(of_rows, _)| *of_rows == height) else { return Ok(()) };
        if rows.indices != indices {
            return Err(MerkleError::Rejected);
        }
        add_rows::<H>(level, &rows.words, rows.columns, nodes);
        Ok(())
    };
    let checked = opening.check_layers(level, opening.rows, opening.columns, cap, add);
    checked.map_err(|error| match error {
        MerkleError::SiblingCount { expected, found } => VerifyError::Malformed {
            what: "digests of an opening",
            expected: expected as usize,
            found: found as usize,
        },
        _ => VerifyError::Rejected("rows are not those of the commitment"),
    })
}

/// The opened rows of queries in the tallest matrices as an opening, in which each row occurs once.
pub(crate) fn opening<H: TreeHash>(
    shapes: &[(u32, usize)],
    queries: &[usize],
    opened: &OpenedRows<H>,
) -> Result<Opening<H>, VerifyError> {
    let log_rows = tallest(shapes);
    let rows = rows_of_height(shapes, log_rows, queries, &opened.values)?;
    Ok(Opening {
        rows: 1 << log_rows,
        columns: rows.columns as u64,
        indices: rows.indices,
        values: rows.words,
        siblings: opened.siblings.clone(),
    })
}

/// Rows of ascending indices, each once.
struct RowsOfHeight {
    indices: Vec<u64>,
    columns: usize,
    words: Vec<u64>,
}

/// The rows of queries in the matrices of one height, side by side.
fn rows_of_height(
    shapes: &[(u32, usize)],
    log_rows: u32,
    queries: &[usize],
    values: &[Goldilocks],
) -> Result<RowsOfHeight, VerifyError> {
    let (tallest, width) = (tallest(shapes), shapes.iter().map(|(_, columns)| columns).sum());
    let row = |values: &[Goldilocks]| {
        let (mut row, mut rest) = (Vec::new(), values);
        for (of_matrix, columns) in shapes {
            let (part, others) = rest.split_at_checked(*columns).unwrap_or((rest, &[]));
            if *of_matrix == log_rows {
                row.extend(part.iter().map(|value| value.to_canonical()));
            }
            rest = others;
        }
        row
    };
    let indices = queries.iter().map(|query| (query >> (tallest - log_rows)) as u64);
    let mut rows: Vec<_> = indices.zip(values.chunks_exact(width).map(row)).collect();
    rows.sort_by_key(|(index, _)| *index);
    if rows.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1) {
        return Err(VerifyError::Rejected("one row has two values"));
    }
    rows.dedup_by_key(|(index, _)| *index);
    let columns = shapes.iter().filter(|shape| shape.0 == log_rows).map(|(_, columns)| columns).sum();
    let (indices, words): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    Ok(RowsOfHeight { indices, columns, words: words.into_iter().flatten().collect() })
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

/// Brings the values back that [`extend_in_place`] extended with shift 1, from the values on the first part of the coset.
pub(crate) fn restore(level: Level, values: &mut [Goldilocks], columns: usize) {
    reverse_rows(values, columns);
    let domain = domain((values.len() / columns).ilog2());
    domain.coset_intt(level, values, SHIFT);
    domain.ntt(level, values, Order::Natural);
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
