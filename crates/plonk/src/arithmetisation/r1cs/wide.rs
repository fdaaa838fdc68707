//! Equations packed into rows of [`WideArithmetic`].
//!
//! A row has room for four terms of a sum, or for a product and two more terms; terms of the product's
//! variables use the product's wires. Remaining terms go to further rows: the next row has their sum on wire
//! 4, which this row reads as `w4'`, and room for three of them. If only one term remains, this row reads it
//! directly from wire 4 of the next row. The next row, the first of another equation, must not need the wire.
//! Equations with one excess term are therefore placed before equations with a free wire.

use super::{
    Derivations, MOST_ROWS, MOST_WIRES,
    equation::{Equations, LinearCombination, QuadraticEquation},
};
use crate::{
    Column, Gate, Layout, PlonkError,
    arithmetisation::gates::{Formula, WideArithmetic},
};
use proofmill_circom::R1cs;
use proofmill_field::{Field, bn254::Fr};
use std::collections::BTreeMap;

/// Wires of a row.
const WIRES: usize = 4;
/// The wire that the preceding row reads.
const LAST: usize = WIRES - 1;
/// The selectors of a row: of the product, of each wire, of the next row's last wire, and the constant.
const SELECTORS: usize = WideArithmetic::SELECTORS.len();
const PRODUCT: usize = 0;
const WIRE: usize = 1;
const NEXT: usize = 5;
const CONSTANT: usize = 6;

/// [`super::layout`] for rows of [`WideArithmetic`].
pub(super) fn layout(r1cs: &R1cs) -> Result<(Layout, Derivations), PlonkError> {
    let (wires, public) = (r1cs.header.wires, r1cs.header.public());
    if wires > MOST_WIRES {
        return Err(PlonkError::TooLarge);
    }
    let mut equations = Equations::new(wires);
    for row in 0..r1cs.a.rows() {
        equations.constrain([
            LinearCombination::new(r1cs.a.row(row)),
            LinearCombination::new(r1cs.b.row(row)),
            LinearCombination::new(r1cs.c.row(row)),
        ]);
        if equations.list.len() > MOST_ROWS {
            return Err(PlonkError::TooLarge);
        }
    }
    let Equations { list, derivations, .. } = equations;
    let most = list.iter().map(|equation| Fit::of(equation).rows).sum::<usize>() + public as usize;
    if most > MOST_ROWS {
        return Err(PlonkError::TooLarge);
    }
    let mut rows = Rows { rows: Vec::with_capacity(most), derivations, claimed: None };
    (1..=public).for_each(|signal| rows.public(signal));
    rows.pack(&list);
    Ok(rows.into_layout(public))
}

/// The rows of an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fit {
    /// The number of rows without borrowing a wire.
    rows: usize,
    /// Whether it takes one row less if its last term is on a wire of another equation's first row.
    borrows: bool,
    /// Whether it takes no more rows if the last wire of its first row is occupied.
    lends: bool,
}

impl Fit {
    fn of(equation: &QuadraticEquation) -> Self {
        let terms = equation.others().count();
        let first = if equation.product.is_some() { WIRES - 2 } else { WIRES };
        let more = terms.saturating_sub(first);
        let rows = 1 + more.div_ceil(LAST);
        Self { rows, borrows: more % LAST == 1, lends: terms < first + (rows - 1) * LAST }
    }
}

impl QuadraticEquation {
    /// The terms that need a wire, without those of the product's variables.
    fn others(&self) -> impl Iterator<Item = (u32, Fr)> {
        let [x, y] = self.product.map_or([0, 0], |(_, factors)| factors);
        self.sum.terms.iter().copied().filter(move |(variable, _)| *variable != x && *variable != y)
    }

    /// The factor of a variable in the sum.
    fn coefficient(&self, variable: u32) -> Fr {
        let terms = &self.sum.terms;
        terms.binary_search_by_key(&variable, |(each, _)| *each).map_or(Fr::ZERO, |index| terms[index].1)
    }
}

/// A row: its variables, and its selectors in the order of the gate.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    wires: [u32; WIRES],
    selectors: [Fr; SELECTORS],
}

impl Row {
    fn put(&mut self, wire: usize, (variable, factor): (u32, Fr)) {
        self.wires[wire] = variable;
        self.selectors[WIRE + wire] = factor;
    }
}

