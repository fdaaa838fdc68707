//! Section 4 of a Groth16 key: the nonzero coefficients of the matrices A and B.
//!
//! A count, then records of matrix (0 or 1), row, wire, and the coefficient c as the integer `c R^2 mod r` with `R = 2^256`.
//! This is the Montgomery form applied twice: one Montgomery product with a canonical witness value gives Montgomery limbs.
//! snarkjs writes the records in ascending order of rows.

use crate::{
    binfile::Section,
    decode::{FR_BYTES, ScalarPrime, montgomery_radix, read_limbs, read_u32},
    error::CircomError,
};
use proofmill_cpu::{Level, Token};
use proofmill_field::{Algebra, Backend, Engine, Field, Fp, bn254::FrParams, dispatch};
use proofmill_run::parallel;
use std::{fmt, marker::PhantomData, ops::Range};

/// Bytes of a record.
const RECORD: usize = 12 + FR_BYTES;
/// Records that one task multiplies.
const BLOCK: usize = 1 << 15;

/// A matrix of the key. C is not stored: for a valid witness w, C w is the element-wise product of A w and B w.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matrix {
    /// The left factors.
    A,
    /// The right factors.
    B,
}

/// A nonzero entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coefficient<P: ScalarPrime = FrParams> {
    /// The matrix.
    pub matrix: Matrix,
    /// The row, which is a constraint or a public signal's row.
    pub row: u32,
    /// The wire, which is the column.
    pub wire: u32,
    /// The entry's value.
    pub value: Fp<P>,
}

impl<P: ScalarPrime> Coefficient<P> {
    /// The limbs in files: `value * R^2 mod r`.
    pub(crate) fn file_limbs(&self) -> [u64; 4] {
        (self.value * montgomery_radix()).to_montgomery()
    }
}

/// Why the records cannot be multiplied.
enum Fault {
    Record(usize, RecordFault),
    /// The rows are not in ascending order, so they cannot be divided among tasks.
    Unordered,
}

/// The problem with a record.
#[derive(Clone, Copy)]
enum RecordFault {
    Matrix(u32),
    Row { row: u32, rows: u32 },
    Wire { wire: u32, wires: u32 },
    Value,
}

impl fmt::Display for RecordFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Matrix(matrix) => write!(f, "matrix {matrix} of 2"),
            Self::Row { row, rows } => write!(f, "row {row} of {rows}"),
            Self::Wire { wire, wires } => write!(f, "wire {wire} of {wires}"),
            Self::Value => f.write_str("value is not below the modulus of the scalar field"),
        }
    }
}

/// The coefficients of a key.
#[derive(Clone, Copy, Debug)]
pub struct Coefficients<'a, P = FrParams> {
    records: Section<'a>,
    rows: u32,
    wires: u32,
    prime: PhantomData<P>,
}

/// A record as stored in the file.
struct Record {
    matrix: Matrix,
    row: u32,
    wire: u32,
    limbs: [u64; 4],
}

impl<'a, P: ScalarPrime> Coefficients<'a, P> {
    /// Checks the count against the section's length.
    pub(super) fn new(section: Section<'a>, rows: u32, wires: u32) -> Result<Self, CircomError> {
        let mut cursor = section.cursor();
        let count = cursor.u32("count of coefficients")?;
        let records = section.slice(cursor.position()..section.len())?;
        records.expect_elements(u64::from(count), RECORD as u64, "coefficients")?;
        Ok(Self { records, rows, wires, prime: PhantomData })
    }

    /// The number of coefficients.
    pub fn len(&self) -> usize {
        self.records.len() / RECORD
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// All coefficients in the file's order.
    ///
    /// # Errors
    /// Each item: [`CircomError::Malformed`] for a matrix, row, wire or value that is out of range.
    pub fn iter(&self) -> impl Iterator<Item = Result<Coefficient<P>, CircomError>> + use<'a, P> {
        let view = *self;
        view.records.bytes().chunks_exact(RECORD).enumerate().map(move |(index, bytes)| {
            let fault = |problem| view.error(&Fault::Record(index, problem));
            let Record { matrix, row, wire, limbs } = view.record(bytes).map_err(fault)?;
            let scaled = Fp::from_montgomery(limbs).ok_or_else(|| fault(RecordFault::Value))?;
            Ok(Coefficient { matrix, row, wire, value: scaled * inverse_radix() })
        })
    }

