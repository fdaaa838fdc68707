//! Lookup tables and lookups.

use super::{Circuit, TableReport, Variable};
use crate::{Column, Selector};
use proofmill_field::{Field, bn254::Fr};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// Rows of one to three values for lookups.
///
/// Rows may repeat. A table may be empty; then no lookup in it holds.
#[derive(Clone, Debug)]
pub struct Table {
    name: String,
    rows: Arc<[[Fr; 3]]>,
}

impl Table {
    /// A table. Columns that it does not have are zero.
    pub fn new(name: impl Into<String>, rows: impl Into<Arc<[[Fr; 3]]>>) -> Self {
        Self { name: name.into(), rows: rows.into() }
    }

    /// The name in reports and error messages, unique in a circuit.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The rows.
    pub fn rows(&self) -> &[[Fr; 3]] {
        &self.rows
    }
}

/// The number of a table in a circuit, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableNumber(u32);

impl TableNumber {
    /// The number, as in the last data column of a lookup.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The number of the table that was added `count` tables after this one.
    pub(super) fn following(self, count: u32) -> Self {
        Self(self.0 + count)
    }
}

/// A table of a circuit, and the number of its lookups.
#[derive(Clone, Debug)]
struct Registered {
    table: Table,
    lookups: u64,
}

/// The tables of a circuit.
#[derive(Clone, Debug, Default)]
pub(super) struct CircuitTables {
    /// The tables, in the order of their numbers.
    list: Vec<Registered>,
    by_name: HashMap<String, TableNumber>,
    /// The tables of the built-in gadgets, by content and number of bits.
    of_numbers: BTreeMap<(&'static str, u32), TableNumber>,
}

impl CircuitTables {
    fn push(&mut self, name: String, rows: Arc<[[Fr; 3]]>) -> TableNumber {
        self.list.push(Registered { table: Table::new(name, rows), lookups: 0 });
        TableNumber(u32::try_from(self.list.len()).expect("fewer than 2^32 tables"))
    }

    /// The tables with lookups, with their numbers, ascending.
    fn used(&self) -> impl Iterator<Item = (u32, &Registered)> {
        (1..).zip(&self.list).filter(|(_, registered)| registered.lookups > 0)
    }
}

impl Circuit {
    /// The number of the circuit's table of this name. `make` is called for the rows if the name is new.
    ///
    /// Only tables with lookups become part of the layout.
    pub fn table(&mut self, name: &str, make: impl FnOnce() -> Arc<[[Fr; 3]]>) -> TableNumber {
        if let Some(known) = self.tables.by_name.get(name) {
            return *known;
        }
        let number = self.tables.push(name.to_owned(), make());
        self.tables.by_name.insert(name.to_owned(), number);
        number
    }

    /// The number of a built-in table with this content and number of bits.
    pub(super) fn table_of_numbers(
        &mut self,
        what: &'static str,
        bits: u32,
        make: impl FnOnce() -> Arc<[[Fr; 3]]>,
    ) -> TableNumber {
        if let Some(known) = self.tables.of_numbers.get(&(what, bits)) {
            return *known;
        }
        let number = self.tables.push(format!("{what} {bits}"), make());
        self.tables.of_numbers.insert((what, bits), number);
        number
    }

    /// The table of this number.
    ///
    /// # Panics
    /// If the number belongs to another circuit.
    pub fn table_of(&self, table: TableNumber) -> &Table {
        &self.tables.list[table.0 as usize - 1].table
    }

    /// Adds a row that looks up `(w1 + f1 w1', w2 + f2 w2', w3 + f3 w3')` in a table. w' are the wires of
    /// the next row, which must be added directly after this one if a factor is not zero.
    ///
    /// `wires` beyond the table's columns must be [`Circuit::zero`].
    ///
    /// # Panics
    /// If the circuit is not of [`Arithmetisation::Ultra`](super::Arithmetisation::Ultra).
    pub fn lookup(&mut self, table: TableNumber, wires: [Variable; 3], factors: [Fr; 3]) {
        let [w1, w2, w3] = wires;
        let zero = self.zero();
        self.lookup_with(table, [w1, w2, w3, zero], factors, &[]);
    }

    /// Adds a row that looks up `(w1 + f1 w1', w2 + f2 w2' - w4^2, w3 + f3 w3' + w4 (w4^2 - 2 w2 - w2'))`,
    /// with further selectors on that row.
    ///
    /// # Panics
    /// As [`Self::row`].
    pub fn lookup_with(
        &mut self,
        table: TableNumber,
        wires: [Variable; 4],
        factors: [Fr; 3],
        selectors: &[(Column, Fr)],
    ) {
        self.tables.list[table.0 as usize - 1].lookups += 1;
        let mut fixed = vec![
            (Column::Selector(Selector::Lookup), Fr::ONE),
            (Column::Data(3), Fr::from(u64::from(table.0))),
        ];
        let factors = (0..).map(Column::Data).zip(factors);
        fixed.extend(factors.filter(|(_, factor)| !factor.is_zero()));
        fixed.extend_from_slice(selectors);
        self.row(wires, &fixed);
    }

    /// The name of the table of this number, if there is one.
    pub(crate) fn table_name(&self, number: Fr) -> Option<String> {
        let [number, 0, 0, 0] = number.to_canonical() else { return None };
        let place = usize::try_from(number.checked_sub(1)?).ok()?;
        self.tables.list.get(place).map(|known| known.table.name.clone())
    }

    /// Appends the columns of the tables with lookups, one table after another.
    pub(super) fn tables_into(&self, fixed: &mut BTreeMap<Column, Vec<Fr>>) {
        for column in 0..3 {
            let rows = || self.tables.used().flat_map(|(_, known)| known.table.rows());
            if rows().any(|row| !row[column].is_zero()) {
                fixed.insert(Column::TableColumn(column as u8), rows().map(|row| row[column]).collect());
            }
        }
        let number = |(number, known): (u32, &Registered)| {
            std::iter::repeat_n(Fr::from(u64::from(number)), known.table.rows.len())
        };
        let numbers: Vec<Fr> = self.tables.used().flat_map(number).collect();
        if !numbers.is_empty() {
            fixed.insert(Column::TableColumn(3), numbers);
        }
    }

    pub(super) fn table_reports(&self) -> Vec<TableReport> {
        let report = |(_, known): (u32, &Registered)| TableReport {
            name: known.table.name.clone(),
            rows: known.table.rows.len() as u64,
            lookups: known.lookups,
        };
        self.tables.used().map(report).collect()
    }
}
