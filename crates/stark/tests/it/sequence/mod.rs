//! An AIR with public values, a periodic and a preprocessed column.

use proofmill_field::goldilocks::Goldilocks;
use proofmill_stark::air::{Air, Preprocessed, Row};

/// The pair `(a, b)` is followed by `(b, a + b + c)` with a periodic and a preprocessed c; the first pair and the last b are public.
pub(crate) struct Sequence {
    pub(crate) rows: usize,
}

const PERIODIC: [u64; 2] = [3, 5];

impl Sequence {
    fn fixed(&self) -> Vec<Goldilocks> {
        (0..self.rows as u64).map(|row| Goldilocks::new(row * row)).collect()
    }

    pub(crate) fn trace(&self) -> (Vec<Goldilocks>, Vec<Goldilocks>) {
        let (fixed, mut pair, mut values) = (self.fixed(), [1, 2].map(Goldilocks::new), Vec::new());
        for row in 0..self.rows {
            values.extend(pair);
            pair = [pair[1], pair[0] + pair[1] + Goldilocks::new(PERIODIC[row % 2]) * fixed[row]];
        }
        let public_values = vec![values[0], values[1], values[values.len() - 1]];
        (values, public_values)
    }
}

impl Air for Sequence {
    fn columns(&self) -> usize {
        2
    }

    fn public_values(&self) -> usize {
        3
    }

    fn preprocessed(&self) -> Option<Preprocessed> {
        Some(Preprocessed { columns: 1, values: self.fixed() })
    }

    fn periodic_columns(&self) -> Vec<Vec<Goldilocks>> {
        vec![PERIODIC.map(Goldilocks::new).to_vec()]
    }

    fn constrain(&self, row: Row) {
        let (a, b) = (row.column(0), row.column(1));
        (row.is_first() * (a - row.public_value(0))).must_vanish();
        (row.is_first() * (b - row.public_value(1))).must_vanish();
        (row.is_transition() * (row.next(0) - b)).must_vanish();
        (row.is_transition() * (row.next(1) - (a + b + row.periodic(0) * row.preprocessed(0)))).must_vanish();
        (row.is_last() * (b - row.public_value(2))).must_vanish();
    }
}
