//! Violations of a circuit by a witness.

use crate::{Cell, Gate};
use proofmill_field::bn254::Fr;
use std::{error, fmt};

/// The first violation of a circuit by a witness.
///
/// `{}` prints where it is; `{:#}` also prints the values, which are secrets of the prover.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsatisfied {
    /// A gate's constraint is not zero.
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
    Equality {
        /// The path of gadgets that assert it, outermost first.
        gadget: Option<String>,
        /// The values of the two variables.
        values: [Fr; 2],
    },
}

impl error::Error for Unsatisfied {}

impl fmt::Display for Unsatisfied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with_values = f.alternate();
        match self {
            Self::Gate { row, gadget, gate, constraint, cells } => {
                let (within, gate) = (within(gadget), gate.name());
                write!(f, "row {row}{within}: constraint {constraint} of gate {gate} does not hold ")?;
                let cell = |(cell, value): &(Cell, Fr)| {
                    let name = format!("{}{}", cell.column, if cell.next { "'" } else { "" });
                    if with_values { format!("{name} = {value}") } else { name }
                };
                let cells = cells.iter().map(cell).collect::<Vec<_>>().join(", ");
                write!(f, "{} {cells}", if with_values { "with" } else { "for" })
            }
            Self::Lookup { row, gadget, table, name, tuple } => {
                let table = name.as_ref().map_or_else(|| table.to_string(), |name| format!("{name:?}"));
                write!(f, "row {row}{}: table {table} has no row ", within(gadget))?;
                match with_values {
                    true => write!(f, "({})", tuple.map(|value| value.to_string()).join(", ")),
                    false => f.write_str("of the values looked up"),
                }
            }
            Self::Equality { gadget, values: [left, right] } => {
                write!(f, "two variables{} are asserted to be equal, but differ", within(gadget))?;
                if with_values { write!(f, ": {left} and {right}") } else { Ok(()) }
            }
        }
    }
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
