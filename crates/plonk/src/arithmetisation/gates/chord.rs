//! The constraint of an addition of a point from a lookup table.

use super::{Formula, fixed_base::chord};
use crate::{Cells, Gate, Selector};
use proofmill_field::Algebra;

/// Wires (., X, Y, l), on the next row (., X', Y', .): the opposite of (X', Y') is on the line of slope l
/// through (X, Y), that is, `Y' + Y = l (X - X')`.
///
/// With a lookup of `(X' + X - l^2, Y + l (l^2 - 2 X - X'))` among `(-T.x, T.y)` on the same row, it adds a
/// point T of a table: `X' = l^2 - X - T.x` and `T.y = Y + l (T.x - X)`. As in
/// [`FixedBase`](super::FixedBase), T must not be (X, Y) or its opposite.
#[derive(Clone, Copy, Debug)]
pub struct Chord;

impl Formula for Chord {
    const NAME: &'static str = "chord";
    const SELECTORS: &'static [Selector] = &[Selector::Gate(Gate::Chord)];
    const CONSTRAINTS: usize = 1;

    #[inline(always)]
    fn terms<A: Algebra>(cells: &impl Cells<A>, _: &[A], emit: &mut impl FnMut(usize, usize, A)) {
        let (next_x, next_y) = (cells.next_wire(1), cells.next_wire(2));
        emit(0, 0, chord(cells.wire(1), cells.wire(2), cells.wire(3), next_x, next_y));
    }
}
