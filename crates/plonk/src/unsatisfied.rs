//! Violations of a circuit by a witness.

use crate::{Cell, Gate};
use proofmill_field::bn254::Fr;

/// The first violation of a circuit by a witness.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsatisfied {
    /// A gate's constraint is not zero.
    #[error("row {row}{}: constraint {constraint} of gate {} does not hold with {}", within(gadget), gate.name(), listed(cells))]
    Gate {
        /// The row in the layout. Public inputs come first.
        row: usize,
        /// The path of gadgets that added the row, outermost first, if the circuit is known.
        gadget: Option<String>,
        /// The gate.
        gate: Gate,
        /// The index of the constraint in the gate, from 0.
        constraint: usize,
        /// The wires and data cells that the constraint reads, with their values.
        cells: Vec<(Cell, Fr)>,
    },
    /// The values of a lookup are not a row of its table.
    #[error("row {row}{}: table {} has no row ({})", within(gadget), named(*table, name), tuple.map(decimal).join(", "))]
    Lookup {
        /// The row in the layout. Public inputs come first.
        row: usize,
        /// The path of gadgets that added the row, outermost first, if the circuit is known.
        gadget: Option<String>,
        /// The table's number in this row.
        table: Fr,
        /// The table's name, if the circuit is known.
        name: Option<String>,
        /// The values looked up.
        tuple: Box<[Fr; 3]>,
    },
    /// Two variables are asserted to be equal but differ.
    #[error("two variables{} are asserted to be equal: {} and {}", within(gadget), decimal(values[0]), decimal(values[1]))]
    Equality {
        /// The path of gadgets that assert it, outermost first.
        gadget: Option<String>,
        /// The values of the two variables.
        values: [Fr; 2],
    },
}

impl Unsatisfied {
    /// A lookup of values that the table of this number does not contain.
    pub(crate) fn lookup(row: usize, table: Fr, tuple: [Fr; 3]) -> Self {
        Self::Lookup { row, gadget: None, table, name: None, tuple: Box::new(tuple) }
    }
}

fn within(gadget: &Option<String>) -> String {
    gadget.as_ref().map(|gadget| format!(" in {gadget}")).unwrap_or_default()
}

fn named(number: Fr, name: &Option<String>) -> String {
    name.as_ref().map_or_else(|| decimal(number), |name| format!("{name:?}"))
}

fn decimal(value: Fr) -> String {
    value.to_string()
}

fn listed(cells: &[(Cell, Fr)]) -> String {
    let one = |(cell, value): &(Cell, Fr)| {
        format!("{}{} = {}", cell.column, if cell.next { "'" } else { "" }, decimal(*value))
    };
    cells.iter().map(one).collect::<Vec<_>>().join(", ")
}
