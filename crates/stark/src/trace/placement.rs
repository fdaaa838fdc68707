//! The place of the rows of a matrix, and the steps of a prover that depend on it.
//!
//! A small trace is extended in memory and kept. A larger one is kept as polynomials, in memory or in a file, and rows of its extension are
//! computed each time they are needed. A divided trace is in other processes, which are asked. Outside of this file only commitments ask for
//! the place: rows in memory are hashed at once, and processes hash the rows that they have.

use super::{Trace, blinding::Blinding, divided::Divided, store::Buffer, tiled::Tiled};
use crate::{
    Memory, Run, StarkError,
    domain::{SHIFT, domain},
    extension::{extend_coset, extend_in_place, restore},
    openings::combine,
    prove::quotient::Quotient,
    security::Parameters,
};
use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_memory::Pages;
use proofmill_ntt::goldilocks::Order;
use std::{
    env,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// A matrix of `2^log_rows` rows. The rows of an extension are in bit-reversed order.
pub(crate) struct Matrix {
    rows: Rows,
    pub(crate) columns: usize,
    pub(crate) log_rows: u32,
}

enum Rows {
    /// Rows in memory, one row after the other.
    Kept(Box<dyn Buffer>),
    /// Rows of an extension, computed when they are needed.
    Computed(Mutex<Tiled>),
    /// Rows of an extension, in other processes.
    Divided(Divided),
}

/// The tiles of a matrix. No other thread holds the lock: it is for sharing keys between proofs.
fn lock(tiled: &Mutex<Tiled>) -> MutexGuard<'_, Tiled> {
    tiled.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The error where a prover asks for rows of a divided trace that its processes do not give.
const ELSEWHERE: StarkError = StarkError::Indivisible("its rows are in other processes");

/// The sum of all columns times their factors, or the columns from which it is computed.
pub(crate) enum Combined<'a> {
    /// The columns.
    Columns(&'a [Goldilocks]),
    /// The sum itself: its coordinates, row by row.
    Sum(Pages<Goldilocks>),
}

impl Matrix {
    /// A matrix with its rows in memory.
    pub(crate) fn kept_of(values: impl Buffer + 'static, columns: usize) -> Self {
        let log_rows = (values.len() / columns).ilog2();
        Self { rows: Rows::Kept(Box::new(values)), columns, log_rows }
    }

    /// The rows if they are in memory.
    pub(crate) fn kept(&self) -> Option<&[Goldilocks]> {
        match &self.rows {
            Rows::Kept(values) => Some(values),
            Rows::Computed(_) | Rows::Divided(_) => None,
        }
    }

    /// The processes that have the rows of a divided trace. They hash the rows, too.
    pub(crate) fn divided(&self) -> Option<&Divided> {
        match &self.rows {
            Rows::Divided(divided) => Some(divided),
            Rows::Kept(_) | Rows::Computed(_) => None,
        }
    }

    /// A reader of all rows, part by part.
    pub(crate) fn reader(&self) -> Result<Reader<'_>, StarkError> {
        match &self.rows {
            Rows::Kept(rows) => Ok(Reader::Kept { rows, columns: self.columns }),
            Rows::Computed(tiled) => {
                let tiled = lock(tiled);
                let part = Pages::new(tiled.part_len());
                Ok(Reader::Computed { tiled, part })
            }
            Rows::Divided(_) => Err(ELSEWHERE),
        }
    }

    /// The rows of these indices, one after the other.
    pub(crate) fn rows(
        &self,
        level: Level,
        log_blowup: u32,
        indices: &[usize],
    ) -> Result<Vec<Goldilocks>, StarkError> {
        match &self.rows {
            Rows::Kept(rows) => {
                let row = |index: &usize| &rows[index * self.columns..][..self.columns];
                Ok(indices.iter().flat_map(row).copied().collect())
            }
            Rows::Computed(tiled) => lock(tiled).rows(level, log_blowup, indices),
            Rows::Divided(_) => Err(ELSEWHERE),
        }
    }

    /// The values of all columns at the points with the indices `opened`. `None` for rows in memory, which are evaluated together with
    /// other matrices in one pass.
    pub(crate) fn evaluate<const D: usize>(
        &self,
        level: Level,
        points: &[Extension<Goldilocks, D>],
        opened: &[usize],
    ) -> Result<Option<Vec<Vec<Extension<Goldilocks, D>>>>, StarkError>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        match &self.rows {
            Rows::Kept(_) => Ok(None),
            Rows::Computed(tiled) => lock(tiled).evaluate(level, points, opened).map(Some),
            Rows::Divided(divided) => divided.evaluate(points, opened).map(Some),
        }
    }

    /// The sum of all columns times their factors on the whole coset of extensions, or the columns if they are few.
    pub(crate) fn combined<const D: usize>(
        &self,
        level: Level,
        log_blowup: u32,
        factors: &[Extension<Goldilocks, D>],
    ) -> Result<Combined<'_>, StarkError>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        /// The number of columns from which on it is faster to extend the sum than to sum the extension.
        const MANY: usize = 64;
        let factors = &factors[..self.columns];
        let sums = match &self.rows {
            Rows::Kept(rows) if log_blowup > 0 && self.columns >= MANY => {
                let first = Goldilocks::as_words(&rows[..rows.len() >> log_blowup]);
                combine(level, first, self.columns, factors)
            }
            Rows::Kept(rows) => return Ok(Combined::Columns(rows)),
            Rows::Computed(tiled) => {
                return lock(tiled).combination(level, log_blowup, factors).map(Combined::Sum);
            }
            Rows::Divided(divided) => divided.combine(factors)?,
        };
        // The first rows determine the sum, of which only D columns are extended.
        let coefficients = Extension::coefficients(&sums).to_vec();
        Ok(Combined::Sum(extend_coset(level, log_blowup, coefficients, D)))
    }

    /// Calls `body` for each chunk of the quotient of this trace's constraints, with the index of the chunk and its values on its coset, in
    /// natural order. Chunks come in the order that is cheapest for the matrix. `read(chunk, row, words)` writes the values that are read
    /// of matrices in memory.
    pub(crate) fn for_each_chunk<const D: usize>(
        &self,
        level: Level,
        quotient: &Quotient<'_, D>,
        read: impl Fn(usize, usize, &mut [u64]) + Sync,
        mut body: impl FnMut(usize, Vec<Extension<Goldilocks, D>>),
    ) -> Result<(), StarkError>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        let chunks = 0..1_usize << quotient.log_chunks;
        match &self.rows {
            Rows::Kept(_) => chunks.for_each(|chunk| {
                body(chunk, quotient.on_coset(level, chunk, |row, words| read(chunk, row, words)));
            }),
            Rows::Computed(tiled) => {
                let mut tiled = lock(tiled);
                let cosets = 1 << (quotient.log_chunks + quotient.log_rows - tiled.log_rows());
                let (stored, mut order) = (tiled.shift(), chunks.collect::<Vec<_>>());
                // The coset whose tiles are stored comes first. Chunks on one coset follow each other.
                order.sort_by_key(|chunk| (quotient.shift(chunk % cosets) != stored, chunk % cosets));
                for chunk in order {
                    let read = |row: usize, words: &mut [u64]| read(chunk, row, words);
                    body(chunk, quotient.on_tiles(level, chunk, &mut tiled, read)?);
                }
            }
            Rows::Divided(divided) => {
                let values = divided.quotient(quotient.log_chunks, &quotient.factors)?;
                chunks.zip(values).for_each(|(chunk, values)| body(chunk, values));
            }
        }
        Ok(())
    }

    /// Restores, in the memory of the extension, the values of the trace whose memory was taken. [`read_row`](Self::read_row) reads them.
    pub(crate) fn restore(&mut self, level: Level, log_blowup: u32) -> Result<(), StarkError> {
        match &mut self.rows {
            Rows::Kept(values) => {
                let len = values.len() >> log_blowup;
                restore(level, &mut values[..len], self.columns);
                Ok(())
            }
            Rows::Computed(tiled) => lock(tiled).restore(level),
            Rows::Divided(_) => Err(ELSEWHERE),
        }
    }

    /// Copies a row of the trace, after [`restore`](Self::restore).
    pub(crate) fn read_row(&self, row: usize, to: &mut [Goldilocks]) -> Result<(), StarkError> {
        match &self.rows {
            Rows::Kept(values) => {
                to.copy_from_slice(&values[row * self.columns..][..self.columns]);
                Ok(())
            }
            Rows::Computed(tiled) => lock(tiled).read_row(row, to),
            Rows::Divided(_) => Err(ELSEWHERE),
        }
    }
}

