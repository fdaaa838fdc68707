//! A file's bytes: mapped, or in memory.

use memmap2::Mmap;
use std::{fs::File, io, ops::Range, path::Path};

/// How many bytes around a touched page Linux maps along with it, if it has them in memory.
#[cfg(unix)]
const AROUND: usize = 1 << 16;

/// A file's bytes.
#[derive(Debug)]
pub(crate) enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps a regular file for reading.
    pub(crate) fn map(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        // SAFETY: the mapping is shared and read-only, and we never write the files that we read: output goes
        // to a new file that is renamed over the old name, which leaves this one's content alone. A program
        // that changes or truncates the file in place while we read it is outside what any reader of mappings
        // can defend against.
        unsafe { Mmap::map(&file) }.map(Self::Mapped)
    }

    pub(crate) fn owned(bytes: Vec<u8>) -> Self {
        Self::Owned(bytes)
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Owned(bytes) => bytes,
        }
    }

    /// Drops the pages that `range` touches, and those before it that came along with them, from this process's
    /// memory.
    pub(crate) fn release(&self, range: Range<usize>) {
        #[cfg(unix)]
        if let Self::Mapped(map) = self
            && range.start < range.end
            && range.end <= map.len()
        {
            let range = range.start.saturating_sub(AROUND)..range.end;
            // SAFETY: for a shared mapping of a file MADV_DONTNEED forgets the pages of this process; the next
            // access reads the same bytes from the file again, so that no reference sees a change.
            let advised = unsafe {
                map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, range.start, range.len())
            };
            // It is advice: memory stays in use a little longer if it is not taken.
            drop(advised);
        }
    }
}
