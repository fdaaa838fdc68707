//! Files of rows of 64-bit words, for `merkle` and `ntt`.

use proofmill_console::Failure;
use proofmill_field::goldilocks::{Goldilocks, MODULUS};
use proofmill_memory::MappedFile;
use proofmill_merkle::{Leaves, MerkleError, RowMajor};
use std::path::Path;

/// Words that are checked, copied and released together.
const PIECE: usize = 1 << 17;

/// A mapped file of rows of little-endian words, stored contiguously.
pub(crate) struct RowFile<'a> {
    path: &'a Path,
    file: MappedFile,
    columns: usize,
}

impl<'a> RowFile<'a> {
    /// Maps a file of rows of `columns` words, without checks.
    pub(crate) fn open(path: &'a Path, columns: u64) -> Result<Self, Failure> {
        let file = MappedFile::open(path).map_err(|source| Failure::io(path, source))?;
        // A row longer than the address space is longer than any file.
        Ok(Self { path, file, columns: usize::try_from(columns).unwrap_or(usize::MAX) })
    }

    /// The rows; their number must be a power of two.
    pub(crate) fn rows(&self) -> Result<RowMajor<'_>, Failure> {
        RowMajor::of_file(&self.file, self.columns).map_err(|error| Failure::about(self.path, error))
    }

    /// Copies the rows. Their number must be a power of two, and words must be below p. Pages are released after they are
    /// copied.
    pub(crate) fn elements(&self) -> Result<Vec<Goldilocks>, Failure> {
        let columns = self.rows()?.columns();
        let words = self.file.words();
        let mut elements = Vec::new();
        elements.try_reserve_exact(words.len()).map_err(|_| {
            Failure::about(self.path, format!("expected memory for {} bytes", size_of_val(words)))
        })?;
        for words in words.chunks(PIECE) {
            let first = elements.len();
            let piece = Goldilocks::from_words(words).map_err(|index| {
                let (row, column) = ((first + index) / columns, (first + index) % columns);
                let (row, column, value) = (row as u64, column as u64, words[index]);
                let error = MerkleError::NotCanonical { row, column, value, modulus: MODULUS };
                Failure::about(self.path, error)
            })?;
            elements.extend_from_slice(piece);
            self.file.release(Goldilocks::BYTES * first..Goldilocks::BYTES * elements.len());
        }
        Ok(elements)
    }
}
