//! Vectors on huge pages, and vectors aligned to cache lines.

use crate::{LargeBlocks, Zeroed};
use std::{
    alloc::{GlobalAlloc, Layout, handle_alloc_error},
    ops::{Deref, DerefMut},
    ptr::NonNull,
};

/// A slice in a block from [`LargeBlocks`], whatever the program's allocator is: a large one lies on huge pages where the
/// kernel grants them, so that random access causes few TLB misses. The elements are not dropped.
pub struct Pages<T> {
    start: NonNull<T>,
    len: usize,
}

// SAFETY: it owns its elements, as a `Box<[T]>` does.
unsafe impl<T: Send> Send for Pages<T> {}
// SAFETY: a shared reference to it gives only shared references to the elements.
unsafe impl<T: Sync> Sync for Pages<T> {}

impl<T: Zeroed> Pages<T> {
    /// `len` elements of zero bytes.
    ///
    /// # Panics
    /// If the length in bytes overflows `isize`.
    pub fn new(len: usize) -> Self {
        let layout = Self::layout(len);
        // SAFETY: `layout` never returns an empty layout, and `T: Zeroed` promises that zero bytes are a value.
        unsafe { Self::at(LargeBlocks.alloc_zeroed(layout), len) }
    }
}

impl<T> Pages<T> {
    /// `len` elements with unspecified, but initialised, bytes.
    ///
    /// # Safety
    /// Any initialised bytes must be a valid value of `T`.
    ///
    /// # Panics
    /// If the length in bytes overflows `isize`.
    pub unsafe fn scratch(len: usize) -> Self {
        let layout = Self::layout(len);
        if layout.size() < LargeBlocks::LEAST {
            // SAFETY: the layout is not empty; the caller promises that any bytes are a value, and zeros are initialised.
            return unsafe { Self::at(LargeBlocks.alloc_zeroed(layout), len) };
        }
        // SAFETY: the layout is not empty; the caller promises that any bytes are a value. A large block is mapped memory,
        // whose bytes are initialised: zero, or what was written there earlier.
        unsafe { Self::at(LargeBlocks.alloc(layout), len) }
    }

    /// The layout of `len` elements, or of one if `len` is 0; never empty.
    fn layout(len: usize) -> Layout {
        const { assert!(size_of::<T>() > 0, "elements with a size") };
        Layout::array::<T>(len.max(1)).expect("less than the address space")
    }

    /// # Safety
    /// `block` must be null, or a block of `Self::layout(len)` from [`LargeBlocks`] with valid elements.
    unsafe fn at(block: *mut u8, len: usize) -> Self {
        let Some(start) = NonNull::new(block.cast()) else { handle_alloc_error(Self::layout(len)) };
        Self { start, len }
    }
}

impl<T> Drop for Pages<T> {
    fn drop(&mut self) {
        // SAFETY: by the contract of `at`, the block came from `LargeBlocks` with this layout.
        unsafe { LargeBlocks.dealloc(self.start.as_ptr().cast(), Self::layout(self.len)) };
    }
}

impl<T> Deref for Pages<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: by the contract of `at`, `start` points to `len` valid elements.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

/// 64-bit words, zero at first, that begin on a cache line: aligned vectors in them never straddle two lines.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    lines: Vec<Line>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([u64; 8]);

impl Lines {
    /// `len` zero words.
    pub fn zeroed(len: usize) -> Self {
        Self { lines: vec![Line([0; 8]); len.div_ceil(8)], len }
    }
}

impl Deref for Lines {
    type Target = [u64];

    #[inline(always)]
    fn deref(&self) -> &[u64] {
        // SAFETY: a `Line` is eight words without padding, and there are at least `len / 8` lines, rounded up.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Lines {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u64] {
        // SAFETY: as in `deref`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}
