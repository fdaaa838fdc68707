//! Access by several threads to the columns of a row-major matrix.

use std::marker::PhantomData;

/// Exclusive access to a slice as rows of `width` elements, lent to threads by blocks of columns.
pub(crate) struct SharedColumns<'a, T> {
    start: *mut T,
    len: usize,
    width: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: the pointer is an exclusive borrow; the contract of `block` keeps the lent parts disjoint.
unsafe impl<T: Send> Sync for SharedColumns<'_, T> {}

impl<'a, T> SharedColumns<'a, T> {
    pub(crate) fn new(slice: &'a mut [T], width: usize) -> Self {
        Self { start: slice.as_mut_ptr(), len: slice.len(), width, slice: PhantomData }
    }

    /// `K` elements of a row, starting at `column`.
    ///
    /// # Safety
    /// No two live results may overlap: a thread must use only columns that no other thread uses.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "disjointness is the caller's promise")]
    pub(crate) unsafe fn block<const K: usize>(&self, row: usize, column: usize) -> &mut [T; K] {
        let at = row * self.width + column;
        assert!(column + K <= self.width && at + K <= self.len);
        // SAFETY: in bounds by the assertion, exclusive by the caller's promise.
        unsafe { &mut *self.start.add(at).cast() }
    }
}
