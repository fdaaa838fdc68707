//! The trace that a prover is given.

pub(crate) mod blinding;
pub(crate) mod cosets;
pub(crate) mod divided;
pub(crate) mod placement;
pub(crate) mod rows;
pub(crate) mod store;
pub(crate) mod tiled;

use crate::{Ask, StarkError};
use proofmill_field::goldilocks::Goldilocks;
use proofmill_merkle::MerkleError;
use proofmill_run::parallel;
use std::{borrow::Cow, mem};

/// The values of a trace: its rows, stored contiguously.
pub enum Trace<'a> {
    /// The values are in memory. The prover takes over the memory of a trace that is owned, or frees it.
    Memory(Cow<'a, [Goldilocks]>),
    /// The values are elsewhere, for instance in a file. With [`Memory::Low`](crate::Memory::Low) the whole trace is never in memory.
    Parts {
        /// The number of values.
        len: usize,
        /// Writes the values from an index on, always the same values. Several threads call it, up to twice for each value.
        read: &'a ReadValues<'a>,
    },
    /// As `Parts`, but other processes extend the trace: it is read only to find the reason why it is wrong. Several tables and zero
    /// knowledge do not allow it.
    Divided {
        /// The number of values.
        len: usize,
        /// Writes the values from an index on.
        read: &'a ReadValues<'a>,
        /// Asks the processes with the extension.
        ask: Ask,
    },
}

/// Writes the values of a trace from an index on.
pub type ReadValues<'a> = dyn Fn(usize, &mut [Goldilocks]) -> Result<(), MerkleError> + Sync + 'a;

impl Trace<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Memory(values) => values.len(),
            Self::Parts { len, .. } | Self::Divided { len, .. } => *len,
        }
    }

    pub(crate) fn read(&self, first: usize, to: &mut [Goldilocks]) -> Result<(), StarkError> {
        self.values(first, to).map_err(StarkError::Trace)
    }

    /// Reads all values, on all threads.
    pub(crate) fn read_all(&self, to: &mut [Goldilocks]) -> Result<(), StarkError> {
        /// The number of values that a task reads.
        const TASK: usize = 1 << 16;
        let tasks = (0..).step_by(TASK).zip(to.chunks_mut(TASK));
        parallel::map(tasks, |(first, to)| self.read(first, to)).into_iter().collect()
    }

    /// As [`read`](Self::read), with the error of the source.
    pub(crate) fn values(&self, first: usize, to: &mut [Goldilocks]) -> Result<(), MerkleError> {
        match self {
            Self::Memory(values) => to.copy_from_slice(&values[first..][..to.len()]),
            Self::Parts { read, .. } | Self::Divided { read, .. } => read(first, to)?,
        }
        Ok(())
    }

    /// The same values, borrowed.
    pub(crate) fn borrowed(&self) -> Trace<'_> {
        match self {
            Self::Memory(values) => Trace::Memory(Cow::Borrowed(values)),
            Self::Parts { len, read } => Trace::Parts { len: *len, read },
            Self::Divided { len, read, ask } => Trace::Divided { len: *len, read, ask: ask.clone() },
        }
    }

    /// The values, if they are owned. Afterwards the trace has none.
    pub(crate) fn take(&mut self) -> Option<Vec<Goldilocks>> {
        match self {
            Self::Memory(Cow::Owned(values)) => Some(mem::take(values)),
            _ => None,
        }
    }
}

impl<'a> From<&'a [Goldilocks]> for Trace<'a> {
    fn from(values: &'a [Goldilocks]) -> Self {
        Self::Memory(values.into())
    }
}

impl<'a> From<&'a Vec<Goldilocks>> for Trace<'a> {
    fn from(values: &'a Vec<Goldilocks>) -> Self {
        Self::Memory(values.into())
    }
}

impl From<Vec<Goldilocks>> for Trace<'_> {
    fn from(values: Vec<Goldilocks>) -> Self {
        Self::Memory(values.into())
    }
}
