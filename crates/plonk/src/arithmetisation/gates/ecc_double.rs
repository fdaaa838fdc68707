//! Doubling of a point of Grumpkin.

use super::Formula;
use crate::{Cells, Gate, Selector};
use proofmill_field::Algebra;

/// Wires (x, y, ., .), on the next row (x', y', ., .): `(x', y') = 2 (x, y)` for a point of the curve, with
/// the tangent's slope `3 x^2 / 2 y`: `(x' + 2 x) (2 y)^2 = (3 x^2)^2` and `(y' + y) 2 y = 3 x^2 (x - x')`.
///
/// The curve's order is odd, so no point has y = 0.
#[derive(Clone, Copy, Debug)]
pub struct EccDouble;

impl Formula for EccDouble {
    const NAME: &'static str = "ecc_double";
    const SELECTORS: &'static [Selector] = &[Selector::Gate(Gate::EccDouble)];
    const CONSTRAINTS: usize = 2;

    #[inline(always)]
    fn terms<A: Algebra>(cells: &impl Cells<A>, _: &[A], emit: &mut impl FnMut(usize, usize, A)) {
        let (x, y) = (cells.wire(0), cells.wire(1));
        let (next_x, next_y) = (cells.next_wire(0), cells.next_wire(1));
        let x_squared = x.square();
        let (rise, run) = (x_squared.double() + x_squared, y.double());
        emit(0, 0, (next_x + x.double()) * run.square() - rise.square());
        emit(1, 0, (next_y + y) * run - rise * (x - next_x));
    }
}
