//! Poseidon of width 3 over BN254's scalar field, with circomlib's parameters: 23 rows per permutation.
//!
//! A row of a full round contains the state. Partial rounds contain only the S-box inputs, four rounds per
//! row, by the [recurrence](crate::arithmetisation::partial_rounds)
//! `y_{k+3} = a1 y_{k+1} + a2 y_{k+2} + b0 s_k + b1 s_{k+1} + b2 s_{k+2} + c_k` with `s = y^5`. The rows of a
//! permutation:
//!
//! | rows | gate | wires |
//! |---|---|---|
//! | 3 | [`PoseidonFull`] | state before rounds 0 to 2 |
//! | 1 | [`PoseidonEnter`] | state before round 3, y0 |
//! | 13 | [`PoseidonPartial`] | y1 to y4, ..., y49 to y52 |
//! | 1 | [`PoseidonLeave`] | y53 to y56 |
//! | 4 | [`PoseidonFull`] | state before rounds 61 to 64 |
//! | 1 | | state after them |

use super::Formula;
use crate::{
    Cells, Gate, Selector,
    arithmetisation::partial_rounds::{PartialRounds, fifth_power},
};
use proofmill_field::{Algebra, bn254::Fr};
use proofmill_hash::PoseidonBn254;

/// The number of elements of the state.
const WIDTH: usize = 3;

/// A full round: with `s_j = (w_j + d_j)^5`, `w_i' = sum_j M_ij s_j` for the first three wires.
#[derive(Clone, Copy, Debug)]
pub struct PoseidonFull;

/// The last full round before the partial ones. With `s_j = (w_j + d_j)^5` for the first three wires, the
/// fourth wire is y0, and the first three wires of the next row are y1, y2 and y3. They are affine functions
/// of s0, s1, s2 and the fifth powers of y0, y1, y2.
#[derive(Clone, Copy, Debug)]
pub struct PoseidonEnter;

/// Four partial rounds: the recurrence for the last wire of this row and the first three of the next, with
/// the constants d1 to d4.
#[derive(Clone, Copy, Debug)]
pub struct PoseidonPartial;

/// The end of the partial rounds: the recurrence for the last wire, y56, and for the next row's first wire,
/// y57. The next two wires are the rest of the state, by their affine relations to y56, y57 and the fifth
/// powers of y55 and y56.
#[derive(Clone, Copy, Debug)]
pub struct PoseidonLeave;

/// The sum of `constants[i] * values[i]`; `constants` may be longer.
#[inline(always)]
fn combined<A: Algebra, const N: usize>(constants: &[A], values: [A; N]) -> A {
    let mut sum = constants[0] * values[0];
    for i in 1..N {
        sum = sum + constants[i] * values[i];
    }
    sum
}

/// The S-boxes of a full round.
#[inline(always)]
fn full_boxes<A: Algebra>(cells: &impl Cells<A>) -> [A; WIDTH] {
    [
        fifth_power(cells.wire(0) + cells.data(0)),
        fifth_power(cells.wire(1) + cells.data(1)),
        fifth_power(cells.wire(2) + cells.data(2)),
    ]
}

impl Formula for PoseidonFull {
    const NAME: &'static str = "poseidon_full";
    const SELECTORS: &'static [Selector] = &[Selector::Gate(Gate::PoseidonFull)];
    const CONSTRAINTS: usize = 3;

    /// The matrix in row-major order.
    fn constants() -> Vec<Fr> {
        PoseidonBn254::of_width(WIDTH).matrix().to_vec()
    }

    #[inline(always)]
    fn terms<A: Algebra>(cells: &impl Cells<A>, constants: &[A], emit: &mut impl FnMut(usize, usize, A)) {
        let s = full_boxes(cells);
        emit(0, 0, combined(constants, s) - cells.next_wire(0));
        emit(1, 0, combined(&constants[3..], s) - cells.next_wire(1));
        emit(2, 0, combined(&constants[6..], s) - cells.next_wire(2));
    }
}

impl Formula for PoseidonEnter {
    const NAME: &'static str = "poseidon_enter";
    const SELECTORS: &'static [Selector] = &[Selector::Gate(Gate::PoseidonEnter)];
    const CONSTRAINTS: usize = 4;

