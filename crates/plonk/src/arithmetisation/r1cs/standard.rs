//! Translates R1CS constraints to rows of the standard arithmetisation.
//!
//! A verification key, and so every deployed verifier, depends on the order of rows and new variables. The
//! decomposition is therefore snarkjs's, step by step:
//!
//! * one row `q_l a = public input` for each public signal, first;
//! * constraints in the file's order, the terms of each linear combination in ascending order of signals
//!   (whether terms with coefficient zero count as terms depends on the protocol: [`ZeroTerms`]);
//! * `A * B = C` with A or B without any term: a row for `C = 0`; with A (or B) constant: rows for
//!   `A * B - C = 0`, a linear combination; otherwise rows for A, B and C and one row that multiplies;
//! * a linear combination with more than the allowed number of terms (3 in a sum, 1 as a factor) is a queue:
//!   the first two terms are removed, and a new variable for their sum is appended.
//!
//! Variable 0 is R1CS's constant one. In rows it means "no wire" and has the value zero.

use super::{Derivations, MOST_ROWS, MOST_WIRES};
use crate::{
    Column, Gate, Layout, PlonkError,
    arithmetisation::{
        gates::{Arithmetic, Formula},
        layout::LOG_N,
    },
};
use proofmill_circom::{Addition, R1cs};
use proofmill_field::{Field, bn254::Fr};
use std::collections::{BTreeMap, VecDeque};

/// Wires of a row.
const WIRES: usize = 3;
/// Selectors of a row.
const SELECTORS: usize = 5;

/// One gate: the variables on its wires, and its selectors in the order of `System::standard`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The variables on wires a, b, c; 0 for none.
    pub wires: [u32; WIRES],
    /// q_m, q_l, q_r, q_o, q_c.
    pub selectors: [Fr; SELECTORS],
}

/// Whether terms with coefficient zero, given or cancelled, count as terms of a linear combination. They do in
/// `snarkjs plonk setup`, whose comparison with zero never holds, and do not in `snarkjs fflonk setup`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroTerms {
    /// They count, as in PLONK's keys.
    Kept,
    /// They do not count, as in fflonk's keys.
    Dropped,
}

/// A circuit in the standard arithmetisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decomposition {
    /// The number of public signals: variables `1..=public`, which have the first rows.
    pub public: u32,
    /// The number of variables: R1CS's wires, then one for each addition.
    pub variables: u32,
    /// The derivations of the additional variables, in order.
    pub additions: Vec<Addition>,
    /// The gates.
    pub rows: Vec<Row>,
    /// Whether zeros count as terms.
    pub zero_terms: ZeroTerms,
}

/// The terms of a linear combination in ascending order of signals, without the constant.
#[derive(Clone, Debug, Default)]
struct Combination {
    constant: Option<Fr>,
    terms: VecDeque<(u32, Fr)>,
}

impl Combination {
    fn new(terms: impl Iterator<Item = (u32, Fr)>) -> Self {
        let mut terms: Vec<_> = terms.collect();
        terms.sort_unstable_by_key(|(signal, _)| *signal);
        let mut terms = VecDeque::from(terms);
        let constant = terms.pop_front_if(|(signal, _)| *signal == 0).map(|(_, constant)| constant);
        Self { constant, terms }
    }

    /// Removes zeros if they do not count.
    fn with(mut self, zero_terms: ZeroTerms) -> Self {
        if zero_terms == ZeroTerms::Dropped {
            self.constant = self.constant.filter(|constant| !constant.is_zero());
            self.terms.retain(|(_, coefficient)| !coefficient.is_zero());
        }
        self
    }

    /// `factor * self - other`, over the signals of either.
    fn scaled_minus(self, factor: Fr, other: Self) -> Self {
        let constant = match (self.constant, other.constant) {
            (None, None) => None,
            (left, right) => Some(factor * left.unwrap_or_default() - right.unwrap_or_default()),
        };
        let (mut left, mut right) = (self.terms.into_iter().peekable(), other.terms.into_iter().peekable());
        let mut terms = VecDeque::new();
        loop {
            let signal = match (left.peek(), right.peek()) {
                (None, None) => return Self { constant, terms },
                (Some((signal, _)), None) | (None, Some((signal, _))) => *signal,
                (Some((l, _)), Some((r, _))) => *l.min(r),
            };
            let l = left.next_if(|(s, _)| *s == signal).map_or(Fr::ZERO, |(_, coefficient)| coefficient);
            let r = right.next_if(|(s, _)| *s == signal).map_or(Fr::ZERO, |(_, coefficient)| coefficient);
            terms.push_back((signal, factor * l - r));
        }
    }
}

