//! A disjunction of four linear equations.

use super::Formula;
use crate::{Cells, Gate, Selector};
use proofmill_field::Algebra;

/// `w4` is one of `d_1 - w1`, `d_2 - w2`, `d_3 - w3` and `d_4 - w1'`:
/// `(w4 + w1 - d_1) (w4 + w2 - d_2) (w4 + w3 - d_3) (w4 + w1' - d_4) = 0`.
///
/// It compares two integers: their prefixes are on the wires and in the data, and w4 is in a range.
#[derive(Clone, Copy, Debug)]
pub struct AnyOf;

impl Formula for AnyOf {
    const NAME: &'static str = "any_of";
    const SELECTORS: &'static [Selector] = &[Selector::Gate(Gate::AnyOf)];
    const CONSTRAINTS: usize = 1;

    #[inline(always)]
    fn terms<A: Algebra>(cells: &impl Cells<A>, _: &[A], emit: &mut impl FnMut(usize, usize, A)) {
        let w4 = cells.wire(3);
        let first = (w4 + cells.wire(0) - cells.data(0)) * (w4 + cells.wire(1) - cells.data(1));
        let last = (w4 + cells.wire(2) - cells.data(2)) * (w4 + cells.next_wire(0) - cells.data(3));
        emit(0, 0, first * last);
    }
}
