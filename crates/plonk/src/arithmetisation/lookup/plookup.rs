//! plookup. The vector s contains the looked-up tuples and the tables' rows, sorted in the order of the
//! tables. The pairs of neighbours in s are those of the tables and, for each lookup, a pair of equal tuples.
//! For random delta and epsilon this is an equality of two products (Gabizon, Williamson, eprint 2020/315,
//! section 3). s has 2n values; the ones at even indices are h1, those at odd indices h2 (Pearson and others,
//! PlonKup, eprint 2022/086). Here neighbours are cyclic, in the tables and in s, so that no row is special.
//! This is sound: s contains at least one pair of the tables. Following s cyclically from a repeated value to
//! the next such pair shows that the value is in the tables.
//!
//! A row without a lookup looks up zero, so one row of the tables is zero in all columns.

use super::folded;
use crate::{
    Cells, Column, Selector,
    arithmetisation::summand::{FormulaParameters, Growing, LOOKUP_POWERS, Summand, SummandSink},
};
use proofmill_field::Algebra;

/// `z (1 + delta) (epsilon + q f) (epsilon (1 + delta) + t + delta t')
/// = z' (epsilon (1 + delta) + h1 + delta h2) (epsilon (1 + delta) + h2 + delta h1')`,
/// and z = 1 on the first row.
#[derive(Clone, Copy)]
pub(crate) struct Plookup;

impl Summand for Plookup {
    #[inline(always)]
    fn terms<A: Algebra>(
        self,
        cells: &impl Cells<A>,
        parameters: &FormulaParameters<A>,
        sink: &mut impl SummandSink<A>,
    ) {
        let [power, power_of_start] =
            [parameters.alpha[LOOKUP_POWERS[0]], parameters.alpha[LOOKUP_POWERS[1]]];
        // `L_1 (z - 1)`: without it, z = 0 on all rows would satisfy the other constraint.
        let start = power_of_start * cells.here(Column::FirstLagrange);
        sink.linear(Column::LookupAccumulator, power * numerator(cells, parameters) + start);
        // The right-hand side is linear in h1.
        let shifted = power * cells.after(Column::LookupAccumulator) * second_factor(cells, parameters);
        let h2 = cells.here(Column::Sorted(1));
        sink.linear(Column::Sorted(0), -shifted);
        sink.constant(-(shifted * (offset(parameters) + parameters.delta * h2)) - start);
    }
}

impl Growing for Plookup {
    #[inline(always)]
    fn growth<A: Algebra>(self, cells: &impl Cells<A>, parameters: &FormulaParameters<A>) -> [A; 2] {
        let h1 = cells.here(Column::Sorted(0));
        let first_factor = offset(parameters) + h1 + parameters.delta * cells.here(Column::Sorted(1));
        [numerator(cells, parameters), first_factor * second_factor(cells, parameters)]
    }
}

/// `epsilon (1 + delta)`.
#[inline(always)]
fn offset<A: Algebra>(parameters: &FormulaParameters<A>) -> A {
    parameters.epsilon * (A::one(parameters.delta.token()) + parameters.delta)
}

#[inline(always)]
fn numerator<A: Algebra>(cells: &impl Cells<A>, parameters: &FormulaParameters<A>) -> A {
    let delta = parameters.delta;
    // q f is zero on rows without a lookup, and zero is a row of the tables.
    let lookup = cells.here(Column::Selector(Selector::Lookup)) * folded(cells, parameters.eta);
    let table = cells.here(Column::Table) + delta * cells.after(Column::Table);
    (A::one(delta.token()) + delta) * (parameters.epsilon + lookup) * (offset(parameters) + table)
}

#[inline(always)]
fn second_factor<A: Algebra>(cells: &impl Cells<A>, parameters: &FormulaParameters<A>) -> A {
    offset(parameters) + cells.here(Column::Sorted(1)) + parameters.delta * cells.after(Column::Sorted(0))
}
