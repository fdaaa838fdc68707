//! Long vectors in memory or in temporary files.

use crate::StarkError;
use proofmill_field::{Field, goldilocks::Goldilocks};
use proofmill_memory::{Pages, ScratchWords};
use proofmill_run::parallel;
use std::{
    borrow::Cow,
    io,
    ops::{DerefMut, Range},
    path::{Path, PathBuf},
};

/// Values, in memory or in a file.
pub(crate) enum Store {
    Memory(Box<dyn Buffer>),
    File(Scratch),
}

/// A vector of values in memory.
pub(crate) trait Buffer: DerefMut<Target = [Goldilocks]> + Send + Sync {}

impl Buffer for Pages<Goldilocks> {}
impl Buffer for Vec<Goldilocks> {}

/// Values in a temporary file in a folder.
pub(crate) struct Scratch {
    words: ScratchWords,
    folder: PathBuf,
}

impl Scratch {
    /// A file of `len` zeros.
    pub(crate) fn new(folder: &Path, len: usize) -> Result<Self, StarkError> {
        let error = |source| StarkError::Scratch { folder: folder.to_owned(), source };
        Ok(Self { words: ScratchWords::new(folder, len).map_err(error)?, folder: folder.to_owned() })
    }

    pub(crate) fn read(&self, first: usize, values: &mut [Goldilocks]) -> Result<(), StarkError> {
        // SAFETY: the words in the file are zeros, or those of elements: nothing else can write it.
        let words = unsafe { Goldilocks::as_words_mut(values) };
        self.words.read(first, words).map_err(|source| self.error(source))
    }

    pub(crate) fn write(&self, first: usize, values: &[Goldilocks]) -> Result<(), StarkError> {
        self.words.write(first, Goldilocks::as_words(values)).map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> StarkError {
        StarkError::Scratch { folder: self.folder.clone(), source }
    }
}

impl Store {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Memory(values) => values.len(),
            Self::File(file) => file.words.len(),
        }
    }

    /// Whether the values need no memory.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self, Self::File(_))
    }

    /// The values of a range. Values in a file are copied.
    pub(crate) fn at(&self, range: Range<usize>) -> Result<Cow<'_, [Goldilocks]>, StarkError> {
        match self {
            Self::Memory(values) => Ok(Cow::Borrowed(&values[range])),
            Self::File(file) => {
                let mut values = vec![Goldilocks::ZERO; range.len()];
                file.read(range.start, &mut values)?;
                Ok(Cow::Owned(values))
            }
        }
    }

    /// Copies the values from index `first` on.
    pub(crate) fn read(&self, first: usize, to: &mut [Goldilocks]) -> Result<(), StarkError> {
        match self {
            Self::Memory(values) => to.copy_from_slice(&values[first..][..to.len()]),
            Self::File(file) => file.read(first, to)?,
        }
        Ok(())
    }

    /// All values, for threads that change different parts. If the values are in a file, threads write changed values to `copy`, if there
    /// is one, and otherwise to the same file.
    pub(crate) fn whole<'a>(&'a mut self, copy: Option<&'a Scratch>) -> Piece<'a> {
        match self {
            Self::Memory(values) => Piece::Memory(values),
            Self::File(from) => Piece::File { from, to: copy.unwrap_or(from), range: 0..from.words.len() },
        }
    }

    /// Another file of the same length in the same folder, if the values are in a file.
    pub(crate) fn another(&self) -> Result<Option<Scratch>, StarkError> {
        match self {
            Self::Memory(_) => Ok(None),
            Self::File(file) => Scratch::new(&file.folder, file.words.len()).map(Some),
        }
    }
}

/// Consecutive values that one thread may change.
pub(crate) enum Piece<'a> {
    Memory(&'a mut [Goldilocks]),
    File { from: &'a Scratch, to: &'a Scratch, range: Range<usize> },
}

impl<'a> Piece<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Memory(values) => values.len(),
            Self::File { range, .. } => range.len(),
        }
    }

    /// Pieces of `len` values; the last may be shorter.
    pub(crate) fn cut(self, len: usize) -> Box<dyn Iterator<Item = Self> + 'a> {
        match self {
            Self::Memory(values) => Box::new(values.chunks_mut(len).map(Piece::Memory)),
            Self::File { from, to, range } => {
                let ranges = parallel::ranges(range.len(), len);
                let range = move |part: Range<usize>| range.start + part.start..range.start + part.end;
                Box::new(ranges.map(move |part| Piece::File { from, to, range: range(part) }))
            }
        }
    }

    pub(crate) fn read(&self, to: &mut [Goldilocks]) -> Result<(), StarkError> {
        match self {
            Self::Memory(values) => to.copy_from_slice(values),
            Self::File { from: file, range, .. } => file.read(range.start, to)?,
        }
        Ok(())
    }

    pub(crate) fn write(&mut self, from: &[Goldilocks]) -> Result<(), StarkError> {
        match self {
            Self::Memory(values) => values.copy_from_slice(from),
            Self::File { to, range, .. } => to.write(range.start, from)?,
        }
        Ok(())
    }
}
