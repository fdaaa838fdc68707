//! A row-major matrix whose columns are written by several threads.

use std::marker::PhantomData;

/// Exclusive access to a slice seen as rows of `width` elements, handed out column block by column block.
pub(crate) struct Columns<'a, T> {
    start: *mut T,
    len: usize,
    width: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: the pointer stands for an exclusive borrow; `block` hands out disjoint parts by its contract.
unsafe impl<T: Send> Sync for Columns<'_, T> {}

impl<'a, T> Columns<'a, T> {
    pub(crate) fn new(slice: &'a mut [T], width: usize) -> Self {
        Self { start: slice.as_mut_ptr(), len: slice.len(), width, slice: PhantomData }
    }

    /// `K` elements of a row, from `column` on.
    ///
    /// # Safety
    /// No two live results may overlap: a thread keeps to columns that no other thread uses.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "disjointness is the caller's promise")]
    pub(crate) unsafe fn block<const K: usize>(&self, row: usize, column: usize) -> &mut [T; K] {
        let at = row * self.width + column;
        assert!(column + K <= self.width && at + K <= self.len);
        // SAFETY: in bounds by the assertion, exclusive by the caller's promise.
        unsafe { &mut *self.start.add(at).cast() }
    }
}
