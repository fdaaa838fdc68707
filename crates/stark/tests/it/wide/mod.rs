//! An AIR of any number of columns, with preprocessed and periodic ones.

use proofmill_field::goldilocks::Goldilocks;
use proofmill_stark::{
    Grinding,
    air::{Air, Preprocessed, Row},
};

/// Columns that are each multiplied by the preprocessed one, plus the one before and a periodic one, to a power.
pub(crate) struct Wide {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    pub(crate) power: u32,
}

fn power<T: std::ops::Mul<Output = T> + Copy>(value: T, exponent: u32) -> T {
    (1..exponent).fold(value, |product, _| product * value)
}

impl Wide {
    fn fixed(&self) -> Vec<Goldilocks> {
        (0..self.rows as u64).map(|row| Goldilocks::new(row * row + 2)).collect()
    }

    pub(crate) fn trace(&self) -> Vec<Goldilocks> {
        let mut row: Vec<_> = (0..self.columns as u64).map(Goldilocks::new).collect();
        let mut values = Vec::new();
        for (index, fixed) in self.fixed().into_iter().enumerate() {
            values.extend(&row);
            let before = row.clone();
            for (column, value) in row.iter_mut().enumerate() {
                let other = before[(column + self.columns - 1) % self.columns];
                *value = power(before[column], self.power) * fixed
                    + other
                    + Goldilocks::new(PERIODIC[index % PERIODIC.len()]);
            }
        }
        values
    }
}

const PERIODIC: [u64; 2] = [7, 11];

impl Air for Wide {
    fn columns(&self) -> usize {
        self.columns
    }

    fn public_values(&self) -> usize {
        1
    }

    fn preprocessed(&self) -> Option<Preprocessed> {
        Some(Preprocessed { columns: 1, values: self.fixed() })
    }

    fn periodic_columns(&self) -> Vec<Vec<Goldilocks>> {
        vec![PERIODIC[..self.rows.min(2)].iter().copied().map(Goldilocks::new).collect()]
    }

    fn constrain(&self, row: Row) {
        for column in 0..self.columns {
            let other = row.column((column + self.columns - 1) % self.columns);
            let next = power(row.column(column), self.power) * row.preprocessed(0) + other + row.periodic(0);
            (row.is_transition() * (row.next(column) - next)).must_vanish();
        }
        (row.is_last() * (row.column(0) - row.public_value(0))).must_vanish();
    }
}

pub(crate) const NO_WORK: Grinding =
    Grinding { lookups: 0, out_of_domain: 0, batching: 0, commit: 0, query: 0 };