impl Decomposition {
    /// An empty circuit for R1CS wires `0..wires`; wires `1..=public` are public.
    pub fn new(wires: u32, public: u32, zero_terms: ZeroTerms) -> Self {
        let row = |signal| Row {
            wires: [signal, 0, 0],
            selectors: [Fr::ZERO, Fr::ONE, Fr::ZERO, Fr::ZERO, Fr::ZERO],
        };
        let rows = (1..=public).map(row).collect();
        Self { public, variables: wires, additions: Vec::new(), rows, zero_terms }
    }

    /// The rows of all constraints of a circuit.
    ///
    /// # Errors
    /// [`PlonkError::TooLarge`].
    pub fn of(r1cs: &R1cs, zero_terms: ZeroTerms) -> Result<Self, PlonkError> {
        let (wires, public) = (r1cs.header.wires, r1cs.header.public());
        if public as usize > MOST_ROWS || wires > MOST_WIRES {
            return Err(PlonkError::TooLarge);
        }
        let mut circuit = Self::new(wires, public, zero_terms);
        for row in 0..r1cs.a.rows() {
            circuit.constrain([r1cs.a.row(row), r1cs.b.row(row), r1cs.c.row(row)]);
            if circuit.rows.len() > MOST_ROWS {
                return Err(PlonkError::TooLarge);
            }
        }
        Ok(circuit)
    }

    /// The columns, and the derivations of the additional variables.
    pub fn into_layout(self) -> (Layout, Derivations) {
        let Self { public, variables, additions, rows, .. } = self;
        let mut fixed = BTreeMap::new();
        for (index, selector) in Arithmetic::SELECTORS.iter().enumerate() {
            let values: Vec<Fr> = rows.iter().map(|row| row.selectors[index]).collect();
            if values.iter().any(|value| !value.is_zero()) {
                fixed.insert(Column::Selector(*selector), values);
            }
        }
        let layout = Layout {
            wires: WIRES as u8,
            gates: vec![Gate::Arithmetic],
            lookup: None,
            public,
            variables,
            variables_of: (0..WIRES).map(|wire| rows.iter().map(|row| row.wires[wire]).collect()).collect(),
            fixed,
        };
        (layout, Derivations::from_additions(variables - additions.len() as u32, additions))
    }

    /// Adds the rows of the constraint [a, b, c], `a * b = c`. Each part is a sum of (wire, coefficient) in
    /// any order with distinct wires.
    ///
    /// # Panics
    /// If there are 2^32 variables.
    pub fn constrain(&mut self, constraint: [impl Iterator<Item = (u32, Fr)>; 3]) {
        let [a, b, c] = constraint.map(|terms| Combination::new(terms).with(self.zero_terms));
        match (a.terms.is_empty(), a.constant, b.terms.is_empty(), b.constant) {
            (true, None, ..) | (_, _, true, None) => self.sum(c),
            (true, Some(factor), ..) => self.sum(b.scaled_minus(factor, c)),
            (_, _, true, Some(factor)) => self.sum(a.scaled_minus(factor, c)),
            _ => self.product(a, b, c),
        }
    }

    /// Rows for `combination = 0`.
    fn sum(&mut self, combination: Combination) {
        let combination = combination.with(self.zero_terms);
        let (terms, constant) = self.reduce::<WIRES>(combination);
        let [ql, qr, qo] = terms.map(|(_, coefficient)| coefficient);
        let wires = terms.map(|(variable, _)| variable);
        self.rows.push(Row { wires, selectors: [Fr::ZERO, ql, qr, qo, constant] });
    }

    /// Rows for `a * b = c`.
    fn product(&mut self, a: Combination, b: Combination, c: Combination) {
        let ([(a, ka)], a0) = self.reduce(a);
        let ([(b, kb)], b0) = self.reduce(b);
        let ([(c, kc)], c0) = self.reduce(c);
        let selectors = [ka * kb, ka * b0, a0 * kb, -kc, a0 * b0 - c0];
        self.rows.push(Row { wires: [a, b, c], selectors });
    }

    /// Reduces the combination to at most `N` terms (padded with 0 times variable 0) and its constant.
    fn reduce<const N: usize>(&mut self, combination: Combination) -> ([(u32, Fr); N], Fr) {
        let Combination { constant, terms: mut queue } = combination;
        while queue.len() > N
            && let (Some(left), Some(right)) = (queue.pop_front(), queue.pop_front())
        {
            queue.push_back((self.add(left, right), Fr::ONE));
        }
        let mut terms = [(0, Fr::ZERO); N];
        for (slot, term) in terms.iter_mut().zip(queue) {
            *slot = term;
        }
        (terms, constant.unwrap_or_default())
    }

    /// A new variable for the sum of two terms.
    fn add(&mut self, left: (u32, Fr), right: (u32, Fr)) -> u32 {
        let sum = self.variables;
        self.variables = sum.checked_add(1).expect("fewer than 2^32 variables");
        let selectors = [Fr::ZERO, -left.1, -right.1, Fr::ONE, Fr::ZERO];
        self.rows.push(Row { wires: [left.0, right.0, sum], selectors });
        self.additions.push(Addition {
            left: left.0,
            right: right.0,
            left_factor: left.1,
            right_factor: right.1,
        });
        sum
    }

