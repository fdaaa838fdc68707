//! Traces with their public values.

use crate::StarkError;
use proofmill_field::goldilocks::Goldilocks;

/// A trace that satisfies an AIR with these public values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Rows, stored contiguously.
    pub trace: Vec<Goldilocks>,
    /// The public values, in the order of the AIR.
    pub public_values: Vec<Goldilocks>,
}

/// The number of rows, if it is large enough for an AIR.
pub(super) fn rows(log_rows: u32, least: u32) -> Result<usize, StarkError> {
    if log_rows < least {
        return Err(StarkError::TooFewRows { found: log_rows, more_than: least - 1 });
    }
    Ok(1 << log_rows)
}
