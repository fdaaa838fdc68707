//! Hints about memory: none changes a result.

/// Asks for the cache lines of `target` ahead of its use; does nothing where the CPU has no such hint here.
#[inline(always)]
pub fn prefetch<T>(target: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        for offset in (0..size_of::<T>()).step_by(64) {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(target).cast::<i8>().add(offset));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = target;
}

/// An empty vector with room for `capacity` elements, on huge pages where the system hands them out on request:
/// random access to many megabytes then misses few entries of the address translation's cache.
pub fn vec_on_huge_pages<T>(capacity: usize) -> Vec<T> {
    let vec = Vec::with_capacity(capacity);
    #[cfg(target_os = "linux")]
    {
        let bytes = vec.capacity() * size_of::<T>();
        let start = (vec.as_ptr() as usize).next_multiple_of(PAGE);
        let end = (vec.as_ptr() as usize + bytes) / PAGE * PAGE;
        if end > start && bytes >= HUGE_PAGE {
            // SAFETY: whole pages of our own allocation; the advice keeps their content. A refusal costs only speed.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
        }
    }
    vec
}

/// At least the size of any system's small pages.
#[cfg(target_os = "linux")]
const PAGE: usize = 1 << 16;
#[cfg(target_os = "linux")]
const HUGE_PAGE: usize = 1 << 21;
