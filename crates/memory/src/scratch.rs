//! Words in a temporary file, which are copied in and out.

use crate::elements::reserve;
use std::{fs::File, io, path::Path};

/// 64-bit words in a temporary file, zero at first. Unlike [`FileElements`](crate::FileElements) they are not mapped: the process needs
/// memory only for copies of them, and a disk that fails is an error, not a signal.
///
/// The file has no name (or loses it at once), so its space is freed when this is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct ScratchWords {
    file: File,
    len: usize,
}

impl ScratchWords {
    /// `len` words in a file in `folder`, whose disk space is allocated.
    ///
    /// # Errors
    /// The operating system's error: no such folder, no permission to write, no space for the whole file.
    ///
    /// # Panics
    /// If the length in bytes overflows `usize`.
    pub fn new(folder: &Path, len: usize) -> io::Result<Self> {
        let file = tempfile::tempfile_in(folder)?;
        reserve(&file, len.checked_mul(size_of::<u64>()).expect("less than the address space"))?;
        Ok(Self { file, len })
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies the words from index `first` on.
    ///
    /// # Errors
    /// The operating system's error.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn read(&self, first: usize, words: &mut [u64]) -> io::Result<()> {
        let offset = self.offset(first, words.len());
        // SAFETY: any bytes are words, and words have no padding.
        let bytes = unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) };
        read_at(&self.file, offset, bytes)
    }

    /// Replaces the words from index `first` on. Threads may write at the same time, to different places.
    ///
    /// # Errors
    /// The operating system's error.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn write(&self, first: usize, words: &[u64]) -> io::Result<()> {
        let offset = self.offset(first, words.len());
        // SAFETY: words have no padding.
        let bytes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) };
        write_at(&self.file, offset, bytes)
    }

    fn offset(&self, first: usize, count: usize) -> u64 {
        assert!(first <= self.len && count <= self.len - first, "{count} words from {first} on");
        (first * size_of::<u64>()) as u64
    }
}

#[cfg(unix)]
fn read_at(file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(unix)]
fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// Threads share a file's position.
#[cfg(not(unix))]
static POSITION: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(not(unix))]
fn read_at(mut file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    let _held = POSITION.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
    io::Read::read_exact(&mut file, bytes)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    let _held = POSITION.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
    io::Write::write_all(&mut file, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn words_are_those_that_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let words = ScratchWords::new(folder.path(), 1000).unwrap();
        assert_eq!((words.len(), words.is_empty()), (1000, false));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file has a name");
        words.write(990, &[7; 10]).unwrap();
        words.write(1, &[u64::MAX, 2]).unwrap();
        let mut copy = [9; 1000];
        words.read(0, &mut copy).unwrap();
        assert_eq!(copy[..4], [0, u64::MAX, 2, 0]);
        assert!(copy[4..990].iter().all(|word| *word == 0) && copy[990..] == [7; 10]);
        words.read(1000, &mut []).unwrap();
        for first in [991, usize::MAX] {
            assert!(catch_unwind(AssertUnwindSafe(|| words.write(first, &[0; 10]))).is_err());
            assert!(catch_unwind(AssertUnwindSafe(|| words.read(first, &mut [0; 10]))).is_err());
        }
    }

    #[test]
    fn what_finds_no_room_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let none = ScratchWords::new(&folder.path().join("none"), 1);
        assert_eq!(none.unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(ScratchWords::new(folder.path(), 1 << 50).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
