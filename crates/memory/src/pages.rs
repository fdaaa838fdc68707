//! Vectors on huge pages, and on whole cache lines.

use crate::{LargeBlocks, Zeroed};
use std::{
    alloc::{GlobalAlloc, Layout, handle_alloc_error},
    ops::{Deref, DerefMut},
    ptr::NonNull,
};

/// Elements in a block of their own, from [`LargeBlocks`] whatever the program's allocator is: large ones lie on huge pages
/// where the system has them on request, so that random access misses few entries of the address translation's cache.
pub struct Pages<T> {
    start: NonNull<T>,
    len: usize,
}

// SAFETY: it owns its elements.
unsafe impl<T: Send> Send for Pages<T> {}
// SAFETY: shared, it gives shared references alone.
unsafe impl<T: Sync> Sync for Pages<T> {}

impl<T: Zeroed> Pages<T> {
    /// `len` elements of zero bytes.
    ///
    /// # Panics
    /// If they are more than the address space.
    pub fn new(len: usize) -> Self {
        let layout = Self::layout(len);
        // SAFETY: the layout is not empty, and `T` promises that zero bytes are a value.
        unsafe { Self::at(LargeBlocks.alloc_zeroed(layout), len) }
    }
}

impl<T> Pages<T> {
    /// `len` elements of whatever bytes are there.
    ///
    /// # Safety
    /// Any initialised bytes must be a value of `T`, which must not need to be dropped.
    ///
    /// # Panics
    /// If they are more than the address space.
    pub unsafe fn scratch(len: usize) -> Self {
        let layout = Self::layout(len);
        if layout.size() < LargeBlocks::LEAST {
            // SAFETY: the layout is not empty; the caller's promise.
            return unsafe { Self::at(LargeBlocks.alloc_zeroed(layout), len) };
        }
        // SAFETY: the layout is not empty. A large block is mapped memory, whose bytes are zero or what was written there.
        unsafe { Self::at(LargeBlocks.alloc(layout), len) }
    }

    /// Of this many elements, at least one.
    fn layout(len: usize) -> Layout {
        Layout::array::<T>(len.max(1)).expect("less than the address space")
    }

    /// # Safety
    /// The block must be of the layout, its elements initialised, or null.
    unsafe fn at(block: *mut u8, len: usize) -> Self {
        let Some(start) = NonNull::new(block.cast()) else { handle_alloc_error(Self::layout(len)) };
        Self { start, len }
    }
}

impl<T> Drop for Pages<T> {
    fn drop(&mut self) {
        // SAFETY: it came from there, with this layout.
        unsafe { LargeBlocks.dealloc(self.start.as_ptr().cast(), Self::layout(self.len)) };
    }
}

impl<T> Deref for Pages<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: initialised and large enough.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

/// Words that begin with a cache line, zero at first: a vector in them never lies on two lines.
#[derive(Clone, Debug)]
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
        // SAFETY: a line is eight words; there are lines for `len` of them.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Lines {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above, and exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}
