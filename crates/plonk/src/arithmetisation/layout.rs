//! A circuit as columns, the input of setup.

use crate::{Column, Gate, LookupArgument};
use proofmill_field::bn254::Fr;
use std::{collections::BTreeMap, ops::RangeInclusive};

/// Logarithms of the sizes of domains that the standard protocol supports. At least 3, because the quotient
/// has 3n + 6 coefficients, and 6 must be less than n. At most 26, because the domain of 4n needs a root of
/// unity.
pub(crate) const LOG_N: RangeInclusive<u32> = 3..=26;

/// Logarithms of the sizes of domains for circuits built in Rust: the cosets of up to 7 parts lie in a domain
/// of 8n.
pub(crate) const BUILT_LOG_N: RangeInclusive<u32> = 4..=25;

/// The rows, wires and fixed columns of a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Wires of a row: 3 or 4.
    pub wires: u8,
    /// The gates of the circuit, ascending. The first constraint of the first gate includes the public
    /// inputs.
    pub gates: Vec<Gate>,
    /// The lookup argument, if the circuit has lookups.
    pub lookup: Option<LookupArgument>,
    /// The number of public inputs. They are on wire 1 of the first rows.
    pub public: u32,
    /// The number of variables, including variable 0, which marks an unused cell and has the value zero.
    pub variables: u32,
    /// The variable on each row, for each wire. All vectors have the same length, the number of rows.
    pub variables_of: Vec<Vec<u32>>,
    /// The selectors, data and table columns that are not all zero. Values missing at the end of a column are
    /// zero.
    pub fixed: BTreeMap<Column, Vec<Fr>>,
}

impl Layout {
    /// The number of rows that have gates.
    pub fn rows(&self) -> usize {
        self.variables_of.first().map_or(0, Vec::len)
    }

    /// The number of rows of all lookup tables together.
    pub fn table_rows(&self) -> usize {
        (0..4).filter_map(|i| self.fixed.get(&Column::TableColumn(i))).map(Vec::len).max().unwrap_or(0)
    }

    /// The logarithm of the smallest domain that holds the rows and the tables. With lookups, one table row
    /// is left zero.
    pub fn log_n(&self) -> u32 {
        log_n(self.rows(), self.table_rows(), self.lookup)
    }

    /// Adds the columns that a key must have: snarkjs's keys have all selectors.
    pub(crate) fn complete(mut self) -> Self {
        if self.gates == [Gate::Arithmetic] {
            for selector in Gate::Arithmetic.selectors() {
                self.fixed.entry(Column::Selector(*selector)).or_default();
            }
        }
        self
    }
}

/// [`Layout::log_n`] for these numbers of rows.
pub(crate) fn log_n(rows: usize, table_rows: usize, lookup: Option<LookupArgument>) -> u32 {
    let table_rows = table_rows + usize::from(lookup.is_some());
    rows.max(table_rows).next_power_of_two().trailing_zeros().max(*BUILT_LOG_N.start())
}
