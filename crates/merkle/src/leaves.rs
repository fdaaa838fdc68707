//! Sources of a tree's rows.

use crate::MerkleError;
use proofmill_cpu::Level;
use proofmill_files::MappedFile;
use proofmill_hash::{Digest, TreeHash};

/// Bytes of rows that are checked, hashed and, in a mapped file, released together.
const PIECE: usize = 1 << 20;

/// Rows are hashed together in multiples of this number, except for the last ones: it fills the 32 lanes of SVE's longest vectors.
const LEAST_ROWS: usize = 32;

/// The rows of a tree: a power of two of rows with the same number of words.
pub trait Leaves: Sync {
    /// The number of rows, a power of two.
    fn rows(&self) -> usize;

    /// The number of words of a row, at least one.
    fn columns(&self) -> usize;

    /// Computes the digests of `digests.len()` rows from row `first` on, on the calling thread. Building a tree hashes each row
    /// once, in ascending order on each thread.
    ///
    /// # Errors
    /// [`MerkleError::NotCanonical`].
    fn hash(
        &self,
        level: Level,
        hash: &dyn TreeHash,
        first: usize,
        digests: &mut [Digest],
    ) -> Result<(), MerkleError>;

    /// The words of one row.
    ///
    /// # Panics
    /// If there is no such row.
    fn row(&self, index: usize) -> Vec<u64>;
}

/// Rows stored contiguously.
#[derive(Clone, Copy, Debug)]
pub struct RowMajor<'a> {
    words: &'a [u64],
    columns: usize,
    /// The file that holds the words, if it is one.
    file: Option<&'a MappedFile>,
}

impl<'a> RowMajor<'a> {
    /// Rows of `columns` words.
    ///
    /// # Errors
    /// [`MerkleError::NoColumns`], [`MerkleError::RowSize`], [`MerkleError::RowCount`].
    pub fn new(words: &'a [u64], columns: usize) -> Result<Self, MerkleError> {
        check_shape(words.len() as u64, columns as u64, "words")?;
        Ok(Self { words, columns, file: None })
    }

    /// A file of little-endian words, which may be larger than memory: pages of hashed rows are released.
    ///
    /// # Errors
    /// [`MerkleError::NoColumns`], [`MerkleError::RowSize`], [`MerkleError::RowCount`].
    pub fn of_file(file: &'a MappedFile, columns: usize) -> Result<Self, MerkleError> {
        check_shape(file.bytes().len() as u64, (columns as u64).saturating_mul(8), "bytes")?;
        Ok(Self { words: file.words(), columns, file: Some(file) })
    }

    /// The words of `count` rows.
    fn words(&self, first: usize, count: usize) -> &'a [u64] {
        &self.words[first * self.columns..][..count * self.columns]
    }

    /// [`Leaves::hash`]; before their pages are released, `seen` receives the words and the index of their first row.
    pub(crate) fn hash_and(
        &self,
        level: Level,
        hash: &dyn TreeHash,
        first: usize,
        digests: &mut [Digest],
        seen: impl Fn(usize, &[u64]) -> Result<(), MerkleError>,
    ) -> Result<(), MerkleError> {
        let piece = (PIECE / (8 * self.columns)).next_multiple_of(LEAST_ROWS).max(LEAST_ROWS);
        for (i, digests) in digests.chunks_mut(piece).enumerate() {
            let first = first + i * piece;
            let words = self.words(first, digests.len());
            check_words(hash, words, |at| (first + at / self.columns, at % self.columns))?;
            hash.hash_rows(level, words, self.columns, digests);
            seen(first, words)?;
            if let Some(file) = self.file {
                let row = 8 * self.columns;
                file.release(first * row..(first + digests.len()) * row);
            }
        }
        Ok(())
    }
}

impl Leaves for RowMajor<'_> {
    fn rows(&self) -> usize {
        self.words.len() / self.columns
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn hash(
        &self,
        level: Level,
        hash: &dyn TreeHash,
        first: usize,
        digests: &mut [Digest],
    ) -> Result<(), MerkleError> {
        self.hash_and(level, hash, first, digests, |_, _| Ok(()))
    }

    fn row(&self, index: usize) -> Vec<u64> {
        self.words(index, 1).to_vec()
    }
}

/// Columns, each one word of every row.
#[derive(Clone, Copy, Debug)]
pub struct ColumnMajor<'a> {
    columns: &'a [&'a [u64]],
    rows: usize,
}

impl<'a> ColumnMajor<'a> {
    /// Row i has word i of every column.
    ///
    /// # Errors
    /// [`MerkleError::NoColumns`], [`MerkleError::ColumnLength`], [`MerkleError::RowCount`].
    pub fn new(columns: &'a [&'a [u64]]) -> Result<Self, MerkleError> {
        let rows = columns.first().ok_or(MerkleError::NoColumns)?.len();
        if let Some(column) = columns.iter().position(|column| column.len() != rows) {
            let found = columns[column].len();
            return Err(MerkleError::ColumnLength { column, expected: rows, found });
        }
        check_row_count(rows as u64)?;
        Ok(Self { columns, rows })
    }
}

impl Leaves for ColumnMajor<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns.len()
    }

    fn hash(
        &self,
        level: Level,
        hash: &dyn TreeHash,
        first: usize,
        digests: &mut [Digest],
    ) -> Result<(), MerkleError> {
        let columns: Vec<&[u64]> =
            self.columns.iter().map(|column| &column[first..][..digests.len()]).collect();
        for (column, words) in columns.iter().enumerate() {
            check_words(hash, words, |at| (first + at, column))?;
        }
        hash.hash_columns(level, &columns, digests);
        Ok(())
    }

    fn row(&self, index: usize) -> Vec<u64> {
        self.columns.iter().map(|column| column[index]).collect()
    }
}

/// Checks that `found` units are a power of two of rows; returns the number of rows.
fn check_shape(found: u64, row: u64, unit: &'static str) -> Result<(), MerkleError> {
    if row == 0 {
        return Err(MerkleError::NoColumns);
    }
    if !found.is_multiple_of(row) {
        return Err(MerkleError::RowSize { row, found, unit });
    }
    check_row_count(found / row)
}

pub(crate) fn check_row_count(rows: u64) -> Result<(), MerkleError> {
    if rows.is_power_of_two() { Ok(()) } else { Err(MerkleError::RowCount(rows)) }
}

/// Checks that words are valid for the hash; `place` maps a word's index to its row and column for errors.
pub(crate) fn check_words(
    hash: &dyn TreeHash,
    words: &[u64],
    place: impl Fn(usize) -> (usize, usize),
) -> Result<(), MerkleError> {
    let Some(modulus) = hash.modulus() else { return Ok(()) };
    // Without an early exit the loop has no branches and is vectorised.
    if words.iter().fold(false, |any, word| any | (*word >= modulus)) {
        let first = words.iter().copied().enumerate().find(|(_, word)| *word >= modulus);
        if let Some((at, value)) = first {
            let (row, column) = place(at);
            return Err(MerkleError::NotCanonical { row: row as u64, column: column as u64, value, modulus });
        }
    }
    Ok(())
}
