//! Sums and products of the wires.

use super::Formula;
use crate::{Cells, Selector};
use proofmill_field::Algebra;

/// The gate of the PLONK paper (section 6): `q_m w1 w2 + q_1 w1 + q_2 w2 + q_3 w3 + q_c = 0`.
#[derive(Clone, Copy, Debug)]
pub struct Arithmetic;

impl Formula for Arithmetic {
    const NAME: &'static str = "arithmetic";
    const SELECTORS: &'static [Selector] =
        &[Selector::Product, Selector::Wire(0), Selector::Wire(1), Selector::Wire(2), Selector::Constant];
    const CONSTRAINTS: usize = 1;

    #[inline(always)]
    fn terms<A: Algebra>(cells: &impl Cells<A>, _: &[A], emit: &mut impl FnMut(usize, usize, A)) {
        let w1 = cells.wire(0);
        emit(0, 0, w1 * cells.wire(1));
        emit(0, 1, w1);
        emit(0, 2, cells.wire(1));
        emit(0, 3, cells.wire(2));
        emit(0, 4, A::one(w1.token()));
    }
}

/// Four wires and the last wire of the next row, so that a long sum can continue there:
/// `q_m w1 w2 + q_1 w1 + q_2 w2 + q_3 w3 + q_4 w4 + q_n w4' + q_c = 0`.
#[derive(Clone, Copy, Debug)]
pub struct WideArithmetic;

impl Formula for WideArithmetic {
    const NAME: &'static str = "wide_arithmetic";
    const SELECTORS: &'static [Selector] = &[
        Selector::Product,
        Selector::Wire(0),
        Selector::Wire(1),
        Selector::Wire(2),
        Selector::Wire(3),
        Selector::Next,
        Selector::Constant,
    ];
    const CONSTRAINTS: usize = 1;

    #[inline(always)]
    fn terms<A: Algebra>(cells: &impl Cells<A>, _: &[A], emit: &mut impl FnMut(usize, usize, A)) {
        let w1 = cells.wire(0);
        emit(0, 0, w1 * cells.wire(1));
        emit(0, 1, w1);
        emit(0, 2, cells.wire(1));
        emit(0, 3, cells.wire(2));
        emit(0, 4, cells.wire(3));
        emit(0, 5, cells.next_wire(3));
        emit(0, 6, A::one(w1.token()));
    }
}
