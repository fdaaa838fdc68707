//! Where a witness does not satisfy a circuit: row by row, in the open.

use crate::{Cell, Cells, Circuit, Column, Gate, Layout, Selector, lookup};
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
    /// The row that `cells` are of looks up what is in no table.
    pub(crate) fn lookup(cells: &impl Cells<Fr>, row: usize) -> Self {
        let tuple = Box::new(lookup::values(cells));
        Self::Lookup { row, gadget: None, table: cells.data(3), name: None, tuple }
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
    let checker = Checker::new(layout, values);
    let unsatisfied = (0..layout.rows()).into_par_iter().find_map_first(|row| checker.row(row).next());
    unsatisfied.map_or(Ok(()), Err)
}

/// Everything that the variables' values do not satisfy.
#[cfg(test)]
pub(crate) fn all_unsatisfied(layout: &Layout, values: &[Fr]) -> Vec<Unsatisfied> {
    let checker = Checker::new(layout, values);
    (0..layout.rows()).flat_map(|row| checker.row(row)).collect()
}

/// A gate with what it multiplies by.
struct Checked<'a> {
    gate: Gate,
    constants: Vec<Fr>,
    selectors: Vec<&'a [Fr]>,
}

struct Checker<'a> {
    layout: &'a Layout,
    values: &'a [Fr],
    gates: Vec<Checked<'a>>,
    tables: HashSet<TableRow>,
    /// Rows of the domain; the first follows the last.
    domain: usize,
}

impl<'a> Checker<'a> {
    fn new(layout: &'a Layout, values: &'a [Fr]) -> Self {
        let column = |selector: &Selector| {
            layout.fixed.get(&Column::Selector(*selector)).map(Vec::as_slice).unwrap_or_default()
        };
        let checked = |gate: &Gate| Checked {
            gate: *gate,
            constants: gate.constants(),
            selectors: gate.selectors().iter().map(column).collect(),
        };
        Self {
            layout,
            values,
            gates: layout.gates.iter().map(checked).collect(),
            tables: table_rows(layout),
            domain: 1 << layout.log_n(),
        }
    }

    /// What does not hold on a row.
    fn row(&self, row: usize) -> impl Iterator<Item = Unsatisfied> + use<'_> {
        let cells = RowCells { checker: self, row };
        let gates = self.gates.iter().flat_map(move |gate| cells.failing_constraints(gate));
        gates.chain(std::iter::once_with(move || cells.failing_lookup()).flatten())
    }
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
    checker: &'a Checker<'a>,
    row: usize,
}

impl RowCells<'_> {
    fn cell(&self, column: Column, row: usize) -> Fr {
        let Checker { layout, values, .. } = self.checker;
        let Column::Wire(wire) = column else { return at(layout, column, row) };
        let variable = layout.variables_of[wire as usize].get(row).copied().unwrap_or_default();
        values[variable as usize]
    }

    fn failing_constraints(&self, Checked { gate, constants, selectors }: &Checked<'_>) -> Vec<Unsatisfied> {
        let Checker { layout, gates, .. } = self.checker;
        let selector = |index: usize| selectors[index].get(self.row).copied().unwrap_or_default();
        let public = self.row < layout.public as usize && gates[0].gate == *gate;
        failing_constraints(self, self.row, *gate, constants, selector, public)
    }

    fn failing_lookup(&self) -> Option<Unsatisfied> {
        if self.here(Column::Selector(Selector::Lookup)).is_zero() {
            return None;
        }
        let [v1, v2, v3] = lookup::values(self);
        let known = self.checker.tables.contains(&[v1, v2, v3, self.data(3)].map(Fr::to_montgomery));
        (!known).then(|| Unsatisfied::lookup(self, self.row))
    }
}

impl Cells<Fr> for RowCells<'_> {
    fn here(&self, column: Column) -> Fr {
        self.cell(column, self.row)
    }

    fn after(&self, column: Column) -> Fr {
        self.cell(column, (self.row + 1) % self.checker.domain)
    }
}

/// The constraints of a gate that do not hold on the row that `cells` are of, for the values of its selectors there; `public` if
/// the first of them has a public input.
pub(crate) fn failing_constraints(
    cells: &impl Cells<Fr>,
    row: usize,
    gate: Gate,
    constants: &[Fr],
    selector: impl Fn(usize) -> Fr,
    public: bool,
) -> Vec<Unsatisfied> {
    if !public && (0..gate.selectors().len()).all(|index| selector(index).is_zero()) {
        return Vec::new();
    }
    let mut sums = vec![Fr::ZERO; gate.constraints()];
    if public {
        sums[0] = -cells.wire(0);
    }
    gate.terms(cells, constants, &mut |constraint, index, term: Fr| {
        sums[constraint] += selector(index) * term;
    });
    let failing = (0..).zip(sums).filter(|(_, sum)| !sum.is_zero());
    failing.map(|(constraint, _)| failure(cells, row, gate, constants, constraint)).collect()
}

#[cold]
fn failure(
    cells: &impl Cells<Fr>,
    row: usize,
    gate: Gate,
    constants: &[Fr],
    constraint: usize,
) -> Unsatisfied {
    let recorder = Recorder { row: cells, read: RefCell::default() };
    gate.terms(&recorder, constants, &mut |_, _, _| {});
    let mut cells = recorder.read.into_inner();
    cells.sort_by_key(|(cell, _)| *cell);
    Unsatisfied::Gate { row, gadget: None, gate, constraint, cells }
}

/// Notes what is read.
struct Recorder<'a, C> {
    row: &'a C,
    read: RefCell<Vec<(Cell, Fr)>>,
}

impl<C> Recorder<'_, C> {
    fn note(&self, next: bool, column: Column, value: Fr) -> Fr {
        let (cell, mut read) = (Cell { next, column }, self.read.borrow_mut());
        if read.iter().all(|(known, _)| *known != cell) {
            read.push((cell, value));
        }
        value
    }
}

impl<C: Cells<Fr>> Cells<Fr> for Recorder<'_, C> {
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
