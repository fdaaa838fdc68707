//! Structured changes for checks by random combination.
//!
//! A changed byte moves a point in all directions at once, so that a check which is blind in one of them still notices it. These tests
//! change all points together, in one direction at a time.

use proofmill_field::Field;

/// For n points that are values on the coset `s w^j` of a root w of order n: the weights `(s w^j)^i` for every i in `0..n`, which are a
/// basis of all directions. A check of polynomials of a smaller degree than n - 1 is blind in one of them.
pub fn directions<F: Field>(n: usize, root: F, shift: F) -> Vec<Vec<F>> {
    let powers =
        |base: F, first: F| std::iter::successors(Some(first), move |power| Some(*power * base)).take(n);
    powers(root, F::ONE)
        .zip(powers(shift, F::ONE))
        .map(|(base, first)| powers(base, first).collect())
        .collect()
}
