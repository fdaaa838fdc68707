//! The values that constraints read in the rows of a trace.

use crate::{
    Constraints, StarkError,
    air::{Input, Matrix, SELECTORS},
};
use proofmill_field::{Field, goldilocks::Goldilocks};

/// The values that constraints read besides the trace and the columns of lookups.
#[derive(Clone, Copy)]
pub(crate) struct RowInputs<'a> {
    pub(crate) constraints: &'a Constraints,
    /// The number of rows.
    pub(crate) rows: usize,
    pub(crate) preprocessed: &'a [Goldilocks],
    pub(crate) public_values: &'a [Goldilocks],
}

impl RowInputs<'_> {
    /// The value of an input in a row. `trace` has the trace's values in this row and in the next one. Selectors are 1 where they do not
    /// vanish.
    pub(crate) fn value(&self, row: usize, trace: [&[Goldilocks]; 2], input: Input) -> Goldilocks {
        let Constraints { preprocessed, periodic, .. } = self.constraints;
        let cell = match input {
            Input::Scalar(index) => return self.public_values[index as usize],
            Input::Cell(cell) => cell,
        };
        let (at, column) = ((row + usize::from(cell.next)) % self.rows, cell.column as usize);
        match cell.matrix {
            0 => trace[usize::from(cell.next)][column],
            1 => self.preprocessed[at * preprocessed + column],
            matrix => {
                debug_assert!(
                    matrix == Matrix::Row as u32,
                    "only their own constraints read columns of lookups"
                );
                let selected = match column {
                    0 => at == 0,
                    1 => at == self.rows - 1,
                    2 => at != self.rows - 1,
                    _ => return periodic[column - SELECTORS][at % periodic[column - SELECTORS].len()],
                };
                Goldilocks::new(selected.into())
            }
        }
    }

    /// The first row in which a constraint does not hold. `read` writes a row of the trace.
    pub(crate) fn unsatisfied(
        &self,
        read: impl Fn(usize, &mut [Goldilocks]) -> Result<(), StarkError>,
    ) -> Result<Option<StarkError>, StarkError> {
        // A row and the next one.
        let mut trace = [(); 2].map(|()| vec![Goldilocks::ZERO; self.constraints.columns]);
        read(0, &mut trace[1])?;
        for row in 0..self.rows {
            trace.swap(0, 1);
            read((row + 1) % self.rows, &mut trace[1])?;
            let value = |input| self.value(row, [&trace[0], &trace[1]], input);
            let values = self.constraints.graph.evaluate(|constant| constant, value);
            if let Some(constraint) = values.iter().position(|value| !value.is_zero()) {
                return Ok(Some(StarkError::Unsatisfied { constraint, row }));
            }
        }
        Ok(None)
    }
}
