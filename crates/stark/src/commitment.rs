//! Committed matrices: extended, and hashed row by row.

use crate::{
    Memory, Run, StarkError, Trace, VerifyError,
    domain::{SHIFT, domain, reverse},
    error::unreachable_tree,
    proof::OpenedRows,
    security::Parameters,
    trace::{
        blinding::{Blinding, SALT},
        divided::Divided,
        store::Buffer,
        tiled::Tiled,
    },
};
use proofmill_cpu::Level;
use proofmill_field::{Field, Invert, goldilocks::Goldilocks};
use proofmill_hash::{Digest, TreeHash};
use proofmill_memory::Pages;
use proofmill_merkle::{MerkleError, Opening, RowMajor, Tree};
use proofmill_ntt::goldilocks::Order;
use proofmill_run::parallel;
use std::{
    env, iter,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Matrices with the tree over their rows.
///
/// Rows of the tallest matrices, side by side, are the leaves. Those of a shorter one are hashed, too, and combined with the nodes of
/// the layer that has as many, from the right: so does `MerkleTreeMmcs` of Plonky3.
pub(crate) struct Committed {
    /// With blinding, each is followed by its salts.
    pub(crate) matrices: Vec<Matrix>,
    is_salted: bool,
    /// Of the tallest.
    log_rows: u32,
    log_cap: u32,
    /// For a divided trace, from the layer on that is known here.
    tree: Tree,
}

/// A matrix of `2^log_rows` rows.
pub(crate) struct Matrix {
    pub(crate) rows: Rows,
    pub(crate) columns: usize,
    pub(crate) log_rows: u32,
}

impl Matrix {
    pub(crate) fn kept_of(values: impl Buffer + 'static, columns: usize) -> Self {
        let log_rows = (values.len() / columns).ilog2();
        Self { rows: Rows::Kept(Box::new(values)), columns, log_rows }
    }

    /// The extension of polynomials, computed part by part.
    pub(crate) fn computed_of(tiled: Tiled, log_blowup: u32) -> Self {
        let (columns, log_rows) = (tiled.columns(), tiled.log_rows() + log_blowup);
        Self { rows: Rows::Computed(Mutex::new(tiled)), columns, log_rows }
    }

    /// The rows that are kept.
    ///
    /// # Panics
    /// If they are not.
    pub(crate) fn kept(&self) -> &[Goldilocks] {
        match &self.rows {
            Rows::Kept(values) => values,
            Rows::Computed(_) | Rows::Divided(_) => unreachable!("only a trace is computed in parts"),
        }
    }
}

/// The rows of a matrix.
pub(crate) enum Rows {
    /// Stored contiguously; of extensions, in bit-reversed order.
    Kept(Box<dyn Buffer>),
    /// Of an extension, computed when they are needed.
    Computed(Mutex<Tiled>),
    /// Of an extension, in other processes.
    Divided(Divided),
}

/// The tiles of a matrix. No other thread holds the lock: it is for sharing keys between proofs.
pub(crate) fn lock(tiled: &Mutex<Tiled>) -> MutexGuard<'_, Tiled> {
    tiled.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Committed {
    /// Hashes the rows of matrices with these numbers of columns, each with its salts if there is
    /// blinding. At least one is given.
    pub(crate) fn new(
        level: Level,
        hash: &dyn TreeHash,
        parameters: &Parameters,
        matrices: impl IntoIterator<Item = (Pages<Goldilocks>, usize)>,
        blinding: &mut Option<Blinding>,
    ) -> Self {
        let matrices = matrices.into_iter().map(|(values, columns)| Matrix::kept_of(values, columns));
        let committed = Self::of_matrices(level, hash, parameters, matrices, blinding);
        committed.unwrap_or_else(|error| unreachable!("what is in memory can be read: {error}"))
    }

    /// As [`new`](Self::new), also of extensions that are computed part by part.
    pub(crate) fn of_matrices(
        level: Level,
        hash: &dyn TreeHash,
        parameters: &Parameters,
        matrices: impl IntoIterator<Item = Matrix>,
        blinding: &mut Option<Blinding>,
    ) -> Result<Self, StarkError> {
        // With blinding, leaves have salts: without them, a hash would confirm a guess of its row.
        let with_salts = matrices.into_iter().flat_map(|matrix| {
            let salts = blinding.as_mut().map(|blinding| blinding.salts(1 << matrix.log_rows));
            iter::once(matrix).chain(salts.map(|salts| Matrix::kept_of(salts, SALT)))
        });
        let matrices: Vec<_> = with_salts.collect();
        let tree = match &*matrices {
            [Matrix { rows: Rows::Kept(values), columns, .. }] => {
                Tree::build(level, hash, &leaves(values, *columns))
                    .unwrap_or_else(|error| unreachable_tree(&error))
            }
            [Matrix { rows: Rows::Divided(divided), log_rows, .. }] => {
                divided.tree(level, hash, parameters.log_cap(*log_rows))?
            }
            _ => tree_of_layers(level, hash, parameters.log_blowup, &matrices)?,
        };
        let log_rows = matrices.iter().map(|matrix| matrix.log_rows).max().unwrap_or(0);
        let (is_salted, log_cap) = (parameters.is_blinded(), parameters.log_cap(log_rows));
        Ok(Self { matrices, is_salted, log_rows, log_cap, tree })
    }

    /// The matrices without salts.
    fn unsalted(&self) -> impl Iterator<Item = &Matrix> {
        self.matrices.iter().step_by(if self.is_salted { 2 } else { 1 })
    }

    /// A matrix by its index, without salts.
    pub(crate) fn matrix(&self, index: usize) -> &Matrix {
        self.unsalted().nth(index).unwrap_or_else(|| unreachable!("a matrix that was not committed to"))
    }

    /// The matrices, and whether their next rows are opened, too.
    pub(crate) fn opened(&self, next: bool) -> impl Iterator<Item = (&Matrix, bool)> {
        self.unsalted().map(move |matrix| (matrix, next))
    }

    /// The rows of the first matrix.
    pub(crate) fn into_rows(self) -> Option<Rows> {
        self.matrices.into_iter().next().map(|matrix| matrix.rows)
    }

    /// The logarithm of the number of rows of the tallest matrix.
    pub(crate) fn log_rows(&self) -> u32 {
        self.log_rows
    }

    /// The commitment.
    pub(crate) fn cap(&self) -> &[Digest] {
        self.tree.layer(self.tree.rows().ilog2() - self.log_cap)
    }

    /// The rows of queries, in their order; indices, of rows of the tallest matrix, may repeat.
    pub(crate) fn open(
        &self,
        level: Level,
        hash: &dyn TreeHash,
        parameters: &Parameters,
        queries: &[usize],
    ) -> Result<OpenedRows, StarkError> {
        let mut indices = queries.to_vec();
        // One opening for all queries: siblings that they share are sent once.
        indices.sort_unstable();
        indices.dedup();
        if let [Matrix { rows: Rows::Divided(divided), .. }] = &*self.matrices {
            return divided.open(hash, &self.tree, 1 << self.log_cap, queries, &indices);
        }
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
                Rows::Divided(_) => unreachable!("a divided trace is committed to alone"),
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

/// The tree over matrices of several heights.
fn tree_of_layers(
    level: Level,
    hash: &dyn TreeHash,
    log_blowup: u32,
    matrices: &[Matrix],
) -> Result<Tree, StarkError> {
    let shapes: Vec<_> = matrices.iter().map(|matrix| (matrix.log_rows, matrix.columns)).collect();
    let log_rows = tallest(&shapes);
    let of_height = |height: u32| -> Vec<&Matrix> {
        matrices.iter().filter(|matrix| matrix.log_rows == log_rows - height).collect()
    };
    let layers = (0..=log_rows).map(|height| (height, of_height(height)));
    let layers = layers.filter(|(_, matrices)| !matrices.is_empty());
    let failed = Mutex::new(None);
    let layers = layers.map(|(height, matrices)| {
        let failed = &failed;
        let change = move |nodes: &mut [Digest]| {
            let hash_rows = |rows: &[u64], columns: usize, nodes: &mut [Digest]| match height {
                0 => hash.hash_rows(level, rows, columns, nodes),
                _ => add_rows(level, hash, rows, columns, nodes),
            };
            let hash_part = |first: usize, parts: &[(&[Goldilocks], usize)]| {
                let count = parts[0].0.len() / parts[0].1;
                side_by_side(parts, &mut nodes[first..][..count], hash_rows);
            };
            if let Err(error) = for_each_part(level, log_blowup, &matrices, hash_part) {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
            Ok(())
        };
        (height, change)
    });
    let tree = Tree::of_layers(level, hash, 1 << log_rows, layers);
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(tree.unwrap_or_else(|error| unreachable_tree(&error))),
        Some(error) => Err(error),
    }
}

/// Calls `body` with consecutive rows of matrices of one height, and the index of the first: all at once if they are kept.
fn for_each_part(
    level: Level,
    log_blowup: u32,
    matrices: &[&Matrix],
    mut body: impl FnMut(usize, &[(&[Goldilocks], usize)]),
) -> Result<(), StarkError> {
    let mut computed = Vec::new();
    for matrix in matrices {
        if let Rows::Computed(tiled) = &matrix.rows {
            let tiled = lock(tiled);
            let rows = Pages::new(tiled.part_len());
            computed.push((tiled, rows));
        }
    }
    let rows = 1_usize << matrices[0].log_rows;
    // Those of one height have parts of as many rows.
    let count = computed.first().map_or(rows, |(tiled, _)| tiled.part_len() / tiled.columns());
    for first in (0..rows).step_by(count) {
        for (tiled, rows) in &mut computed {
            tiled.part(level, log_blowup, first, rows)?;
        }
        let mut computed = computed.iter();
        let parts = matrices.iter().map(|matrix| {
            let values = match &matrix.rows {
                Rows::Kept(values) => &values[first * matrix.columns..][..count * matrix.columns],
                Rows::Computed(_) => computed.next().map_or(&[][..], |(_, rows)| rows),
                Rows::Divided(_) => unreachable!("a divided trace is committed to alone"),
            };
            (values, matrix.columns)
        });
        body(first, &parts.collect::<Vec<_>>());
    }
    Ok(())
}

/// Calls `body` with the words of rows, their number of columns, and their digests, on all threads. The rows have parts, each of so many
/// columns, one after the other.
fn side_by_side(
    parts: &[(&[Goldilocks], usize)],
    digests: &mut [Digest],
    body: impl Fn(&[u64], usize, &mut [Digest]) + Sync,
) {
    let width = parts.iter().map(|(_, columns)| columns).sum();
    let tasks = (0..).step_by(HASHED).zip(digests.chunks_mut(HASHED));
    parallel::for_each(tasks, |(first, digests)| {
        if let [(values, columns)] = parts {
            let rows = &values[first * columns..][..digests.len() * columns];
            return body(Goldilocks::as_words(rows), width, digests);
        }
        let mut rows = Vec::with_capacity(width * digests.len());
        for row in first..first + digests.len() {
            for (values, columns) in parts {
                rows.extend_from_slice(Goldilocks::as_words(&values[row * columns..][..*columns]));
            }
        }
        body(&rows, width, digests);
    });
}

/// Replaces nodes by the hashes of themselves and the digests of rows.
fn add_rows(level: Level, hash: &dyn TreeHash, rows: &[u64], columns: usize, nodes: &mut [Digest]) {
    let mut digests = vec![Digest::default(); nodes.len()];
    hash.hash_rows(level, rows, columns, &mut digests);
    let pairs: Vec<_> = nodes.iter().zip(&digests).flat_map(|(node, digest)| [*node, *digest]).collect();
    hash.hash_pairs(level, &pairs, nodes);
}

/// The greatest logarithm of a number of rows, which come in pairs with numbers of columns.
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
pub(crate) fn check_rows(
    level: Level,
    hash: &dyn TreeHash,
    parameters: &Parameters,
    cap: &[Digest],
    shapes: &[(u32, usize)],
    queries: &[usize],
    opened: &OpenedRows,
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
    // Rows of shorter matrices enter the tree at the layer with as many nodes.
    let mut added = Vec::new();
    for (height, log_rows) in (1..).zip((log_cap..log_rows).rev()) {
        if shapes.iter().any(|shape| shape.0 == log_rows) {
            added.push((height, rows_of_height(shapes, log_rows, queries, &opened.values)?));
        }
    }
    let add = |height: u32, indices: &[u64], nodes: &mut [Digest]| {
        let Some((_, rows)) = added.iter().find(|(of_rows, _)| *of_rows == height) else { return Ok(()) };
        if rows.indices != indices {
            return Err(MerkleError::Rejected);
        }
        add_rows(level, hash, &rows.words, rows.columns, nodes);
        Ok(())
    };
    let checked = opening.check_layers(level, hash, opening.rows, opening.columns, cap, add);
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
pub(crate) fn opening(
    shapes: &[(u32, usize)],
    queries: &[usize],
    opened: &OpenedRows,
) -> Result<Opening, VerifyError> {
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
    // A row can occur for several queries, most of all in a short matrix: its values must agree.
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

/// The extension of a trace, blinded if there is blinding: kept, or computed part by part.
pub(crate) fn extend_trace(
    Run { level, memory, scratch, .. }: Run<'_>,
    parameters: &Parameters,
    trace: &mut Trace<'_>,
    columns: usize,
    blinding: &mut Option<Blinding>,
) -> Result<Matrix, StarkError> {
    let log_blowup = parameters.log_blowup;
    Blinding::of_trace(blinding, trace, columns, |trace, columns| {
        if let Trace::Divided { len, ask, .. } = trace {
            let log_rows = (*len / columns).ilog2();
            let rows = Rows::Divided(Divided { ask: ask.clone(), columns, log_rows, log_blowup });
            return Ok(Matrix { rows, columns, log_rows: log_rows + log_blowup });
        }
        let tiled = match memory.unwrap_or(Memory::Fast) {
            Memory::Fast => {
                if let Some(mut values) = trace.take() {
                    let domain = domain((values.len() / columns).ilog2());
                    domain.extend_vector(level, &mut values, log_blowup, SHIFT, Order::BitReversed);
                    return Ok(Matrix::kept_of(values, columns));
                }
                let len = trace.len();
                let mut extension = Pages::new(len << log_blowup);
                trace.read_all(&mut extension[..len])?;
                extend_in_place(level, log_blowup, &mut extension, columns, Goldilocks::ONE);
                return Ok(Matrix::kept_of(extension, columns));
            }
            Memory::Balanced => Tiled::in_memory(level, trace, columns)?,
            Memory::Low => {
                let folder = scratch.map_or_else(env::temp_dir, Path::to_owned);
                Tiled::in_file(level, &folder, trace, columns)?
            }
        };
        Ok(Matrix::computed_of(tiled, log_blowup))
    })
}

/// As [`extend`], in place: the values are at the beginning of the memory of the extension.
pub(crate) fn extend_in_place(
    level: Level,
    log_blowup: u32,
    extension: &mut [Goldilocks],
    columns: usize,
    shift: Goldilocks,
) {
    // The transform takes the values' domain for the subgroup: the shift is relative to it.
    let ratio = SHIFT * shift.invert_vartime().expect("a shift is not zero");
    let log_rows = (extension.len() / columns).ilog2() - log_blowup;
    domain(log_rows).extend(level, extension, log_blowup, ratio, Order::BitReversed);
}

/// Computes the values that [`extend_in_place`] extended with shift 1, from the values on the first
/// part of the coset.
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
