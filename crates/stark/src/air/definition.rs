//! Statements about traces, as their authors write them.

use super::graph::{Cell, Expression, Input};
use proofmill_field::goldilocks::Goldilocks;

/// The matrices that constraints read, in the order in which an [`Evaluation`](super::Evaluation) gets a row's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Matrix {
    /// The trace.
    Trace,
    /// Columns that the verifier knows by their commitment.
    Preprocessed,
    /// The columns of [lookups](super::Lookup). A column over the extension is one column for each coordinate.
    Lookups,
    /// The [`SELECTORS`], then the periodic columns.
    Row,
}

/// The columns before the periodic ones: selectors of the first row, the last row, and all rows but the last.
pub const SELECTORS: usize = 3;

/// An algebraic intermediate representation: a statement about a trace, as polynomials that vanish on each of its rows.
///
/// ```
/// use proofmill_stark::air::{Air, Row};
///
/// /// `(a, b)` is followed by `(b, a + b)`; the public values are the first pair and the last `b`.
/// struct Fibonacci;
///
/// impl Air for Fibonacci {
///     fn columns(&self) -> usize {
///         2
///     }
///     fn public_values(&self) -> usize {
///         3
///     }
///     fn constrain(&self, row: Row) {
///         for column in 0..2 {
///             (row.is_first() * (row.column(column) - row.public_value(column))).must_vanish();
///         }
///         let (a, b) = (row.column(0), row.column(1));
///         (row.is_transition() * (row.next(0) - b)).must_vanish();
///         (row.is_transition() * (row.next(1) - (a + b))).must_vanish();
///         (row.is_last() * (b - row.public_value(2))).must_vanish();
///     }
/// }
/// ```
pub trait Air {
    /// The number of columns of the trace.
    fn columns(&self) -> usize;

    /// The number of public values.
    fn public_values(&self) -> usize {
        0
    }

    /// The columns that do not depend on the witness and that the verifier knows by a commitment: rows, stored contiguously. The number of
    /// rows must be that of the trace.
    fn preprocessed(&self) -> Option<Preprocessed> {
        None
    }

    /// Columns that repeat a few values, a power of two of them; the verifier computes them.
    fn periodic_columns(&self) -> Vec<Vec<Goldilocks>> {
        Vec::new()
    }

    /// Demands [that values vanish](Expression::must_vanish).
    fn constrain(&self, row: Row);
}

/// Columns that do not depend on the witness.
#[derive(Clone, Debug)]
pub struct Preprocessed {
    /// The number of columns.
    pub columns: usize,
    /// Rows, stored contiguously.
    pub values: Vec<Goldilocks>,
}

/// The values that constraints may read: a row, the row after it, and values that do not depend on the row.
///
/// The row after the last is the first. Columns are counted from 0. An AIR that reads a column or value that it does not have is refused
/// when it is captured.
#[derive(Clone, Copy, Debug)]
pub struct Row(());

impl Row {
    pub(crate) fn new() -> Self {
        Self(())
    }

    fn cell(matrix: Matrix, column: usize, next: bool) -> Expression {
        let column = u32::try_from(column).expect("fewer than 2^32 columns");
        Expression::input(Input::Cell(Cell { matrix: matrix as u32, column, next }), 1)
    }

    /// A column of this row.
    pub fn column(self, column: usize) -> Expression {
        Self::cell(Matrix::Trace, column, false)
    }

    /// A column of the next row.
    pub fn next(self, column: usize) -> Expression {
        Self::cell(Matrix::Trace, column, true)
    }

    /// A preprocessed column of this row.
    pub fn preprocessed(self, column: usize) -> Expression {
        Self::cell(Matrix::Preprocessed, column, false)
    }

    /// A preprocessed column of the next row.
    pub fn next_preprocessed(self, column: usize) -> Expression {
        Self::cell(Matrix::Preprocessed, column, true)
    }

    /// A periodic column of this row.
    pub fn periodic(self, column: usize) -> Expression {
        Self::cell(Matrix::Row, SELECTORS + column, false)
    }

    /// A public value.
    pub fn public_value(self, index: usize) -> Expression {
        Expression::input(Input::Scalar(u32::try_from(index).expect("fewer than 2^32 public values")), 0)
    }

    /// Zero in all rows but the first. It has the degree of a column.
    pub fn is_first(self) -> Expression {
        Self::cell(Matrix::Row, 0, false)
    }

    /// Zero in all rows but the last. It has the degree of a column.
    pub fn is_last(self) -> Expression {
        Self::cell(Matrix::Row, 1, false)
    }

    /// Zero in the last row only. It is linear, and does not count in the degree of a constraint.
    pub fn is_transition(self) -> Expression {
        let cell = Cell { matrix: Matrix::Row as u32, column: 2, next: false };
        Expression::input(Input::Cell(cell), 0)
    }
}
