//! The rows of the tables that a witness looks up.

use super::values;
use crate::{Cells, Column, PlonkError, Unsatisfied};
use hashbrown::{DefaultHashBuilder, HashTable};
use proofmill_field::{Field, bn254::Fr};
use proofmill_run::parallel;
use std::hash::BuildHasher;

/// The lookups of a witness.
#[derive(Clone, Debug)]
pub(crate) struct Tuples {
    /// For each row of the domain, the row of the tables that it looks up; an all-zero row if it has no
    /// lookup.
    rows: Vec<u32>,
    /// Whether each row has a lookup.
    active: Vec<bool>,
}

/// A tuple as a key: the table's number, then the values.
type Key = [[u64; 4]; 4];

/// The wires (n + 1 values each) and data of one row and the next.
pub(crate) struct RowCells<'a> {
    pub(crate) row: usize,
    pub(crate) wires: &'a [&'a [Fr]],
    pub(crate) data: &'a [&'a [Fr]],
}

impl Cells<Fr> for RowCells<'_> {
    fn here(&self, column: Column) -> Fr {
        let values = match column {
            Column::Wire(wire) => self.wires[wire as usize],
            Column::Data(index) => self.data[index as usize],
            _ => &[],
        };
        values.get(self.row).copied().unwrap_or_default()
    }

    fn after(&self, column: Column) -> Fr {
        Self { row: self.row + 1, ..*self }.here(column)
    }
}

/// Rows that one task hashes or looks up.
const PIECE: usize = 1 << 9;

/// The values of rows 0 to n - 1.
fn each_row<T: Clone + Default + Send>(n: usize, value: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut values = vec![T::default(); n];
    parallel::for_each((0..).step_by(PIECE).zip(values.chunks_mut(PIECE)), |(start, values)| {
        values.iter_mut().zip(start..).for_each(|(to, row)| *to = value(row));
    });
    values
}

impl Tuples {
    /// Finds the lookups of wires (n + 1 values each). Selector, data and tables have n values each, or none
    /// if they are zero.
    ///
    /// # Errors
    /// [`PlonkError::Unsatisfied`] with the first row whose tuple is not in a table.
    pub(crate) fn find(
        selector: &[Fr],
        wires: &[&[Fr]],
        data: &[impl AsRef<[Fr]>],
        tables: &[impl AsRef<[Fr]>],
        n: usize,
    ) -> Result<Self, PlonkError> {
        let data: Vec<&[Fr]> = data.iter().map(AsRef::as_ref).collect();
        let tables: Vec<&[Fr]> = tables.iter().map(AsRef::as_ref).collect();
        let key_of = |row: usize| -> Key {
            let value = |index: usize| tables[index].get(row).copied().unwrap_or_default();
            [value(3), value(0), value(1), value(2)].map(|part: Fr| part.to_montgomery())
        };
        let hasher = DefaultHashBuilder::default();
        let hashes = each_row(n, |row| hasher.hash_one(key_of(row)));
        // Maps each key to its first row.
        let mut places: HashTable<u32> = HashTable::with_capacity(n);
        for (row, hash) in hashes.iter().enumerate() {
            let same =
                |other: &u32| hashes[*other as usize] == *hash && key_of(*other as usize) == key_of(row);
            places.entry(*hash, same, |other| hashes[*other as usize]).or_insert(row as u32);
        }
        let place =
            |key: &Key| places.find(hasher.hash_one(key), |row| key_of(*row as usize) == *key).copied();
        // A row without a lookup counts as one of zeros: plookup sorts exactly n lookups.
        let zeros = place(&[<Fr>::ZERO.to_montgomery(); 4]).unwrap_or_default();
        let active = each_row(n, |row| selector.get(row).is_some_and(|q| !q.is_zero()));
        let find = |row: usize| {
            if !active[row] {
                return Some(zeros);
            }
            let cells = RowCells { row, wires, data: &data };
            let [v1, v2, v3] = values(&cells);
            let key = [cells.data(3), v1, v2, v3].map(|part: Fr| part.to_montgomery());
            place(&key)
        };
        let rows = each_row(n, find).into_iter().enumerate().map(|(row, found)| found.ok_or(row));
        let rows: Result<Vec<u32>, usize> = rows.collect();
        rows.map(|rows| Self { rows, active }).map_err(|row| {
            let cells = RowCells { row, wires, data: &data };
            PlonkError::Unsatisfied(Unsatisfied::lookup(row, cells.data(3), values(&cells)))
        })
    }

    /// The number of lookups of each of the n rows of the tables.
    pub(crate) fn multiplicities(&self, n: usize) -> Vec<Fr> {
        let mut counts = vec![0u64; n];
        // logUp multiplies lookups by their selector, so rows without one do not count.
        for (row, _) in self.rows.iter().zip(&self.active).filter(|(_, active)| **active) {
            counts[*row as usize] += 1;
        }
        counts.into_iter().map(Fr::from).collect()
    }

    /// The n folded rows of the tables, each followed by its lookups, split into the entries at even and at
    /// odd indices.
    pub(crate) fn sorted(&self, table: &[Fr]) -> [Vec<Fr>; 2] {
        // Each row of the tables is there once for itself, and once for each lookup.
        let mut counts = vec![1u32; table.len()];
        for row in &self.rows {
            counts[*row as usize] += 1;
        }
        let mut halves = [Vec::with_capacity(table.len()), Vec::with_capacity(table.len())];
        let all =
            table.iter().zip(counts).flat_map(|(value, count)| std::iter::repeat_n(*value, count as usize));
        for (place, value) in all.enumerate() {
            halves[place % 2].push(value);
        }
        halves
    }
}