    /// A and B times the witness: one value for each point of the domain. Runs on the ambient rayon pool, reads the file's
    /// pages once and releases them.
    ///
    /// # Errors
    /// As [`Self::iter`].
    ///
    /// # Panics
    /// If the length of the witness is not the key's number of wires.
    pub fn multiply(&self, level: Level, witness: &[Fp<P>]) -> Result<[Vec<Fp<P>>; 2], CircomError> {
        assert_eq!(witness.len(), self.wires as usize, "length of the witness");
        let mut products = [vec![Fp::ZERO; self.rows as usize], vec![Fp::ZERO; self.rows as usize]];
        match self.multiply_in_blocks(level, witness, &mut products) {
            Ok(()) => Ok(products),
            Err(Fault::Unordered) => {
                // Some tasks may have stored their sums before another one failed.
                products.iter_mut().for_each(|product| product.fill(Fp::ZERO));
                self.multiply_in_any_order(witness, &mut products)?;
                Ok(products)
            }
            Err(fault) => Err(self.error(&fault)),
        }
    }

    fn multiply_in_blocks(
        &self,
        level: Level,
        witness: &[Fp<P>],
        products: &mut [Vec<Fp<P>>; 2],
    ) -> Result<(), Fault> {
        let [a, b] = products;
        let tasks = split_rows(self.row_blocks()?, a, b);
        let results = parallel::map(tasks, |task| {
            let bytes = task.records.clone();
            let result = dispatch!(level, engine => engine.run(
                #[inline(always)]
                || self.multiply_block(engine, witness, task)
            ));
            if let Ok(pages) = self.records.slice(bytes.start * RECORD..bytes.end * RECORD) {
                pages.release();
            }
            result
        });
        results.into_iter().collect()
    }

    /// Ranges of records that begin with a new row, each with its first row.
    fn row_blocks(&self) -> Result<Vec<(Range<usize>, usize)>, Fault> {
        let mut blocks: Vec<(Range<usize>, usize)> = Vec::new();
        let mut start = 0;
        while start < self.len() {
            let mut end = (start + BLOCK).min(self.len());
            // A block ends with its last row: no two tasks write to one row.
            while end < self.len() && self.row_at(end) == self.row_at(end - 1) {
                end += 1;
            }
            let row = self.row_at(start).unwrap_or_default() as usize;
            if blocks.last().is_some_and(|(_, previous)| row <= *previous) || row >= self.rows as usize {
                return Err(Fault::Unordered);
            }
            blocks.push((start..end, row));
            start = end;
        }
        Ok(blocks)
    }

    fn row_at(&self, index: usize) -> Option<u32> {
        read_u32(self.records.bytes().get(index * RECORD + 4..)?)
    }

    #[inline(always)]
    fn multiply_block<E: Engine>(
        &self,
        engine: E,
        witness: &[Fp<P>],
        task: Task<'_, P>,
    ) -> Result<(), Fault> {
        let backend = engine.backend();
        let witness = Fp::slice_with_backend(backend, witness);
        let minus_unit = (-montgomery_radix::<P>()).to_montgomery();
        let mut row = Row::new(backend, 0);
        let Task { records, first_row, a, b } = task;
        let bytes =
            self.records.bytes().get(records.start * RECORD..records.end * RECORD).unwrap_or_default();
        for (index, bytes) in bytes.chunks_exact(RECORD).enumerate() {
            let fault = |problem| Fault::Record(records.start + index, problem);
            let record = self.record(bytes).map_err(fault)?;
            let Some(target) =
                (record.row as usize).checked_sub(first_row).filter(|&target| target < a.len())
            else {
                return Err(Fault::Unordered);
            };
            if target != row.target {
                if target < row.target {
                    return Err(Fault::Unordered);
                }
                row.store(a, b);
                row = Row::new(backend, target);
            }
            let Some(value) = witness.get(record.wire as usize) else { continue };
            row.add(&record, *value, &minus_unit).ok_or_else(|| fault(RecordFault::Value))?;
        }
        row.store(a, b);
        Ok(())
    }

    fn multiply_in_any_order(
        &self,
        witness: &[Fp<P>],
        products: &mut [Vec<Fp<P>>; 2],
    ) -> Result<(), CircomError> {
        let [a, b] = products;
        for coefficient in self.iter() {
            let Coefficient { matrix, row, wire, value } = coefficient?;
            let product = if matrix == Matrix::A { &mut *a } else { &mut *b };
            if let (Some(sum), Some(factor)) = (product.get_mut(row as usize), witness.get(wire as usize)) {
                *sum += value * *factor;
            }
        }
        Ok(())
    }

