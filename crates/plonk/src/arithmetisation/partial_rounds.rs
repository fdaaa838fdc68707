//! Poseidon's partial rounds as a recurrence of the S-box inputs.
//!
//! Let `y_k` be the input of the S-box in partial round k, `s_k = y_k^5`, and u the other `t - 1` elements of
//! the state. A round is `y' = m s + v u + c` and `u' = w s + A u + c`, so u influences only the `y`. By the
//! Cayley-Hamilton theorem the `v A^i u` satisfy the recurrence of A's characteristic polynomial. Therefore
//! `y_{k+t} = sum_{0<i<t} a_i y_{k+i} + sum_{0<=i<t} b_i s_{k+i} + c_k`, with the same a and b in every
//! round, and u need not be in the circuit. Affine relations connect the S-boxes of the preceding full round
//! to the first `y`, and the last `y` to the state of the next full round.
//!
//! The relations are not written in the source. Each one is fitted to sampled states; with enough samples it
//! is unique, since the S-boxes are not affine.

use proofmill_field::{Algebra, Field, Invert, bn254::Fr};
use proofmill_hash::{PoseidonBn254, poseidon_bn254::HALF_FULL_ROUNDS};
use std::sync::OnceLock;

/// An affine combination.
#[derive(Clone, Debug, Default)]
pub(crate) struct Affine {
    /// The factors.
    pub(crate) factors: Vec<Fr>,
    /// The constant term.
    pub(crate) constant: Fr,
}

/// The relations of width t with K partial rounds, in the notation of the module.
#[derive(Clone, Debug)]
pub(crate) struct PartialRounds {
    /// Entry j < t gives `y_j` from the t S-boxes of the last full round, then `s_0` to `s_{j-1}`.
    pub(crate) enter: Vec<Affine>,
    /// The factors of `y_{k+1}` to `y_{k+t-1}`, then `s_k` to `s_{k+t-1}`, in `y_{k+t}`.
    pub(crate) step: Vec<Fr>,
    /// Entry k is the constant of `y_{k+t}`. The last is for k + t = K, where `y_K` is the first element of
    /// the state after the partial rounds, without a round constant.
    pub(crate) step_constants: Vec<Fr>,
    /// Elements 1 to t - 1 of that state from `y_{K-t+2}` to `y_K`, then `s_{K-t+1}` to `s_{K-1}`.
    pub(crate) leave: Vec<Affine>,
}

/// The values of one state in all partial rounds.
struct Trace {
    /// Outputs of the S-boxes of the preceding full round.
    boxes: Vec<Fr>,
    /// y_0 to y_K.
    y: Vec<Fr>,
    /// s_0 to s_{K-1}.
    s: Vec<Fr>,
    /// The state after the partial rounds.
    state: Vec<Fr>,
}

/// The S-box, x^5.
#[inline(always)]
pub(crate) fn fifth_power<A: Algebra>(x: A) -> A {
    x.square().square() * x
}

impl Trace {
    fn new(poseidon: &PoseidonBn254, boxes: Vec<Fr>) -> Self {
        let width = poseidon.width();
        let constants = poseidon.round_constants().chunks_exact(width).skip(HALF_FULL_ROUNDS);
        let mut state = multiplied(poseidon, &boxes);
        let (mut y, mut s) = (Vec::new(), Vec::new());
        for constants in constants.take(poseidon.partial_rounds()) {
            state.iter_mut().zip(constants).for_each(|(element, constant)| *element += *constant);
            y.push(state[0]);
            state[0] = fifth_power(state[0]);
            s.push(state[0]);
            state = multiplied(poseidon, &state);
        }
        y.push(state[0]);
        Self { boxes, y, s, state }
    }
}

/// The matrix times a state.
pub(crate) fn multiplied(poseidon: &PoseidonBn254, state: &[Fr]) -> Vec<Fr> {
    let rows = poseidon.matrix().chunks_exact(poseidon.width());
    rows.map(|row| row.iter().zip(state).fold(Fr::ZERO, |sum, (entry, element)| sum + *entry * *element))
        .collect()
}

