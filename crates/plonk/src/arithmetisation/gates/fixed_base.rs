//! One step of a scalar multiplication of a fixed base.

use super::Formula;
use crate::{Cells, Gate, Selector, Selector::Multiple};
use proofmill_field::{Algebra, bn254::Fr};

/// Adds a multiple of a fixed point of Grumpkin, by one base-8 digit of a scalar.
///
/// Wires (X, Y, l, a), on the next row (X', Y', ., a'): `d = 2 (a - 8 a') - 7` is an odd number that
/// represents the digit. l is the slope of the line through (X, Y) and the point T that is added. By the
/// group law `T.x = l^2 - X - X'` and `T.y = Y + l (T.x - X)`; `Y' + Y = l (X - X')` is a constraint. The
/// others are three equations in `u = d^2`, T.x and `d T.y`, with coefficients m1 to m12:
///
/// ```text
/// T.x^2 + m1 u^2 + m2 T.x + m3 u + m4 = 0
/// u T.x + m5 u^2 + m6 T.x + m7 u + m8 = 0
/// d T.y + m9 u^2 + m10 T.x + m11 u + m12 = 0
/// ```
///
/// The first two are conics through the four points (u, T.x) of the multiples by 1, 3, 5 and 7; two conics
/// meet in at most four points. The third determines T.y with its sign, so T is d times the base. Every term
/// has degree 4 and one selector: the coefficients are selectors, which are zero on other rows.
///
/// If `T.x = X`, nothing is constrained, so T must not be (X, Y) or its opposite.
#[derive(Clone, Copy, Debug)]
pub struct FixedBase;

impl Formula for FixedBase {
    const NAME: &'static str = "fixed_base";
    const SELECTORS: &'static [Selector] = &[
        Selector::Gate(Gate::FixedBase),
        Multiple(0),
        Multiple(1),
        Multiple(2),
        Multiple(3),
        Multiple(4),
        Multiple(5),
        Multiple(6),
        Multiple(7),
        Multiple(8),
        Multiple(9),
        Multiple(10),
        Multiple(11),
    ];
    const CONSTRAINTS: usize = 4;

    fn constants() -> Vec<Fr> {
        vec![Fr::from(7)]
    }

    #[inline(always)]
    fn terms<A: Algebra>(cells: &impl Cells<A>, constants: &[A], emit: &mut impl FnMut(usize, usize, A)) {
        let (x, y, slope) = (cells.wire(0), cells.wire(1), cells.wire(2));
        let (next_x, next_y) = (cells.next_wire(0), cells.next_wire(1));
        let digit = cells.wire(3) - cells.next_wire(3).double().double().double();
        let odd = digit.double() - constants[0];
        let odd_squared = odd.square();
        let fourth_power = odd_squared.square();
        let point_x = slope.square() - x - next_x;
        let point_y = y + slope * (point_x - x);
        let pivots = [point_x.square(), odd_squared * point_x, odd * point_y];
        for constraint in 0..3 {
            emit(constraint, 0, pivots[constraint]);
            let first = 1 + 4 * constraint;
            emit(constraint, first, fourth_power);
            emit(constraint, first + 1, point_x);
            emit(constraint, first + 2, odd_squared);
            emit(constraint, first + 3, A::one(x.token()));
        }
        emit(3, 0, chord(x, y, slope, next_x, next_y));
    }
}

/// The constraint that the opposite of (x', y') is on the line of this slope through (x, y):
/// `y' + y - slope (x - x')`.
#[inline(always)]
pub(super) fn chord<A: Algebra>(x: A, y: A, slope: A, next_x: A, next_y: A) -> A {
    next_y + y - slope * (x - next_x)
}