#[derive(Debug)]
struct Rows {
    rows: Vec<Row>,
    derivations: Derivations,
    /// The variable that the preceding row reads on the next row's last wire.
    claimed: Option<u32>,
}

impl Rows {
    fn public(&mut self, signal: u32) {
        let mut row = Row::default();
        row.put(0, (signal, Fr::ONE));
        self.rows.push(row);
    }

    /// The rows of all equations. Equations that borrow a wire are placed before equations that lend one, as
    /// long as there are both.
    fn pack(&mut self, equations: &[QuadraticEquation]) {
        let fitting = |wanted: fn(Fit) -> bool| equations.iter().filter(move |each| wanted(Fit::of(each)));
        let mut borrowers = fitting(|fit| fit.borrows);
        let mut lenders = fitting(|fit| fit.lends && !fit.borrows);
        while let Some(borrower) = borrowers.next() {
            let lender = lenders.next().or_else(|| borrowers.next());
            self.equation(borrower, lender.is_some());
            if let Some(lender) = lender {
                self.equation(lender, false);
            }
        }
        lenders.chain(fitting(|fit| !fit.lends)).for_each(|equation| self.equation(equation, false));
    }

    /// The rows of one equation. With `borrow`, its last term goes to the first row of the next equation if
    /// that saves a row.
    fn equation(&mut self, equation: &QuadraticEquation, borrow: bool) {
        let mut row = Row::default();
        row.selectors[CONSTANT] = equation.sum.constant;
        let mut place = 0;
        if let Some((factor, [x, y])) = equation.product {
            row.selectors[PRODUCT] = factor;
            row.put(0, (x, equation.coefficient(x)));
            row.put(1, (y, if x == y { Fr::ZERO } else { equation.coefficient(y) }));
            place = 2;
        }
        let mut end = WIRES;
        if let Some(variable) = self.claimed.take() {
            row.wires[LAST] = variable;
            end = LAST;
        }
        let mut terms: Vec<_> = equation.others().collect();
        let lent = if borrow { terms.pop() } else { None };
        let rest = terms.split_off(terms.len().min(end - place));
        for (wire, term) in (place..end).zip(terms) {
            row.put(wire, term);
        }
        let sums = self.sums(&rest, lent);
        for (terms, sum) in rest.chunks(LAST).zip(sums) {
            row.selectors[NEXT] = Fr::ONE;
            self.rows.push(std::mem::take(&mut row));
            row.put(LAST, (sum, -Fr::ONE));
            for (wire, term) in terms.iter().enumerate() {
                row.put(wire, *term);
            }
        }
        if let Some((variable, factor)) = lent {
            row.selectors[NEXT] = factor;
            self.claimed = Some(variable);
        }
        self.rows.push(row);
    }

    /// Variables for the sums that each row after the first still has to add: chunks of three of `rest`, and
    /// `lent`.
    fn sums(&mut self, rest: &[(u32, Fr)], lent: Option<(u32, Fr)>) -> Vec<u32> {
        let mut after = lent;
        let mut sums = Vec::new();
        for terms in rest.chunks(LAST).rev() {
            let sum = self.derivations.push(terms.iter().copied().chain(after));
            after = Some((sum, Fr::ONE));
            sums.push(sum);
        }
        sums.reverse();
        sums
    }

    fn into_layout(self, public: u32) -> (Layout, Derivations) {
        let Self { rows, derivations, claimed } = self;
        debug_assert_eq!(claimed, None, "the last equation must not borrow a wire");
        let mut fixed = BTreeMap::new();
        for (index, selector) in WideArithmetic::SELECTORS.iter().enumerate() {
            let values: Vec<Fr> = rows.iter().map(|row| row.selectors[index]).collect();
            if values.iter().any(|value| !value.is_zero()) {
                fixed.insert(Column::Selector(*selector), values);
            }
        }
        let layout = Layout {
            wires: WIRES as u8,
            gates: vec![Gate::WideArithmetic],
            lookup: None,
            public,
            variables: derivations.first() + derivations.len() as u32,
            variables_of: (0..WIRES).map(|wire| rows.iter().map(|row| row.wires[wire]).collect()).collect(),
            fixed,
        };
        (layout, derivations)
    }
}