    /// The factors and constants of y0, y1 and y2, then the recurrence and its first constant.
    fn constants() -> Vec<Fr> {
        let rounds = PartialRounds::of_width(WIDTH);
        let affine = rounds.enter.iter().flat_map(|y| y.factors.iter().copied().chain([y.constant]));
        affine.chain(rounds.step.iter().copied()).chain([rounds.step_constants[0]]).collect()
    }

    #[inline(always)]
    fn terms<A: Algebra>(cells: &impl Cells<A>, constants: &[A], emit: &mut impl FnMut(usize, usize, A)) {
        let [s0, s1, s2] = full_boxes(cells);
        let y0 = cells.wire(3);
        let (y1, y2, y3) = (cells.next_wire(0), cells.next_wire(1), cells.next_wire(2));
        let (t0, t1, t2) = (fifth_power(y0), fifth_power(y1), fifth_power(y2));
        emit(0, 0, combined(constants, [s0, s1, s2]) + constants[3] - y0);
        emit(1, 0, combined(&constants[4..], [s0, s1, s2, t0]) + constants[8] - y1);
        emit(2, 0, combined(&constants[9..], [s0, s1, s2, t0, t1]) + constants[14] - y2);
        emit(3, 0, combined(&constants[15..], [y1, y2, t0, t1, t2]) + constants[20] - y3);
    }
}

impl Formula for PoseidonPartial {
    const NAME: &'static str = "poseidon_partial";
    const SELECTORS: &'static [Selector] = &[Selector::Gate(Gate::PoseidonPartial)];
    const CONSTRAINTS: usize = 4;

    /// The recurrence.
    fn constants() -> Vec<Fr> {
        PartialRounds::of_width(WIDTH).step.clone()
    }

    #[inline(always)]
    fn terms<A: Algebra>(cells: &impl Cells<A>, constants: &[A], emit: &mut impl FnMut(usize, usize, A)) {
        let (y0, y1, y2, y3) = (cells.wire(0), cells.wire(1), cells.wire(2), cells.wire(3));
        let (y4, y5, y6) = (cells.next_wire(0), cells.next_wire(1), cells.next_wire(2));
        let (s0, s1, s2, s3) = (fifth_power(y0), fifth_power(y1), fifth_power(y2), fifth_power(y3));
        let (s4, s5) = (fifth_power(y4), fifth_power(y5));
        emit(0, 0, combined(constants, [y1, y2, s0, s1, s2]) + cells.data(0) - y3);
        emit(1, 0, combined(constants, [y2, y3, s1, s2, s3]) + cells.data(1) - y4);
        emit(2, 0, combined(constants, [y3, y4, s2, s3, s4]) + cells.data(2) - y5);
        emit(3, 0, combined(constants, [y4, y5, s3, s4, s5]) + cells.data(3) - y6);
    }
}

impl Formula for PoseidonLeave {
    const NAME: &'static str = "poseidon_leave";
    const SELECTORS: &'static [Selector] = &[Selector::Gate(Gate::PoseidonLeave)];
    const CONSTRAINTS: usize = 4;

    /// The recurrence and its last two constants, then the factors and constants of the other elements.
    fn constants() -> Vec<Fr> {
        let rounds = PartialRounds::of_width(WIDTH);
        let last = &rounds.step_constants[rounds.step_constants.len() - 2..];
        let affine = rounds.leave.iter().flat_map(|x| x.factors.iter().copied().chain([x.constant]));
        rounds.step.iter().chain(last).copied().chain(affine).collect()
    }

    #[inline(always)]
    fn terms<A: Algebra>(cells: &impl Cells<A>, constants: &[A], emit: &mut impl FnMut(usize, usize, A)) {
        let (y1, y2, y3) = (cells.wire(1), cells.wire(2), cells.wire(3));
        let (y4, x1, x2) = (cells.next_wire(0), cells.next_wire(1), cells.next_wire(2));
        let (s0, s1) = (fifth_power(cells.wire(0)), fifth_power(y1));
        let (s2, s3) = (fifth_power(y2), fifth_power(y3));
        emit(0, 0, combined(constants, [y1, y2, s0, s1, s2]) + constants[5] - y3);
        emit(1, 0, combined(constants, [y2, y3, s1, s2, s3]) + constants[6] - y4);
        emit(2, 0, combined(&constants[7..], [y3, y4, s2, s3]) + constants[11] - x1);
        emit(3, 0, combined(&constants[12..], [y3, y4, s2, s3]) + constants[16] - x2);
    }
}
