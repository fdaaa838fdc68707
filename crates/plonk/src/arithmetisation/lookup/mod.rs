//! Lookups: the argument that on every row whose lookup selector is 1, a tuple of wires is a row of the
//! tables.
//!
//! A tuple is a table's number and three values, computed from the wires and the data columns:
//! `v1 = w1 + d1 w1'`, `v2 = w2 + d2 w2' - w4^2`, `v3 = w3 + d3 w3' + w4 (w4^2 - 2 w2 - w2')`, number `d4`.
//! With w4 = 0 and no data, the values are the wires. With d equal to minus a power of two, they are digits
//! of running sums. With w4 the slope of the line through (w2, w3) and the point (-v2, v3), the sum of the
//! two points is (w2', ...): a row adds a point of the table without wires for it.
//!
//! Both arguments fold a tuple into one element by powers of a challenge eta.

pub(crate) mod log_derivative;
pub(crate) mod plookup;
mod tuples;

use crate::{Cells, Column};
use proofmill_field::Algebra;
use proofmill_run::named;
pub(crate) use tuples::{RowCells, Tuples};

/// The lookup argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LookupArgument {
    /// logUp (Haböck, eprint 2022/1530): sums of logarithmic derivatives. Two commitments.
    LogDerivative,
    /// plookup (Gabizon, Williamson, eprint 2020/315): a grand product over the sorted lookups and tables.
    /// Three commitments, and the identity has one degree more.
    Plookup,
}

impl LookupArgument {
    /// All lookup arguments.
    pub const ALL: [Self; 2] = [Self::LogDerivative, Self::Plookup];
}

named!(LookupArgument, "a lookup argument", LogDerivative => "logup", Plookup => "plookup");

/// The three values looked up by a row.
#[inline(always)]
pub(crate) fn values<A: Algebra>(cells: &impl Cells<A>) -> [A; 3] {
    let [x, y, slope] = [cells.wire(1), cells.wire(2), cells.wire(3)];
    let square = slope.square();
    [
        cells.wire(0) + cells.data(0) * cells.next_wire(0),
        x + cells.data(1) * cells.next_wire(1) - square,
        y + cells.data(2) * cells.next_wire(2) + slope * (square - x.double() - cells.next_wire(1)),
    ]
}

/// The folded tuple looked up by a row.
#[inline(always)]
pub(crate) fn folded<A: Algebra>(cells: &impl Cells<A>, eta: A) -> A {
    let [v1, v2, v3] = values(cells);
    v1 + eta * (v2 + eta * (v3 + eta * cells.data(3)))
}

/// The tables' columns in the key, which are folded into [`Column::Table`].
pub(crate) const TABLE_COLUMNS: [Column; 4] =
    [Column::TableColumn(0), Column::TableColumn(1), Column::TableColumn(2), Column::TableColumn(3)];
