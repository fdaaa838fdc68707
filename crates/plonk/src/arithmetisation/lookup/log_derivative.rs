//! logUp. Let f be the looked-up tuples, q the lookup selector, t the tables' rows and m their
//! multiplicities. For random delta, `sum of q / (delta + f) = sum of m / (delta + t)` over all rows holds
//! only if every f with q = 1 is some t (Haböck, eprint 2022/1530, lemma 5, for fewer rows than the field's
//! characteristic).
//!
//! phi is the running sum of the differences. It must return to its first value; this needs no constraint,
//! because the row after the last is the first.

use super::folded;
use crate::{
    Cells, Column, Selector,
    arithmetisation::summand::{FormulaParameters, Growing, LOOKUP_POWERS, Summand, SummandSink},
};
use proofmill_field::Algebra;

/// `(phi' - phi) (delta + f) (delta + t) = q (delta + t) - m (delta + f)`.
#[derive(Clone, Copy)]
pub(crate) struct LogDerivative;

impl Summand for LogDerivative {
    #[inline(always)]
    fn terms<A: Algebra>(
        self,
        cells: &impl Cells<A>,
        parameters: &FormulaParameters<A>,
        sink: &mut impl SummandSink<A>,
    ) {
        let [lookup, table] = fractions(cells, parameters);
        // No constraint fixes phi on the first row: only its differences matter.
        let power = parameters.alpha[LOOKUP_POWERS[0]];
        let (scaled_lookup, scaled_table) = (power * lookup, power * table);
        let both = scaled_lookup * table;
        sink.linear(Column::Selector(Selector::Lookup), -scaled_table);
        sink.linear(Column::Multiplicities, scaled_lookup);
        sink.linear(Column::LookupAccumulator, -both);
        sink.constant(both * cells.after(Column::LookupAccumulator));
    }
}

impl Growing for LogDerivative {
    #[inline(always)]
    fn growth<A: Algebra>(self, cells: &impl Cells<A>, parameters: &FormulaParameters<A>) -> [A; 2] {
        let [lookup, table] = fractions(cells, parameters);
        let q = cells.here(Column::Selector(Selector::Lookup));
        // q / (delta + f) - m / (delta + t) as one fraction.
        [q * table - cells.here(Column::Multiplicities) * lookup, lookup * table]
    }
}

/// `delta + f` and `delta + t`.
#[inline(always)]
fn fractions<A: Algebra>(cells: &impl Cells<A>, parameters: &FormulaParameters<A>) -> [A; 2] {
    [parameters.delta + folded(cells, parameters.eta), parameters.delta + cells.here(Column::Table)]
}
