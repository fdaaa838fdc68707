//! Memory as kernels want it: fetched ahead, on pages of their own.

use memmap2::MmapMut;
use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
};

/// [`prefetch_at`] of every cache line of `target`.
#[inline(always)]
pub fn prefetch<T>(target: &T) {
    let start: *const u64 = std::ptr::from_ref(target).cast();
    for offset in (0..size_of::<T>()).step_by(64) {
        prefetch_at(start.wrapping_byte_add(offset));
    }
}

/// Asks for the cache line at a place that need not be memory, ahead of its use; does nothing where the CPU has no such
/// hint here.
#[inline(always)]
pub fn prefetch_at(place: *const u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// Elements on pages of their own, zero at first: a page takes memory from its first use until the drop, which
/// hands all of them back at once. Large ones lie on huge pages where the system has them on request, so that
/// random access misses few entries of the address translation's cache.
pub struct Pages<T> {
    map: MmapMut,
    len: usize,
    elements: PhantomData<[T]>,
}

/// From this many bytes on, huge pages gain more than rounding up to them wastes.
#[cfg(target_os = "linux")]
const LARGE: usize = 1 << 24;

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

impl<T: Zeroed> Pages<T> {
    /// `len` elements of zero bytes.
    ///
    /// # Panics
    /// As [`zeroed`](Self::zeroed).
    pub fn new(len: usize) -> Self {
        // SAFETY: `T` promises it.
        unsafe { Self::zeroed(len) }
    }
}

impl<T> Pages<T> {
    /// `len` elements of zero bytes.
    ///
    /// # Safety
    /// Zero bytes must be a value of `T`, which must not need to be dropped.
    ///
    /// # Panics
    /// If the system has no more memory to give.
    pub unsafe fn zeroed(len: usize) -> Self {
        const { assert!(align_of::<T>() <= 4096, "no more aligned than a page") };
        let bytes = len.checked_mul(size_of::<T>()).expect("less than the address space");
        let map = MmapMut::map_anon(bytes).expect("memory for a computation's scratch");
        #[cfg(target_os = "linux")]
        if bytes >= LARGE {
            // It is advice: small pages are slower, nothing else.
            drop(map.advise(memmap2::Advice::HugePage));
        }
        Self { map, len, elements: PhantomData }
    }
}

impl<T> Deref for Pages<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: initialised and large enough by `zeroed`.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.len) }
    }
}

impl<T> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().cast(), self.len) }
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

/// Has the allocator hand large blocks back to the system as soon as they are freed, where it would rather keep
/// them (glibc learns to from the first large block freed). For the start of a program whose peak memory counts.
pub fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: sets parameters of glibc's, before there is another thread or at worst beside one.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 15);
        // Small blocks are few: one heap for all threads.
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
