//! Long vectors, in memory or in temporary files.

use crate::mapped::AROUND;
use memmap2::{MmapMut, MmapOptions};
use std::{
    fmt,
    fs::File,
    io,
    marker::PhantomData,
    ops::{Deref, DerefMut, Range},
    path::Path,
};

/// Types of which zero bytes are a value, and which need not be dropped.
///
/// # Safety
/// That must hold.
pub unsafe trait Zeroed: Copy {}

// SAFETY: any bytes are an integer.
unsafe impl Zeroed for u8 {}
// SAFETY: any bytes are an integer.
unsafe impl Zeroed for u64 {}
// SAFETY: element by element.
unsafe impl<T: Zeroed, const N: usize> Zeroed for [T; N] {}

/// Elements, in memory or in a temporary file: those in a file can leave memory while they are not used. The system writes them
/// out when it needs the room, and [`release`](Self::release) takes them off this process at once.
///
/// The file has no name (or loses it at once) and takes no room once this is dropped, however the process ends.
pub enum Elements<T> {
    /// In memory.
    Memory(Vec<T>),
    /// In a file.
    File(FileElements<T>),
}

/// Elements in a temporary file, mapped.
pub struct FileElements<T> {
    map: MmapMut,
    len: usize,
    elements: PhantomData<[T]>,
}

impl<T: Zeroed> Elements<T> {
    /// `len` elements of zero bytes, in memory or in a file of this folder.
    ///
    /// # Errors
    /// What the system says: no such folder, one that is not ours to write to, no room for the whole file.
    ///
    /// # Panics
    /// If they are more bytes than the address space has.
    pub fn zeroed(folder: Option<&Path>, len: usize) -> io::Result<Self> {
        Self::copy(folder, &[], len)
    }

    /// These, and after them as many of zero bytes as are missing for `len`.
    ///
    /// # Errors
    /// As [`Self::zeroed`].
    ///
    /// # Panics
    /// As there, and if these are more than `len`.
    pub fn copy(folder: Option<&Path>, elements: &[T], len: usize) -> io::Result<Self> {
        assert!(elements.len() <= len, "at most as many as there is room for");
        let Some(folder) = folder else {
            let mut copy = Vec::with_capacity(len);
            copy.extend_from_slice(elements);
            // SAFETY: `T` promises that zero bytes are a value.
            copy.resize(len, unsafe { std::mem::zeroed() });
            return Ok(Self::Memory(copy));
        };
        let mut file = FileElements::zeroed(folder, len)?;
        file.as_mut_slice()[..elements.len()].copy_from_slice(elements);
        Ok(Self::File(file))
    }
}

impl<T> Elements<T> {
    /// Takes the pages that a range of elements touches, and those before it that came along with them, off this process if
    /// they are in a file: they are read again from there, or from the system's cache of it, when they are used again.
    /// Ranges that do not lie within are left alone.
    pub fn release(&self, range: Range<usize>) {
        #[cfg(unix)]
        if let Self::File(file) = self
            && range.start < range.end
            && range.end <= file.len
        {
            let start = (range.start * size_of::<T>()).saturating_sub(AROUND);
            let end = range.end * size_of::<T>();
            // SAFETY: for a shared mapping of a file MADV_DONTNEED forgets the pages of this process, and what was written to
            // them stays with the file; the next access finds the same bytes, so that no reference sees a change.
            let advised = unsafe {
                file.map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, end - start)
            };
            // It is advice: memory stays in use a little longer if it is not taken.
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
        // SAFETY: nobody else knows the file by a name, so that nobody writes or truncates it; it has room on the disk for
        // all its bytes, which are zero.
        let map = unsafe { MmapOptions::new().len(bytes).map_mut(&file) }?;
        Ok(Self { map, len, elements: PhantomData })
    }
}

impl<T> FileElements<T> {
    fn as_slice(&self) -> &[T] {
        // SAFETY: mapped from a page on, as many as there is room for, zero at first, which is a value.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.len) }
    }

    fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as above, and exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().cast(), self.len) }
    }
}

/// Makes an empty file as long as this, of zeros, with its place on the disk: pages that are written to later, through a mapping,
/// find it.
fn reserve(file: &File, bytes: usize) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if bytes > 0 {
        use std::os::fd::AsRawFd;
        let length = libc::off_t::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
        // SAFETY: the descriptor is open.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length) } {
            0 => return Ok(()),
            // The file system cannot, and musl does not write in its place as glibc does.
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
        // More than any disk: of what was asked for nothing stays.
        assert!(Elements::<u64>::zeroed(Some(folder.path()), 1 << 50).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
