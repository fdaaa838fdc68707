//! Files mapped into memory, read once and given back behind; or their bytes from elsewhere.

use memmap2::Mmap;
use std::{
    fs::File,
    io,
    ops::{Deref, Range},
    path::Path,
};

/// How many bytes around a touched page Linux maps along with it, if it has them in memory: 64 KiB, or up to 2 MiB where
/// the page cache holds them in one piece.
#[cfg(unix)]
pub(crate) const AROUND: usize = 1 << 21;

/// A file's bytes, mapped for reading.
///
/// A program that changes or truncates the file in place meanwhile is outside what any reader of mappings can defend
/// against; a file that is replaced by renaming another over its name is not affected.
#[derive(Debug)]
pub struct MappedFile(Mmap);

impl MappedFile {
    /// Maps a regular file.
    ///
    /// # Errors
    /// What the system says, and [`io::ErrorKind::InvalidInput`] for what is no regular file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        // SAFETY: the mapping is shared and read-only, and we never write the files that we read: output goes
        // to a new file that is renamed over the old name, which leaves this one's content alone. Of programs
        // that do otherwise the type's documentation speaks.
        unsafe { Mmap::map(&file) }.map(Self)
    }

    /// All of them.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Little-endian words of eight bytes; up to seven bytes at the end belong to none.
    pub fn words(&self) -> &[u64] {
        const { assert!(cfg!(target_endian = "little"), "words are read as they lie in memory") };
        // SAFETY: any bytes are a word, and a mapping begins on a page, so that the slice in the middle has all
        // that there is; were it not so, `align_to` would still be sound.
        let (before, words, _) = unsafe { self.0.align_to() };
        assert!(before.is_empty(), "a mapping begins on a page");
        words
    }

    /// Drops the pages that a range of bytes touches, and those before it that came along with them, from this
    /// process's memory: they are read from the file again when they are used again. Ranges that do not lie in the
    /// file are left alone.
    pub fn release(&self, range: Range<usize>) {
        #[cfg(unix)]
        if range.start < range.end && range.end <= self.0.len() {
            let range = range.start.saturating_sub(AROUND)..range.end;
            // SAFETY: for a shared mapping of a file MADV_DONTNEED forgets the pages of this process; the next
            // access reads the same bytes from the file again, so that no reference sees a change.
            let advised = unsafe {
                self.0.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, range.start, range.len())
            };
            // It is advice: memory stays in use a little longer if it is not taken.
            drop(advised);
        }
    }
}

/// A file's bytes: mapped, or in memory.
#[derive(Debug)]
pub enum FileBytes {
    /// Of a file that is open.
    Mapped(MappedFile),
    /// From elsewhere.
    Owned(Vec<u8>),
}

impl FileBytes {
    /// [`MappedFile::open`].
    ///
    /// # Errors
    /// As there.
    pub fn open(path: &Path) -> io::Result<Self> {
        MappedFile::open(path).map(Self::Mapped)
    }

    /// [`MappedFile::release`] of a mapped file.
    pub fn release(&self, range: Range<usize>) {
        if let Self::Mapped(file) = self {
            file.release(range);
        }
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(file) => file.bytes(),
            Self::Owned(bytes) => bytes,
        }
    }
}
