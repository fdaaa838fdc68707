//! A step of a scalar multiplication whose base the circuit fixes.

use super::Formula;
use crate::{Cells, Gate, Selector};
use proofmill_field::{Algebra, bn254::Fr};

/// Adds a multiple, by one base-4 digit of a scalar, of a point of Grumpkin that the circuit fixes.
///
/// Wires (a, X, Y, l), on the next row (a', X', Y', .): `e = a - 4 a'` is the digit, `d = 2 e - 3` one of -3, -1, 1, 3, and
/// `T = (d_1 + d_2 d^2, d (d_3 + d_4 d^2))` is d times the point. Its other constraints are the group law for
/// `(X', Y') = (X, Y) + T`, where l is the slope:
/// `X' + X + T.x = l^2`, `T.y - Y = l (T.x - X)`, `Y' + Y = l (X - X')`.
///
/// Nothing is constrained if `T.x = X`, so T must be neither (X, Y) nor its opposite.
#[derive(Clone, Copy, Debug)]
pub struct FixedBase;

impl Formula for FixedBase {
    const NAME: &'static str = "fixed_base";
    const SELECTORS: &'static [Selector] = &[Selector::Gate(Gate::FixedBase)];
    const CONSTRAINTS: usize = 4;

    fn constants() -> Vec<Fr> {
        vec![Fr::from(3), Fr::from(9)]
    }

    #[inline(always)]
    fn terms<A: Algebra>(cells: &impl Cells<A>, constants: &[A], emit: &mut impl FnMut(usize, usize, A)) {
        let (x, y, slope) = (cells.wire(1), cells.wire(2), cells.wire(3));
        let (next_x, next_y) = (cells.next_wire(1), cells.next_wire(2));
        let digit = cells.wire(0) - cells.next_wire(0).double().double();
        let odd = digit.double() - constants[0];
        let odd_squared = odd.square();
        emit(0, 0, (odd_squared - A::one()) * (odd_squared - constants[1]));
        // The x of the point added, as the line through three points of the curve gives it.
        let point_x = slope.square() - x - next_x;
        emit(1, 0, cells.data(0) + cells.data(1) * odd_squared - point_x);
        let point_y = odd * (cells.data(2) + cells.data(3) * odd_squared);
        emit(2, 0, point_y - y - slope * (point_x - x));
        emit(3, 0, chord(x, y, slope, next_x, next_y));
    }
}

/// Whether the opposite of (x', y') is on the line through (x, y) of this slope: `y' + y - slope (x - x')`.
#[inline(always)]
pub(super) fn chord<A: Algebra>(x: A, y: A, slope: A, next_x: A, next_y: A) -> A {
    next_y + y - slope * (x - next_x)
}