    /// Parses a record and checks its indices.
    #[inline(always)]
    fn record(&self, bytes: &[u8]) -> Result<Record, RecordFault> {
        let field = |at: usize| bytes.get(at..).and_then(read_u32).unwrap_or(u32::MAX);
        let (number, row, wire) = (field(0), field(4), field(8));
        let matrix = match number {
            0 => Matrix::A,
            1 => Matrix::B,
            _ => return Err(RecordFault::Matrix(number)),
        };
        if row >= self.rows {
            return Err(RecordFault::Row { row, rows: self.rows });
        }
        if wire >= self.wires {
            return Err(RecordFault::Wire { wire, wires: self.wires });
        }
        let limbs = bytes.get(12..).and_then(read_limbs).unwrap_or([u64::MAX; 4]);
        Ok(Record { matrix, row, wire, limbs })
    }

    fn error(&self, fault: &Fault) -> CircomError {
        match fault {
            Fault::Record(index, problem) => {
                self.records.malformed(index * RECORD, format!("coefficient {index}: {problem}"))
            }
            Fault::Unordered => self.records.malformed(0, "rows do not ascend"),
        }
    }
}

/// `R^-1 mod r` as an element: the limbs of the integer 1.
#[inline(always)]
fn inverse_radix<P: ScalarPrime>() -> Fp<P> {
    Fp::from_montgomery([1, 0, 0, 0]).unwrap_or_default()
}

/// Rows that one task computes.
struct Task<'m, P: ScalarPrime> {
    records: Range<usize>,
    first_row: usize,
    a: &'m mut [Fp<P>],
    b: &'m mut [Fp<P>],
}

/// Assigns to each block the rows from its first one up to the first of the next block.
fn split_rows<'m, P: ScalarPrime>(
    blocks: Vec<(Range<usize>, usize)>,
    mut a: &'m mut [Fp<P>],
    mut b: &'m mut [Fp<P>],
) -> Vec<Task<'m, P>> {
    let mut tasks = Vec::with_capacity(blocks.len());
    // Backwards: each split takes the rows behind, and leaves those of earlier blocks.
    for (records, first_row) in blocks.into_iter().rev() {
        let a = a.split_off_mut(first_row..).unwrap_or_default();
        let b = b.split_off_mut(first_row..).unwrap_or_default();
        tasks.push(Task { records, first_row, a, b });
    }
    tasks.reverse();
    tasks
}

/// The sums of one row. Coefficients are multiplied by R. The most frequent ones, 1 and -1, are recognised and their wires
/// summed separately without a product; one product with 1/R scales the sum of the others.
struct Row<P: ScalarPrime, B: Backend> {
    target: usize,
    sums: [Sums<P, B>; 2],
}

#[derive(Clone, Copy)]
struct Sums<P: ScalarPrime, B: Backend> {
    plain: Fp<P, B>,
    scaled: Fp<P, B>,
}

impl<P: ScalarPrime, B: Backend> Row<P, B> {
    #[inline(always)]
    fn new(backend: B, target: usize) -> Self {
        let zero = Fp::zero(backend);
        Self { target, sums: [Sums { plain: zero, scaled: zero }; 2] }
    }

    /// Adds a record's product; `None` if its value is not below the modulus.
    #[inline(always)]
    fn add(&mut self, record: &Record, value: Fp<P, B>, minus_unit: &[u64; 4]) -> Option<()> {
        let [a, b] = &mut self.sums;
        let sums = if record.matrix == Matrix::A { a } else { b };
        // The limbs of the coefficient 1: R in Montgomery form.
        if record.limbs == P::R2 {
            sums.plain += value;
        } else if record.limbs == *minus_unit {
            sums.plain -= value;
        } else {
            sums.scaled += Fp::from_montgomery(record.limbs)?.with_backend(value.token()) * value;
        }
        Some(())
    }

    #[inline(always)]
    fn store(&self, a: &mut [Fp<P>], b: &mut [Fp<P>]) {
        for (sums, out) in self.sums.iter().zip([a, b]) {
            if let Some(out) = out.get_mut(self.target) {
                let mut sum = sums.plain;
                if !sums.scaled.portable().is_zero() {
                    sum += sums.scaled * inverse_radix().with_backend(sum.token());
                }
                *out = sum.portable();
            }
        }
    }
}
