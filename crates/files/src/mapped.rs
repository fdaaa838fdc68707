//! Mapped files, whose pages can be released after they are read; or the same bytes in memory.

use crate::stream::read_more;
use memmap2::Mmap;
#[cfg(unix)]
use proofmill_memory::MAPPED_AROUND;
use std::{
    fs::File,
    io::{self, Read},
    ops::{Deref, Range},
    path::Path,
};

/// A file's bytes, mapped for reading.
///
/// Other programs must not change or truncate the file in place while it is mapped; no reader of mappings can defend against
/// that, but see [`end_when_a_map_is_truncated`](crate::end_when_a_map_is_truncated). Replacing the file by renaming another
/// over it is harmless.
#[derive(Debug)]
pub struct MappedFile(Mmap);

impl MappedFile {
    /// Maps a regular file.
    ///
    /// # Errors
    /// The operating system's error, and [`io::ErrorKind::InvalidInput`] for anything but a regular file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        // SAFETY: the mapping is read-only, and Proofmill never writes to files in place: output goes to a new file that is
        // renamed over the old name, which leaves the mapped one unchanged. The type's documentation forbids other programs to
        // do so.
        unsafe { Mmap::map(&file) }.map(Self)
    }

    /// All bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The file as little-endian 64-bit words; up to seven bytes at the end are left out.
    pub fn words(&self) -> &[u64] {
        const { assert!(cfg!(target_endian = "little"), "words are read as they lie in memory") };
        // SAFETY: any eight bytes are a valid `u64`.
        let (before, words, _) = unsafe { self.0.align_to() };
        assert!(before.is_empty(), "a mapping begins on a page");
        words
    }

    /// Removes the pages of a range of bytes, and those before it that were mapped along with them, from this process's memory.
    /// They are read from the file again when they are next used. Ranges out of bounds have no effect.
    #[cfg_attr(not(unix), expect(unused_variables, reason = "pages are released on Unix only"))]
    pub fn release(&self, range: Range<usize>) {
        #[cfg(unix)]
        if range.start < range.end && range.end <= self.0.len() {
            let range = range.start.saturating_sub(MAPPED_AROUND)..range.end;
            // SAFETY: in a shared mapping of a file, MADV_DONTNEED only removes pages from this process. The next access reads
            // the same bytes from the file again, so no reference sees a change.
            let advised = unsafe {
                self.0.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, range.start, range.len())
            };
            // If the advice is refused, memory only stays in use longer.
            drop(advised);
        }
    }
}

/// A file's bytes: mapped, or in memory.
#[derive(Debug)]
pub enum FileBytes {
    /// The bytes of a mapped file.
    Mapped(MappedFile),
    /// Bytes in memory.
    Owned(Vec<u8>),
}

impl FileBytes {
    /// [`MappedFile::open`].
    ///
    /// # Errors
    /// As [`MappedFile::open`].
    pub fn open(path: &Path) -> io::Result<Self> {
        MappedFile::open(path).map(Self::Mapped)
    }

    /// Maps a regular file, or reads a pipe or a device. `most` gives the most bytes to read for the first ones, up to `first` of
    /// them; a regular file's length is not limited.
    ///
    /// # Errors
    /// The operating system's error, and [`io::ErrorKind::FileTooLarge`].
    pub fn open_or_read(path: &Path, first: u64, most: impl FnOnce(&[u8]) -> u64) -> io::Result<Self> {
        if !std::fs::metadata(path)?.is_file() {
            let file = File::open(path)?;
            let mut bytes = Vec::new();
            (&file).take(first).read_to_end(&mut bytes)?;
            let most = most(&bytes);
            read_more(file, &mut bytes, most)?;
            return Ok(Self::Owned(bytes));
        }
        Self::open(path)
    }

    /// [`MappedFile::release`] for a mapped file; no effect on bytes in memory.
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
