//! What constraints read in the rows of a trace.

use crate::{
    Constraints, StarkError,
    air::{Input, Matrix, SELECTORS},
};
use proofmill_field::{Field, goldilocks::Goldilocks};

/// A trace with all that its constraints read besides columns of lookups.
#[derive(Clone, Copy)]
pub(crate) struct TraceRows<'a> {
    pub(crate) constraints: &'a Constraints,
    pub(crate) trace: &'a [Goldilocks],
    pub(crate) preprocessed: &'a [Goldilocks],
    pub(crate) public_values: &'a [Goldilocks],
}

impl TraceRows<'_> {
    /// The number of rows.
    pub(crate) fn count(&self) -> usize {
        self.trace.len() / self.constraints.columns
    }

    /// What is read in a row. Selectors are 1 where they do not vanish.
    pub(crate) fn value(&self, row: usize, input: Input) -> Goldilocks {
        let Constraints { columns, preprocessed, periodic, .. } = self.constraints;
        let rows = self.count();
        let cell = match input {
            Input::Scalar(index) => return self.public_values[index as usize],
            Input::Cell(cell) => cell,
        };
        let (at, column) = ((row + usize::from(cell.next)) % rows, cell.column as usize);
        match cell.matrix {
            0 => self.trace[at * columns + column],
            1 => self.preprocessed[at * preprocessed + column],
            matrix => {
                debug_assert!(
                    matrix == Matrix::Row as u32,
                    "columns of lookups are read by their constraints only"
                );
                let selected = match column {
                    0 => at == 0,
                    1 => at == rows - 1,
                    2 => at != rows - 1,
                    _ => return periodic[column - SELECTORS][at % periodic[column - SELECTORS].len()],
                };
                Goldilocks::new(selected.into())
            }
        }
    }

    /// The first row in which a constraint does not hold.
    pub(crate) fn unsatisfied(&self) -> Option<StarkError> {
        (0..self.count()).find_map(|row| {
            let values = self.constraints.graph.evaluate(|constant| constant, |input| self.value(row, input));
            let constraint = values.iter().position(|value| !value.is_zero())?;
            Some(StarkError::Unsatisfied { constraint, row })
        })
    }
}
