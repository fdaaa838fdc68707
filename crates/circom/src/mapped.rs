//! A file's bytes: mapped, or in memory.

use proofmill_simd::MappedFile;
use std::{io, ops::Range, path::Path};

/// A file's bytes.
#[derive(Debug)]
pub(crate) enum Bytes {
    Mapped(MappedFile),
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps a regular file for reading.
    pub(crate) fn map(path: &Path) -> io::Result<Self> {
        MappedFile::open(path).map(Self::Mapped)
    }

    pub(crate) fn owned(bytes: Vec<u8>) -> Self {
        Self::Owned(bytes)
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Mapped(file) => file.bytes(),
            Self::Owned(bytes) => bytes,
        }
    }

    /// [`MappedFile::release`] of a mapped file.
    pub(crate) fn release(&self, range: Range<usize>) {
        if let Self::Mapped(file) = self {
            file.release(range);
        }
    }
}