impl PartialRounds {
    /// From the S-boxes of the preceding full round: y_0 to y_K, and elements 1 to t - 1 of the state after
    /// the partial rounds.
    pub(crate) fn run(&self, boxes: Vec<Fr>) -> (Vec<Fr>, Vec<Fr>) {
        let mut trace = Trace::new(PoseidonBn254::of_width(boxes.len()), boxes);
        (trace.y, trace.state.split_off(1))
    }

    /// The relations of a width.
    ///
    /// # Panics
    /// If the width is not in 2..=17.
    pub(crate) fn of_width(width: usize) -> &'static Self {
        static WIDTHS: [OnceLock<PartialRounds>; 16] = [const { OnceLock::new() }; 16];
        WIDTHS[width - 2].get_or_init(|| Self::solve(PoseidonBn254::of_width(width)))
    }

    fn solve(poseidon: &PoseidonBn254) -> Self {
        let width = poseidon.width();
        // The longest relation has 2 t - 1 factors and a constant. Powers of distinct numbers are linearly
        // independent.
        let bases: Vec<Fr> = (2..).take(width).map(Fr::from).collect();
        let powers =
            |previous: &Vec<Fr>| Some(previous.iter().zip(&bases).map(|(x, base)| *x * *base).collect());
        let samples = std::iter::successors(Some(bases.clone()), powers);
        let traces: Vec<Trace> = samples.take(2 * width).map(|boxes| Trace::new(poseidon, boxes)).collect();
        let rounds = poseidon.partial_rounds();
        let enter = (0..width)
            .map(|j| fit(&traces, |trace| ([&trace.boxes[..], &trace.s[..j]].concat(), trace.y[j])))
            .collect();
        let terms = |trace: &Trace, k: usize| [&trace.y[k + 1..k + width], &trace.s[k..k + width]].concat();
        let step = fit(&traces, |trace| (terms(trace, 0), trace.y[width])).factors;
        let first = &traces[0];
        let constant = |k: usize| {
            let sum = terms(first, k).iter().zip(&step).fold(Fr::ZERO, |sum, (x, factor)| sum + *x * *factor);
            first.y[k + width] - sum
        };
        let step_constants = (0..=rounds - width).map(constant).collect();
        let last = |trace: &Trace| [&trace.y[rounds + 2 - width..], &trace.s[rounds + 1 - width..]].concat();
        let leave = (1..width).map(|i| fit(&traces, |trace| (last(trace), trace.state[i]))).collect();
        Self { enter, step, step_constants, leave }
    }
}

/// The affine relation that maps the first part of each sample to the second.
///
/// # Panics
/// If the samples do not determine it.
fn fit(traces: &[Trace], sample: impl Fn(&Trace) -> (Vec<Fr>, Fr)) -> Affine {
    let unknowns = sample(&traces[0]).0.len() + 1;
    let equation = |trace: &Trace| {
        let (mut row, value) = sample(trace);
        row.extend([Fr::ONE, value]);
        row
    };
    let mut rows: Vec<Vec<Fr>> = traces[..unknowns].iter().map(equation).collect();
    // Gauss-Jordan elimination.
    for column in 0..unknowns {
        let pivot =
            (column..unknowns).find(|row| !rows[*row][column].is_zero()).expect("independent samples");
        rows.swap(column, pivot);
        let inverse = rows[column][column].invert_vartime().expect("not zero");
        rows[column].iter_mut().for_each(|entry| *entry *= inverse);
        let pivot = rows[column].clone();
        for (index, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if index != column && !factor.is_zero() {
                row.iter_mut().zip(&pivot).for_each(|(entry, pivot)| *entry -= factor * *pivot);
            }
        }
    }
    let mut factors: Vec<Fr> = rows.iter().map(|row| row[unknowns]).collect();
    let constant = factors.pop().expect("one unknown at least");
    Affine { factors, constant }
}
