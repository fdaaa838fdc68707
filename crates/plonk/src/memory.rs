//! The choice of vectors that are kept, and the storage of vectors.

use crate::PlonkError;
use proofmill_field::bn254::Fr;
use proofmill_memory::{Elements, Zeroed};
use proofmill_run::{Memory, Run};
use std::{
    io,
    ops::Deref,
    path::{Path, PathBuf},
};

/// The choice of the key's vectors that are kept, and the place of all vectors of the size of the
/// circuit, the prover's included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Storage {
    /// The vectors that a proving key keeps.
    pub(crate) memory: Memory,
    /// The folder for temporary files that hold vectors and decoded powers of tau. A file uses memory of the
    /// process only while the vector is in use. The files are unlinked, so none remains after the process.
    /// `None` stores vectors in memory.
    pub(crate) scratch: Option<PathBuf>,
}

impl From<Memory> for Storage {
    fn from(memory: Memory) -> Self {
        Self { memory, scratch: None }
    }
}

impl From<Run<'_>> for Storage {
    fn from(run: Run<'_>) -> Self {
        Self { memory: run.memory.unwrap_or_default(), scratch: run.scratch.map(Path::to_owned) }
    }
}

impl Storage {
    /// The minimum number of terms of a piece of a multi-scalar multiplication, which takes about as much
    /// memory as five vectors of its length.
    pub(crate) fn piece(&self) -> usize {
        if self.memory == Memory::Low { 1 << 21 } else { usize::MAX }
    }

    /// A vector of `len` zeros.
    pub(crate) fn scalars(&self, len: usize) -> Result<Scalars, PlonkError> {
        self.copy(&[], len)
    }

    /// A copy of the scalars, padded with zeros to `len`.
    ///
    /// # Panics
    /// If there are more than `len`.
    pub(crate) fn copy(&self, values: &[Fr], len: usize) -> Result<Scalars, PlonkError> {
        Elements::copy(self.scratch.as_deref(), values, len).map_err(|source| self.error(source))
    }

    /// Moves the elements to where vectors are stored.
    pub(crate) fn keep<T: Zeroed>(&self, elements: Vec<T>) -> Result<Elements<T>, PlonkError> {
        if self.scratch.is_none() {
            return Ok(elements.into());
        }
        let kept = Elements::copy(self.scratch.as_deref(), &elements, elements.len());
        let kept = kept.map_err(|source| self.error(source))?;
        kept.release(0..elements.len());
        Ok(kept)
    }

    fn error(&self, source: io::Error) -> PlonkError {
        PlonkError::Scratch { folder: self.scratch.clone().unwrap_or_default(), source }
    }
}

/// A vector of about the size of the circuit.
pub(crate) type Scalars = Elements<Fr>;

/// A borrowed vector, or one that is dropped after use.
#[derive(Debug)]
pub(crate) enum CowScalars<'a> {
    Borrowed(BorrowedScalars<'a>),
    Owned(Scalars),
}

/// A borrowed vector. If it is in a file, its pages are released when this is dropped.
#[derive(Debug)]
pub(crate) struct BorrowedScalars<'a>(&'a Scalars);

impl Deref for BorrowedScalars<'_> {
    type Target = Scalars;

    fn deref(&self) -> &Scalars {
        self.0
    }
}

impl Drop for BorrowedScalars<'_> {
    fn drop(&mut self) {
        self.0.release(0..self.0.len());
    }
}

impl<'a> From<&'a Scalars> for CowScalars<'a> {
    fn from(scalars: &'a Scalars) -> Self {
        Self::Borrowed(BorrowedScalars(scalars))
    }
}

impl Deref for CowScalars<'_> {
    type Target = Scalars;

    fn deref(&self) -> &Scalars {
        match self {
            Self::Borrowed(scalars) => scalars,
            Self::Owned(scalars) => scalars,
        }
    }
}

impl AsRef<[Fr]> for CowScalars<'_> {
    fn as_ref(&self) -> &[Fr] {
        self
    }
}
