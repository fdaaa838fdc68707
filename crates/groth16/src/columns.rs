//! The matrices of the constraints, in compressed sparse columns.

use proofmill_circom::ScalarPrime;
use proofmill_field::{Field, Fp};

/// A matrix by columns: for every wire its rows, ascending, with their coefficients.
pub(crate) struct SparseColumns<P: ScalarPrime> {
    /// The terms of wire w are `starts[w]..starts[w + 1]`.
    starts: Vec<usize>,
    terms: Vec<(u32, Fp<P>)>,
}

impl<P: ScalarPrime> SparseColumns<P> {
    /// Sorts terms (row, wire, coefficient) by wire. They must be in ascending order of rows, and are iterated twice.
    ///
    /// # Panics
    /// If a wire is not below `wires`.
    #[allow(clippy::indexing_slicing)] // The caller's wires are below the count; stated as a panic.
    pub(crate) fn new(wires: usize, terms: impl Iterator<Item = (u32, u32, Fp<P>)> + Clone) -> Self {
        // A counting sort: the terms of each wire are counted, then sums of counts are the starts.
        let mut starts = vec![0; wires + 1];
        for (_, wire, _) in terms.clone() {
            starts[wire as usize + 1] += 1;
        }
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        let mut next = starts.clone();
        let mut sorted = vec![(0, Fp::ZERO); total];
        for (row, wire, coefficient) in terms {
            sorted[next[wire as usize]] = (row, coefficient);
            next[wire as usize] += 1;
        }
        Self { starts, terms: sorted }
    }

    /// The terms (row, coefficient) of a wire; empty if there is no such wire.
    pub(crate) fn column(&self, wire: usize) -> &[(u32, Fp<P>)] {
        let range = self.starts.get(wire).zip(self.starts.get(wire + 1));
        range.and_then(|(&start, &end)| self.terms.get(start..end)).unwrap_or_default()
    }
}
