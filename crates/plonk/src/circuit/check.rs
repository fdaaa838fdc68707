//! Checks a witness against a circuit, row by row.

use super::unsatisfied::Unsatisfied;
use crate::{Cell, Cells, Column, Gate, Layout, Selector, arithmetisation::lookup};
use proofmill_field::{Field, bn254::Fr};
use proofmill_run::parallel;
use std::{cell::RefCell, collections::HashSet};

/// Returns an error for the first row of a layout that the values of the variables do not satisfy.
/// `values[i]` belongs to variable i.
///
/// Runs on the ambient rayon pool.
///
/// # Errors
/// [`Unsatisfied::Gate`], [`Unsatisfied::Lookup`].
///
/// # Panics
/// If a variable in a row has no value.
pub fn check_layout(layout: &Layout, values: &[Fr]) -> Result<(), Unsatisfied> {
    let checker = LayoutChecker::new(layout);
    let pieces = parallel::ranges(layout.rows(), 1 << 8);
    let unsatisfied = parallel::map(pieces, |mut rows| rows.find_map(|row| checker.row(values, row).err()));
    unsatisfied.into_iter().flatten().next().map_or(Ok(()), Err)
}

/// All violations.
#[cfg(test)]
pub(crate) fn all_unsatisfied(layout: &Layout, values: &[Fr]) -> Vec<Unsatisfied> {
    let checker = LayoutChecker::new(layout);
    (0..layout.rows()).flat_map(|row| checker.violations(values, row).collect::<Vec<_>>()).collect()
}

/// A gate with its constants and selector columns.
struct Checked<'a> {
    gate: Gate,
    constants: Vec<Fr>,
    selectors: Vec<&'a [Fr]>,
}

/// Checks single rows of a layout, for callers that change few values at a time.
pub struct LayoutChecker<'a> {
    layout: &'a Layout,
    gates: Vec<Checked<'a>>,
    tables: HashSet<TableRow>,
    /// The number of rows of the domain. The row after the last is the first.
    domain: usize,
}

impl<'a> LayoutChecker<'a> {
    /// The checker of a layout, with an index of its tables.
    pub fn new(layout: &'a Layout) -> Self {
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
            gates: layout.gates.iter().map(checked).collect(),
            tables: table_rows(layout),
            domain: 1 << layout.log_n(),
        }
    }

    /// Checks a row, whose gates may read the next one. `values[i]` belongs to variable i.
    ///
    /// # Errors
    /// As [`check_layout`].
    ///
    /// # Panics
    /// If a variable in one of the rows has no value.
    pub fn row(&self, values: &[Fr], row: usize) -> Result<(), Unsatisfied> {
        self.violations(values, row).next().map_or(Ok(()), Err)
    }

    /// The violations of a row.
    fn violations<'b>(&'b self, values: &'b [Fr], row: usize) -> impl Iterator<Item = Unsatisfied> + use<'b> {
        let cells = RowCells { checker: self, values, row };
        let gates = self.gates.iter().flat_map(move |gate| cells.failing_constraints(gate));
        gates.chain(std::iter::once_with(move || cells.failing_lookup()).flatten())
    }
}

/// A table row as a key: Montgomery limbs of three values and the table's number.
type TableRow = [[u64; 4]; 4];

/// The set of the tables' rows, each with its table's number.
fn table_rows(layout: &Layout) -> HashSet<TableRow> {
    let column = |index: u8, row: usize| at(layout, Column::TableColumn(index), row).to_montgomery();
    (0..layout.table_rows()).map(|row| std::array::from_fn(|index| column(index as u8, row))).collect()
}

fn at(layout: &Layout, column: Column, row: usize) -> Fr {
    layout.fixed.get(&column).and_then(|values| values.get(row)).copied().unwrap_or_default()
}

/// The cells that the constraints of one row use. Cells beyond the last row are zero.
#[derive(Clone, Copy)]
struct RowCells<'a> {
    checker: &'a LayoutChecker<'a>,
    values: &'a [Fr],
    row: usize,
}

impl RowCells<'_> {
    fn cell(&self, column: Column, row: usize) -> Fr {
        let layout = self.checker.layout;
        let Column::Wire(wire) = column else { return at(layout, column, row) };
        let variable = layout.variables_of[wire as usize].get(row).copied().unwrap_or_default();
        self.values[variable as usize]
    }

    fn failing_constraints(&self, Checked { gate, constants, selectors }: &Checked<'_>) -> Vec<Unsatisfied> {
        let LayoutChecker { layout, gates, .. } = self.checker;
        let selector = |index: usize| selectors[index].get(self.row).copied().unwrap_or_default();
        let public = self.row < layout.public as usize && gates[0].gate == *gate;
        failing_constraints(self, self.row, *gate, constants, &selector, public)
    }

    fn failing_lookup(&self) -> Option<Unsatisfied> {
        if self.here(Column::Selector(Selector::Lookup)).is_zero() {
            return None;
        }
        let [v1, v2, v3] = lookup::values(self);
        let known = self.checker.tables.contains(&[v1, v2, v3, self.data(3)].map(Fr::to_montgomery));
        (!known).then(|| Unsatisfied::lookup(self.row, self.data(3), [v1, v2, v3]))
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

/// The constraints of a gate that do not hold on the row that `cells` belongs to, with the values of its
/// selectors there. `public` is set if the first constraint includes a public input.
pub(crate) fn failing_constraints(
    cells: &dyn Cells<Fr>,
    row: usize,
    gate: Gate,
    constants: &[Fr],
    selector: &dyn Fn(usize) -> Fr,
    public: bool,
) -> Vec<Unsatisfied> {
    if !public && (0..gate.selectors().len()).all(|index| selector(index).is_zero()) {
        return Vec::new();
    }
    let mut sums = vec![Fr::ZERO; gate.constraints()];
    if public {
        sums[0] = -cells.wire(0);
    }
    gate.terms(cells, constants, &mut |constraint, index, term| {
        sums[constraint] += selector(index) * term;
    });
    let failing = (0..).zip(sums).filter(|(_, sum)| !sum.is_zero());
    failing.map(|(constraint, _)| failure(cells, row, gate, constants, constraint)).collect()
}

#[cold]
fn failure(
    cells: &dyn Cells<Fr>,
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

/// Records the cells that are read.
struct Recorder<'a> {
    row: &'a dyn Cells<Fr>,
    read: RefCell<Vec<(Cell, Fr)>>,
}

impl Recorder<'_> {
    fn note(&self, next: bool, column: Column, value: Fr) -> Fr {
        let (cell, mut read) = (Cell { next, column }, self.read.borrow_mut());
        if read.iter().all(|(known, _)| *known != cell) {
            read.push((cell, value));
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
