//! Commitments to matrices.

use crate::{
    StarkError, VerifyError,
    error::unreachable_tree,
    proof::OpenedRows,
    security::Parameters,
    trace::{
        blinding::{Blinding, SALT},
        placement::{Matrix, Reader},
    },
};
use proofmill_cpu::Level;
use proofmill_field::goldilocks::Goldilocks;
use proofmill_hash::{Digest, TreeHash};
use proofmill_memory::Pages;
use proofmill_merkle::{MerkleError, Opening, RowMajor, Tree};
use proofmill_run::parallel;
use std::{
    iter,
    sync::{Mutex, PoisonError},
};

/// Matrices with the tree over their rows.
///
/// The leaves are the rows of the tallest matrices, side by side. Rows of a shorter matrix are hashed, too. Each of these hashes is
/// combined, from the right, with a node of the layer that has as many nodes as the matrix has rows. Plonky3's `MerkleTreeMmcs` does the
/// same.
pub(crate) struct Committed {
    /// The matrices. With blinding, each matrix is followed by its salts.
    pub(crate) matrices: Vec<Matrix>,
    is_salted: bool,
    /// The base-2 logarithm of the number of rows of the tallest matrix.
    log_rows: u32,
    log_cap: u32,
    /// The tree. For a divided trace it begins with the lowest layer that is known here.
    tree: Tree,
}

impl Committed {
    /// Hashes the rows of matrices with these numbers of columns, each with its salts if there is blinding. At least one matrix is given.
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

    /// As [`new`](Self::new), also for extensions that are computed part by part.
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
            [matrix] if let Some(rows) = matrix.kept() => {
                Tree::build(level, hash, &leaves(rows, matrix.columns))
                    .unwrap_or_else(|error| unreachable_tree(&error))
            }
            [matrix] if let Some(divided) = matrix.divided() => {
                divided.tree(level, hash, parameters.log_cap(matrix.log_rows))?
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

    /// The first matrix.
    pub(crate) fn into_matrix(self) -> Option<Matrix> {
        self.matrices.into_iter().next()
    }

    /// The base-2 logarithm of the number of rows of the tallest matrix.
    pub(crate) fn log_rows(&self) -> u32 {
        self.log_rows
    }

    /// The commitment.
    pub(crate) fn cap(&self) -> &[Digest] {
        self.tree.layer(self.tree.rows().ilog2() - self.log_cap)
    }

    /// The rows of queries, in the order of the queries. Queries are indices of rows of the tallest matrix, and may repeat.
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
        if let [matrix] = &*self.matrices
            && let Some(divided) = matrix.divided()
        {
            return divided.open(hash, &self.tree, 1 << self.log_cap, queries, &indices);
        }
        let siblings = self.tree.siblings(&indices, 1 << self.log_cap);
        let siblings = siblings.unwrap_or_else(|error| unreachable_tree(&error));
        let parts = self.matrices.iter().map(|matrix| {
            // The upper bits of a query are the index of its row in a shorter matrix.
            let queries: Vec<_> =
                queries.iter().map(|query| query >> (self.log_rows() - matrix.log_rows)).collect();
            matrix.rows(level, parameters.log_blowup, &queries)
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
    // A layer can only report errors of trees: an error of reading rows is kept here.
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

/// Calls `body` with the index of the first of some consecutive rows, and with these rows of all matrices of one height. All rows come at
/// once if the matrices are kept.
fn for_each_part(
    level: Level,
    log_blowup: u32,
    matrices: &[&Matrix],
    mut body: impl FnMut(usize, &[(&[Goldilocks], usize)]),
) -> Result<(), StarkError> {
    let mut readers = matrices.iter().map(|matrix| matrix.reader()).collect::<Result<Vec<_>, _>>()?;
    let rows = 1_usize << matrices[0].log_rows;
    // Computed matrices of one height have parts of equally many rows.
    let count = readers.iter().map(Reader::rows).min().unwrap_or(rows);
    for first in (0..rows).step_by(count) {
        let parts = readers
            .iter_mut()
            .zip(matrices)
            .map(|(reader, matrix)| Ok((reader.read(level, log_blowup, first, count)?, matrix.columns)));
        body(first, &parts.collect::<Result<Vec<_>, StarkError>>()?);
    }
    Ok(())
}

/// Calls `body` with the words of rows, their number of columns, and their digests, on all threads. A row consists of its rows in all
/// `parts`, side by side. Each part has its own number of columns.
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

/// The base-2 logarithm of the number of rows of the tallest matrix. A shape is this logarithm and the number of columns of a matrix.
fn tallest(shapes: &[(u32, usize)]) -> u32 {
    shapes.iter().map(|(log_rows, _)| *log_rows).max().unwrap_or(0)
}

/// The number of rows that a task hashes.
const HASHED: usize = 1 << 6;

fn leaves(values: &[Goldilocks], columns: usize) -> RowMajor<'_> {
    RowMajor::new(Goldilocks::as_words(values), columns).unwrap_or_else(|error| unreachable_tree(&error))
}

/// Checks the opened rows of queries against a commitment; the number of their values was checked before. `shapes` has the base-2 logarithm
/// of the number of rows, and the number of columns, of each matrix. Queries are indices of rows of the tallest matrix.
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
    // Rows that enter the tree above the cap would not be checked.
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

/// The base-2 logarithm of the number of rows of a matrix that can be committed to.
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
