//! Long vectors, in memory or in temporary files.

use memmap2::{MmapMut, MmapOptions};
use std::{
    fmt,
    fs::File,
    io,
    marker::PhantomData,
    ops::{Deref, DerefMut, Range},
    path::Path,
};

/// Types for which all-zero bytes are a valid value.
///
/// # Safety
/// All-zero bytes must be a valid value of the type.
pub unsafe trait Zeroed: Copy {}

// SAFETY: zero bytes are the integer 0.
unsafe impl Zeroed for u8 {}
// SAFETY: zero bytes are the integer 0.
unsafe impl Zeroed for u64 {}
// SAFETY: an array's bytes are those of its elements, whose type promises it.
unsafe impl<T: Zeroed, const N: usize> Zeroed for [T; N] {}

/// The most bytes that Linux maps around a page when it is first accessed, if they are in the page cache: 64 KiB, or up to 2
/// MiB where the cache holds them as one large page.
pub const MAPPED_AROUND: usize = 1 << 21;

/// A vector in memory or in a mapped temporary file. Elements in a file need no memory while they are not used: the operating
/// system writes them out when it needs memory, and [`release`](Self::release) removes them from this process at once.
///
/// The file has no name (or loses it at once), so its space is freed when this is dropped or the process ends, however it ends.
pub enum Elements<T> {
    /// Elements in memory.
    Memory(Vec<T>),
    /// Elements in a file.
    File(FileElements<T>),
}

/// Elements in a temporary file, mapped.
pub struct FileElements<T> {
    map: MmapMut,
    len: usize,
    elements: PhantomData<[T]>,
}

impl<T: Zeroed> Elements<T> {
    /// `len` elements of zero bytes, in memory or in a file in `folder`.
    ///
    /// # Errors
    /// The operating system's error: no such folder, no permission to write, no space for the whole file.
    ///
    /// # Panics
    /// If the length in bytes overflows `usize`.
    pub fn zeroed(folder: Option<&Path>, len: usize) -> io::Result<Self> {
        Self::copy(folder, &[], len)
    }

    /// A copy of `elements`, followed by elements of zero bytes up to length `len`.
    ///
    /// # Errors
    /// As [`Self::zeroed`].
    ///
    /// # Panics
    /// As [`Self::zeroed`], and if there are more than `len` elements.
    pub fn copy(folder: Option<&Path>, elements: &[T], len: usize) -> io::Result<Self> {
        assert!(elements.len() <= len, "at most as many as there is room for");
        let Some(folder) = folder else {
            let mut copy = Vec::with_capacity(len);
            copy.extend_from_slice(elements);
            // SAFETY: `T: Zeroed` promises that zero bytes are a value.
            copy.resize(len, unsafe { std::mem::zeroed() });
            return Ok(Self::Memory(copy));
        };
        let mut file = FileElements::zeroed(folder, len)?;
        file.as_mut_slice()[..elements.len()].copy_from_slice(elements);
        Ok(Self::File(file))
    }
}

impl<T> Elements<T> {
    /// If the elements are in a file, removes the pages of a range of elements, and those before it that were mapped along with
    /// them, from this process's memory. They are read again, from the page cache or the file, when they are next used. Ranges
    /// out of bounds have no effect.
    #[cfg_attr(not(unix), expect(unused_variables, reason = "pages are released on Unix only"))]
    pub fn release(&self, range: Range<usize>) {
        #[cfg(unix)]
        if let Self::File(file) = self
            && range.start < range.end
            && range.end <= file.len
        {
            let start = (range.start * size_of::<T>()).saturating_sub(MAPPED_AROUND);
            let end = range.end * size_of::<T>();
            // SAFETY: in a shared mapping of a file, MADV_DONTNEED only removes pages from this process; their contents, with
            // all writes, stay in the page cache or the file. The next access finds the same bytes, so no reference sees a
            // change.
            let advised = unsafe {
                file.map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, end - start)
            };
            // If the advice is refused, memory only stays in use longer.
            drop(advised);
        }
    }
}

impl<T: Zeroed> FileElements<T> {
    fn zeroed(folder: &Path, len: usize) -> io::Result<Self> {
        const { assert!(align_of::<T>() <= 4096, "no more aligned than a page") };
        let bytes = len.checked_mul(size_of::<T>()).expect("less than the address space");
        let file = tempfile::tempfile_in(folder)?;
        reserve(&file, bytes)?;
        // SAFETY: the file has no name, so no other program writes or truncates it, and it is `bytes` long.
        let map = unsafe { MmapOptions::new().len(bytes).map_mut(&file) }?;
        Ok(Self { map, len, elements: PhantomData })
    }
}

impl<T> FileElements<T> {
    fn as_slice(&self) -> &[T] {
        // SAFETY: the mapping begins on a page, to which `T` is aligned, and holds `len` elements. Only `zeroed` makes this
        // type: the bytes were zero, a value of `T`, and since then written as `T`.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.len) }
    }

    fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as in `as_slice`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().cast(), self.len) }
    }
}

/// Extends an empty file to this many zero bytes and allocates its disk space, so that later writes cannot fail for lack
/// of space.
pub(crate) fn reserve(file: &File, bytes: usize) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if bytes > 0 {
        use std::os::fd::AsRawFd;
        let length = libc::off_t::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
        // SAFETY: the call takes no pointers; the descriptor is open, as `file` is borrowed.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length) } {
            0 => return Ok(()),
            // The file system does not support it, and musl, unlike glibc, does not write zeros instead.
            libc::EOPNOTSUPP => {}
            error => return Err(io::Error::from_raw_os_error(error)),
        }
    }
    io::copy(&mut io::Read::take(io::repeat(0), bytes as u64), &mut &*file)?;
    Ok(())
}

impl<T> From<Vec<T>> for Elements<T> {
    fn from(elements: Vec<T>) -> Self {
        Self::Memory(elements)
    }
}

impl<T> Deref for Elements<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Memory(elements) => elements,
            Self::File(file) => file.as_slice(),
        }
    }
}

impl<T> DerefMut for Elements<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::Memory(elements) => elements,
            Self::File(file) => file.as_mut_slice(),
        }
    }
}

impl<T> fmt::Debug for Elements<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if matches!(self, Self::Memory(_)) { "memory" } else { "a file" };
        write!(f, "{} elements in {place}", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_outlast_their_release() {
        let folder = tempfile::tempdir().unwrap();
        for place in [None, Some(folder.path())] {
            for len in [0, 1, 511, 1 << 20] {
                let mut elements = Elements::<u64>::zeroed(place, len).unwrap();
                assert_eq!(elements.len(), len);
                assert!(elements.iter().all(|element| *element == 0));
                elements.iter_mut().enumerate().for_each(|(i, element)| *element = i as u64);
                elements.release(0..len);
                elements.release(len / 2..len + 1);
                assert!(elements.iter().enumerate().all(|(i, element)| *element == i as u64));
                let longer = Elements::copy(place, &elements, len + 7).unwrap();
                assert_eq!(longer[..len], elements[..]);
                assert_eq!(longer[len..], [0; 7]);
                assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file has a name");
            }
        }
    }

    #[test]
    fn what_finds_no_room_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let none = Elements::<u64>::zeroed(Some(&folder.path().join("none")), 1);
        assert_eq!(none.unwrap_err().kind(), io::ErrorKind::NotFound);
        // More than any disk has: no partial file stays.
        assert!(Elements::<u64>::zeroed(Some(folder.path()), 1 << 50).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
