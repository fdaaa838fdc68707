//! Hints to fetch cache lines ahead of their use.

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
