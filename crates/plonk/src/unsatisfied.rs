//! What a witness does not satisfy.

use crate::{Cell, Gate};
use proofmill_field::bn254::Fr;

/// What a witness does not satisfy: the first such row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsatisfied {
    /// A gate's constraint is not zero.
    #[error("row {row}{}: constraint {constraint} of gate {} does not hold with {}", within(gadget), gate.name(), listed(cells))]
    Gate {
        /// The row in the layout: public inputs come first.
        row: usize,
        /// The gadgets that the row was added in, from the outermost, if the circuit is at hand.
        gadget: Option<String>,
        /// The gate.
        gate: Gate,
        /// Which of its constraints, from 0.
        constraint: usize,
        /// What the gate reads of the wires and data.
        cells: Vec<(Cell, Fr)>,
    },
    /// A lookup's values are not a row of its table.
    #[error("row {row}{}: table {} has no row ({})", within(gadget), named(*table, name), tuple.map(decimal).join(", "))]
    Lookup {
        /// The row in the layout: public inputs come first.
        row: usize,
        /// The gadgets that the row was added in, from the outermost, if the circuit is at hand.
        gadget: Option<String>,
        /// The table's number, as the row has it.
        table: Fr,
        /// The table's name, if the circuit is at hand.
        name: Option<String>,
        /// The values.
        tuple: Box<[Fr; 3]>,
    },
    /// Two variables that are asserted to be equal are not.
    #[error("two variables{} are asserted to be equal: {} and {}", within(gadget), decimal(values[0]), decimal(values[1]))]
    Equality {
        /// The gadgets that assert it, from the outermost.
        gadget: Option<String>,
        /// Their values.
        values: [Fr; 2],
    },
}

impl Unsatisfied {
    /// The row looks up values that are not in the table of this number.
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
