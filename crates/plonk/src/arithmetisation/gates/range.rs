//! Base-4 digits of an accumulator.

use super::Formula;
use crate::{Cells, Gate, Selector};
use proofmill_field::Algebra;

/// Each of `w3 - 4 w4`, `w2 - 4 w3`, `w1 - 4 w2` and `w4' - 4 w1` is 0, 1, 2 or 3: from one row to the next,
/// the accumulator on the last wire takes in four two-bit digits, the highest first.
///
/// A digit d has `d (d - 1) (d - 2) (d - 3) = u (u + 2)` with `u = d^2 - 3 d`.
#[derive(Clone, Copy, Debug)]
pub struct Range;

/// `x (x - 1) (x - 2) (x - 3)`.
#[inline(always)]
pub(super) fn base4<A: Algebra>(digit: A) -> A {
    let u = digit.square() - digit.double() - digit;
    u * (u + A::one(u.token()).double())
}

impl Formula for Range {
    const NAME: &'static str = "range";
    const SELECTORS: &'static [Selector] = &[Selector::Gate(Gate::Range)];
    const CONSTRAINTS: usize = 4;

    #[inline(always)]
    fn terms<A: Algebra>(cells: &impl Cells<A>, _: &[A], emit: &mut impl FnMut(usize, usize, A)) {
        let (w1, w2, w3) = (cells.wire(0), cells.wire(1), cells.wire(2));
        emit(0, 0, base4(w3 - cells.wire(3).double().double()));
        emit(1, 0, base4(w2 - w3.double().double()));
        emit(2, 0, base4(w1 - w2.double().double()));
        emit(3, 0, base4(cells.next_wire(3) - w1.double().double()));
    }
}
