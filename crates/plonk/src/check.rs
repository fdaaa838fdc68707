//! Where a witness does not satisfy a circuit: row by row, in the open.

use crate::{Cell, Cells, Circuit, Column, Gate, Layout, Selector};
use proofmill_field::{Field, bn254::Fr};
use rayon::prelude::*;
use std::{cell::RefCell, collections::HashSet};

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
        tuple: [Fr; 3],
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

/// The first row of a layout that the variables' values do not satisfy.
///
/// Runs on the ambient rayon pool.
///
/// # Errors
/// [`Unsatisfied::Gate`], [`Unsatisfied::Lookup`].
///
/// # Panics
/// If a row's variable has no value.
pub fn check_layout(layout: &Layout, values: &[Fr]) -> Result<(), Unsatisfied> {
    let gates = layout.gates.iter().map(|gate| (*gate, gate.constants())).collect::<Vec<_>>();
    let tables = table_rows(layout);
    let unsatisfied = (0..layout.rows()).into_par_iter().find_map_first(|row| {
        let row = RowCells { layout, values, row };
        let failing = gates.iter().find_map(|(gate, constants)| row.failing_gate(*gate, constants));
        failing.or_else(|| row.failing_lookup(&tables))
    });
    unsatisfied.map_or(Ok(()), Err)
}

/// Montgomery words of three values and a table's number.
type TableRow = [[u64; 4]; 4];

/// The tables' rows, each with its table's number.
fn table_rows(layout: &Layout) -> HashSet<TableRow> {
    let column = |index: u8, row: usize| at(layout, Column::TableColumn(index), row).to_montgomery();
    (0..layout.table_rows()).map(|row| std::array::from_fn(|index| column(index as u8, row))).collect()
}

fn at(layout: &Layout, column: Column, row: usize) -> Fr {
    layout.fixed.get(&column).and_then(|values| values.get(row)).copied().unwrap_or_default()
}

/// The cells that a constraint sees from one row. Beyond the last row there are zeros.
#[derive(Clone, Copy)]
struct RowCells<'a> {
    layout: &'a Layout,
    values: &'a [Fr],
    row: usize,
}

impl RowCells<'_> {
    fn cell(&self, column: Column, row: usize) -> Fr {
        let Column::Wire(wire) = column else { return at(self.layout, column, row) };
        let variable = self.layout.variables_of[wire as usize].get(row).copied().unwrap_or_default();
        self.values[variable as usize]
    }

    fn failing_gate(&self, gate: Gate, constants: &[Fr]) -> Option<Unsatisfied> {
        let selectors = gate.selectors();
        let selector = |index: usize| self.here(Column::Selector(selectors[index]));
        let public = self.row < self.layout.public as usize && self.layout.gates.first() == Some(&gate);
        if !public && (0..selectors.len()).all(|index| selector(index).is_zero()) {
            return None;
        }
        let mut sums = vec![Fr::ZERO; gate.constraints()];
        if public {
            sums[0] = -self.wire(0);
        }
        gate.terms(self, constants, &mut |constraint, index, term: Fr| {
            sums[constraint] += selector(index) * term;
        });
        let constraint = sums.iter().position(|sum| !sum.is_zero())?;
        let recorder = Recorder { row: *self, read: RefCell::default() };
        gate.terms(&recorder, constants, &mut |_, _, _| {});
        let cells = recorder.read.into_inner();
        Some(Unsatisfied::Gate { row: self.row, gadget: None, gate, constraint, cells })
    }

    fn failing_lookup(&self, tables: &HashSet<TableRow>) -> Option<Unsatisfied> {
        if self.here(Column::Selector(Selector::Lookup)).is_zero() {
            return None;
        }
        let [w1, w2, w3, w4] = [0, 1, 2, 3].map(|wire| self.wire(wire));
        let [n1, n2, n3] = [0, 1, 2].map(|wire| self.next_wire(wire));
        let [d1, d2, d3, table] = [0, 1, 2, 3].map(|index| self.data(index));
        let square = w4 * w4;
        let tuple = [w1 + d1 * n1, w2 + d2 * n2 - square, w3 + d3 * n3 + w4 * (square - w2 - w2 - n2)];
        let known = tables.contains(&[tuple[0], tuple[1], tuple[2], table].map(Fr::to_montgomery));
        (!known).then_some(Unsatisfied::Lookup { row: self.row, gadget: None, table, name: None, tuple })
    }
}

impl Cells<Fr> for RowCells<'_> {
    fn here(&self, column: Column) -> Fr {
        self.cell(column, self.row)
    }

    fn after(&self, column: Column) -> Fr {
        self.cell(column, self.row + 1)
    }
}

/// Notes what is read.
struct Recorder<'a> {
    row: RowCells<'a>,
    read: RefCell<Vec<(Cell, Fr)>>,
}

impl Recorder<'_> {
    fn note(&self, next: bool, column: Column, value: Fr) -> Fr {
        let (cell, mut read) = (Cell { next, column }, self.read.borrow_mut());
        if read.iter().all(|(known, _)| *known != cell) {
            read.push((cell, value));
            read.sort_by_key(|(cell, _)| *cell);
        }
        value
    }
}

impl Cells<Fr> for Recorder<'_> {
    fn here(&self, column: Column) -> Fr {
        self.note(false, column, self.row.here(column))
    }

    fn after(&self, column: Column) -> Fr {
        self.note(true, column, self.row.after(column))
    }
}

impl Circuit {
    /// Whether the values satisfy every row, lookup and equality.
    ///
    /// # Errors
    /// The first that they do not: equalities, then rows.
    pub fn check(&self) -> Result<(), Unsatisfied> {
        self.check_equalities()?;
        check_layout(&self.layout(), self.values()).map_err(|unsatisfied| self.explain(unsatisfied))
    }

    /// Adds the names that the layout does not have.
    fn explain(&self, mut unsatisfied: Unsatisfied) -> Unsatisfied {
        match &mut unsatisfied {
            Unsatisfied::Gate { row, gadget, .. } => *gadget = self.gadget_of(*row),
            Unsatisfied::Lookup { row, gadget, table, name, .. } => {
                *gadget = self.gadget_of(*row);
                *name = self.table_name(*table);
            }
            Unsatisfied::Equality { .. } => {}
        }
        unsatisfied
    }
}
