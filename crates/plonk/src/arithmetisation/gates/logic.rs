//! AND and XOR of base-4 digits.

use super::{Formula, range::base4};
use crate::{Cells, Gate, Selector};
use proofmill_field::{Algebra, bn254::Fr};

/// The digits `x = w1' - 4 w1`, `y = w2' - 4 w2` and `z = w4' - 4 w4` have two bits each. w3 is the product
/// of x and y. z is `x AND y` where d1 is 0, and `x XOR y` where d1 is 1.
///
/// `s = x + y` and `w = x y` distinguish the ten unordered pairs of digits. The ten points (s, w) are the
/// intersections of four lines `w = x (s - x)` and their points of contact with the parabola `s^2 = 4 w`, so
/// exactly one polynomial of degree 3 in s and w has given values on them. For AND it is
/// `w (83 - 81 s + 45 w + 18 s^2 - 18 s w + 4 w^2) / 6`, and `x XOR y = s - 2 (x AND y)`.
#[derive(Clone, Copy, Debug)]
pub struct Logic;

impl Formula for Logic {
    const NAME: &'static str = "logic";
    const SELECTORS: &'static [Selector] = &[Selector::Gate(Gate::Logic)];
    const CONSTRAINTS: usize = 4;

    fn constants() -> Vec<Fr> {
        [83, 81, 45, 18].map(Fr::from).to_vec()
    }

    #[inline(always)]
    fn terms<A: Algebra>(cells: &impl Cells<A>, constants: &[A], emit: &mut impl FnMut(usize, usize, A)) {
        let x = cells.next_wire(0) - cells.wire(0).double().double();
        let y = cells.next_wire(1) - cells.wire(1).double().double();
        let z = cells.next_wire(3) - cells.wire(3).double().double();
        let (s, w) = (x + y, cells.wire(2));
        emit(0, 0, base4(x));
        emit(1, 0, base4(y));
        emit(2, 0, w - x * y);
        let [c0, c1, c2, c3] = [constants[0], constants[1], constants[2], constants[3]];
        let and6 = w * (c0 - s * (c1 - c3 * (s - w)) + w * (c2 + w.double().double()));
        let six = |a: A| (a + a.double()).double();
        emit(3, 0, six(z) - and6 - cells.data(0) * (six(s) - and6.double() - and6));
    }
}
