//! A circuit laid out as columns: what set-up makes a key of, whoever built it.

use crate::{Column, Gate, LookupArgument};
use proofmill_field::bn254::Fr;
use std::{collections::BTreeMap, ops::RangeInclusive};

/// Logarithms of the domains' sizes that the standard protocol works on: the quotient's 3n + 6 coefficients are
/// blinded in the last 6 of n, and the domain of 4n has a root of unity.
pub(crate) const LOG_N: RangeInclusive<u32> = 3..=26;

/// Logarithms of the domains' sizes of circuits that were built here: the cosets of up to 7 parts lie in a domain of 8n.
pub(crate) const BUILT_LOG_N: RangeInclusive<u32> = 4..=25;

/// Rows, wires and fixed columns of a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Wires of a row: 3 or 4.
    pub wires: u8,
    /// The kinds of gates that it uses, ascending; the first has the public inputs in its first constraint.
    pub gates: Vec<Gate>,
    /// How lookups are proven, if there are any.
    pub lookup: Option<LookupArgument>,
    /// Public inputs: on wire 1 of the first rows.
    pub public: u32,
    /// Variables, of which number 0 stands for no variable and has the value zero.
    pub variables: u32,
    /// The variable on each row of each wire; all of one length, the number of rows.
    pub variables_of: Vec<Vec<u32>>,
    /// Selectors, data and table columns that are not zero everywhere; a column ends with its last nonzero value or later.
    pub fixed: BTreeMap<Column, Vec<Fr>>,
}

impl Layout {
    /// Rows with gates.
    pub fn rows(&self) -> usize {
        self.variables_of.first().map_or(0, Vec::len)
    }

    /// Rows of the lookup tables.
    pub fn table_rows(&self) -> usize {
        (0..4).filter_map(|i| self.fixed.get(&Column::TableColumn(i))).map(Vec::len).max().unwrap_or(0)
    }

    /// The logarithm of the domain's size: rows and tables fit, and with lookups one row of the tables is zero.
    pub fn log_n(&self) -> u32 {
        log_n(self.rows(), self.table_rows(), self.lookup)
    }

    /// With every column that a key has: standard circuits are snarkjs's, whose keys have all selectors.
    pub(crate) fn complete(mut self) -> Self {
        if self.gates == [Gate::Arithmetic] {
            for selector in Gate::Arithmetic.selectors() {
                self.fixed.entry(Column::Selector(*selector)).or_default();
            }
        }
        self
    }
}

/// [`Layout::log_n`] of a layout with so many rows.
pub(crate) fn log_n(rows: usize, table_rows: usize, lookup: Option<LookupArgument>) -> u32 {
    let table_rows = table_rows + usize::from(lookup.is_some());
    rows.max(table_rows).next_power_of_two().trailing_zeros().max(*BUILT_LOG_N.start())
}
