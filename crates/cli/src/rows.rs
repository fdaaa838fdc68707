//! Files of rows of elements, for `ntt` and `stark workload`.

use proofmill_console::Failure;
use proofmill_field::goldilocks::{Goldilocks, MODULUS};
use proofmill_files::{MappedFile, OutputFile};
use proofmill_merkle::{Leaves, MerkleError, RowMajor};
use std::{io::Write as _, path::Path};

/// Words that are checked, copied and released together, and those that are written together.
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

/// Writes elements as little-endian words, completely or not at all.
pub(crate) fn write_elements(path: &Path, elements: &[Goldilocks]) -> Result<(), Failure> {
    let write = || {
        let mut output = OutputFile::create(path)?;
        let mut bytes = vec![[0; Goldilocks::BYTES]; PIECE.min(elements.len())];
        for elements in elements.chunks(PIECE) {
            let bytes = &mut bytes[..elements.len()];
            bytes.iter_mut().zip(elements).for_each(|(bytes, element)| *bytes = element.to_bytes_le());
            output.write_all(bytes.as_flattened())?;
        }
        output.finish()
    };
    write().map_err(|source| Failure::io(path, source))
}
