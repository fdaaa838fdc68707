//! The Fibonacci sequence.

use super::execution::Execution;
use crate::air::{Air, Row};
use proofmill_field::goldilocks::Goldilocks;

/// The sequence in which each value is the sum of the two before it, modulo p.
///
/// **Statement.** From the pair `(a, b)`, `rows - 1` steps `(a, b) -> (b, a + b)` lead to a pair whose second value is `c`.
///
/// **Public values.** `a`, `b`, `c`.
///
/// **A row** is a pair. There are two columns and five constraints, of degree 2 at most, for any number of rows. The first row is the
/// public pair, and each further row is determined by the row before it. The constraints of steps hold in all rows but the last, whose next
/// row would be the first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fibonacci;

impl Fibonacci {
    /// The sequence from a pair, in `2^log_rows` rows.
    pub fn trace(&self, log_rows: u32, first: [Goldilocks; 2]) -> Execution {
        let mut trace = Vec::with_capacity(2 << log_rows);
        let [mut a, mut b] = first;
        for row in 0_u64..1 << log_rows {
            if row > 0 {
                (a, b) = (b, a + b);
            }
            trace.extend([a, b]);
        }
        Execution { trace, public_values: vec![first[0], first[1], b] }
    }
}

impl Air for Fibonacci {
    fn columns(&self) -> usize {
        2
    }

    fn public_values(&self) -> usize {
        3
    }

    fn constrain(&self, row: Row) {
        let (a, b) = (row.column(0), row.column(1));
        for column in 0..2 {
            (row.is_first() * (row.column(column) - row.public_value(column))).must_vanish();
        }
        (row.is_transition() * (row.next(0) - b)).must_vanish();
        (row.is_transition() * (row.next(1) - (a + b))).must_vanish();
        (row.is_last() * (b - row.public_value(2))).must_vanish();
    }
}