    /// The logarithm of the domain's size for all rows and `free` more, at least the smallest that the
    /// protocol supports.
    pub fn log_n(&self, free: usize) -> u32 {
        log_n(self.rows.len() + free)
    }
}

/// The logarithm of the domain's size for so many rows.
pub(crate) fn log_n(rows: usize) -> u32 {
    rows.next_power_of_two().trailing_zeros().max(*LOG_N.start())
}

/// The number of rows of a [`Decomposition`], counted in the memory of one constraint.
#[derive(Clone, Debug)]
pub struct RowCount {
    /// The rows that have not been counted.
    circuit: Decomposition,
    rows: usize,
}

impl RowCount {
    /// The rows of a circuit's public signals.
    pub fn new(public: u32, zero_terms: ZeroTerms) -> Self {
        Self { circuit: Decomposition::new(0, 0, zero_terms), rows: public as usize }
    }

    /// Counts the rows of a constraint, as [`Decomposition::constrain`] adds them.
    pub fn constrain(&mut self, constraint: [impl Iterator<Item = (u32, Fr)>; 3]) {
        self.circuit.constrain(constraint);
        self.rows += self.circuit.rows.len();
        self.circuit.rows.clear();
        self.circuit.additions.clear();
        // The numbers of variables do not matter.
        self.circuit.variables = 0;
    }

    /// The number so far.
    pub fn rows(&self) -> usize {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lc(terms: &[(u32, u64)]) -> impl Iterator<Item = (u32, Fr)> {
        terms.iter().map(|&(signal, coefficient)| (signal, coefficient.into()))
    }

    fn row(wires: [u32; WIRES], selectors: [i64; SELECTORS]) -> Row {
        let element = |value: i64| {
            let magnitude = Fr::from(value.unsigned_abs());
            if value < 0 { -magnitude } else { magnitude }
        };
        Row { wires, selectors: selectors.map(element) }
    }

    #[test]
    fn a_product_of_sums_is_reduced_pairwise() {
        let mut circuit = Decomposition::new(6, 1, ZeroTerms::Kept);
        circuit.constrain([lc(&[(4, 7), (2, 5), (0, 9)]), lc(&[(3, 2)]), lc(&[(5, 1), (0, 4)])]);
        assert_eq!(circuit.variables, 7);
        assert_eq!(
            circuit.additions,
            [Addition { left: 2, right: 4, left_factor: 5.into(), right_factor: 7.into() }],
            "ascending signals"
        );
        assert_eq!(
            circuit.rows,
            [
                row([1, 0, 0], [0, 1, 0, 0, 0]),
                row([2, 4, 6], [0, -5, -7, 1, 0]),
                row([6, 3, 5], [2, 0, 18, -1, -4]),
            ]
        );
    }

    #[test]
    fn a_constant_factor_makes_a_sum_and_keeps_cancelled_terms() {
        let mut circuit = Decomposition::new(6, 0, ZeroTerms::Kept);
        // 2 * (3 x1 + x2 + x4 + 5) = 6 x1 + x3, so x1 cancels but keeps its place in the queue.
        circuit.constrain([lc(&[(0, 2)]), lc(&[(1, 3), (2, 1), (4, 1), (0, 5)]), lc(&[(1, 6), (3, 1)])]);
        assert_eq!(circuit.rows, [row([1, 2, 6], [0, 0, -2, 1, 0]), row([3, 4, 6], [0, -1, 2, 1, 10])]);
    }

    #[test]
    fn zeros_that_are_dropped_are_not_terms() {
        let mut circuit = Decomposition::new(6, 0, ZeroTerms::Dropped);
        circuit.constrain([lc(&[(0, 2)]), lc(&[(1, 3), (2, 1), (4, 1), (0, 5)]), lc(&[(1, 6), (3, 1)])]);
        assert_eq!(circuit.rows, [row([2, 3, 4], [0, 2, -1, 2, 10])]);
        circuit.constrain([lc(&[(0, 0), (1, 0)]), lc(&[(1, 1)]), lc(&[(2, 4), (3, 0)])]);
        assert_eq!(circuit.rows[1], row([2, 0, 0], [0, 4, 0, 0, 0]));
    }

    #[test]
    fn a_product_with_an_empty_factor_constrains_only_the_result() {
        let mut circuit = Decomposition::new(4, 0, ZeroTerms::Kept);
        circuit.constrain([lc(&[]), lc(&[(1, 1)]), lc(&[(2, 4)])]);
        assert_eq!(circuit.rows, [row([2, 0, 0], [0, 4, 0, 0, 0])]);
        assert_eq!([circuit.log_n(0), circuit.log_n(8)], [3, 4]);
    }
}