/// Reads the rows of a matrix part by part.
pub(crate) enum Reader<'a> {
    Kept { rows: &'a [Goldilocks], columns: usize },
    Computed { tiled: MutexGuard<'a, Tiled>, part: Pages<Goldilocks> },
}

impl Reader<'_> {
    /// The largest number of rows that can be read at a time.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Kept { rows, columns } => rows.len() / columns,
            Self::Computed { tiled, part } => part.len() / tiled.columns(),
        }
    }

    /// `count` rows from row `first` on, which is a multiple of `count`. For computed rows, `count` is [`rows`](Self::rows).
    pub(crate) fn read(
        &mut self,
        level: Level,
        log_blowup: u32,
        first: usize,
        count: usize,
    ) -> Result<&[Goldilocks], StarkError> {
        match self {
            Self::Kept { rows, columns } => Ok(&rows[first * *columns..][..count * *columns]),
            Self::Computed { tiled, part } => {
                tiled.part(level, log_blowup, first, part)?;
                Ok(part)
            }
        }
    }
}

/// The extension of a trace, blinded if there is blinding. The run's memory mode and the kind of the trace decide where its rows are.
pub(crate) fn extend_trace(
    Run { level, memory, scratch, .. }: Run<'_>,
    parameters: &Parameters,
    trace: &mut Trace<'_>,
    columns: usize,
    blinding: &mut Option<Blinding>,
) -> Result<Matrix, StarkError> {
    let log_blowup = parameters.log_blowup;
    Blinding::of_trace(blinding, trace, columns, |trace, columns| {
        let log_rows = (trace.len() / columns).ilog2();
        let matrix = |rows: Rows| Matrix { rows, columns, log_rows: log_rows + log_blowup };
        if let Trace::Divided { ask, .. } = trace {
            return Ok(matrix(Rows::Divided(Divided { ask: ask.clone(), columns, log_rows, log_blowup })));
        }
        let tiled = match memory.unwrap_or(Memory::Fast) {
            Memory::Fast => {
                // The extension takes over the memory of an owned trace.
                if let Some(mut values) = trace.take() {
                    domain(log_rows).extend_vector(level, &mut values, log_blowup, SHIFT, Order::BitReversed);
                    return Ok(Matrix::kept_of(values, columns));
                }
                let len = trace.len();
                let mut extension = Pages::new(len << log_blowup);
                trace.read_all(&mut extension[..len])?;
                extend_in_place(level, log_blowup, &mut extension, columns, Goldilocks::ONE);
                return Ok(Matrix::kept_of(extension, columns));
            }
            Memory::Balanced => Tiled::in_memory(level, trace, columns)?,
            Memory::Low => {
                let folder = scratch.map_or_else(env::temp_dir, Path::to_owned);
                Tiled::in_file(level, &folder, trace, columns)?
            }
        };
        Ok(matrix(Rows::Computed(Mutex::new(tiled))))
    })
}
