//! The sum of two points of Grumpkin.

use super::Formula;
use crate::{Cells, Gate, Selector};
use proofmill_field::Algebra;

/// Wires (x1, y1, x2, y2), on the next row (x3, y3, i, .): `(x3, y3) = (x1, y1) + (x2, y2)`, where i is the
/// inverse of `x2 - x1`: `(x2 - x1) i = 1`, `(x3 + x1 + x2) (x2 - x1)^2 = (y2 - y1)^2` and
/// `(y3 + y1) (x2 - x1) = (y2 - y1) (x1 - x3)`.
///
/// No i exists for equal or opposite points.
#[derive(Clone, Copy, Debug)]
pub struct EccAdd;

impl Formula for EccAdd {
    const NAME: &'static str = "ecc_add";
    const SELECTORS: &'static [Selector] = &[Selector::Gate(Gate::EccAdd)];
    const CONSTRAINTS: usize = 3;

    #[inline(always)]
    fn terms<A: Algebra>(cells: &impl Cells<A>, _: &[A], emit: &mut impl FnMut(usize, usize, A)) {
        let (x1, y1, x2, y2) = (cells.wire(0), cells.wire(1), cells.wire(2), cells.wire(3));
        let (x3, y3, inverse) = (cells.next_wire(0), cells.next_wire(1), cells.next_wire(2));
        let (run, rise) = (x2 - x1, y2 - y1);
        emit(0, 0, run * inverse - A::one(run.token()));
        emit(1, 0, (x1 + x2 + x3) * run.square() - rise.square());
        emit(2, 0, (y3 + y1) * run - rise * (x1 - x3));
    }
}
