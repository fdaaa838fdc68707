//! Hints to fetch cache lines ahead of their use.

/// [`prefetch_at`] of every cache line of `target`.
#[inline(always)]
pub fn prefetch<T>(target: &T) {
    let start: *const u64 = std::ptr::from_ref(target).cast();
    for offset in (0..size_of::<T>()).step_by(64) {
        prefetch_at(start.wrapping_byte_add(offset));
    }
}

/// Prefetches the cache line at an address, which need not be valid. Does nothing on architectures other than x86-64.
#[inline(always)]
pub fn prefetch_at(place: *const u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch of any address neither faults nor accesses memory visibly.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
