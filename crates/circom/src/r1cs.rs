//! `.r1cs`: a circuit's constraints `(A w) * (B w) = C w` over the wires w.
//!
//! Sections: 1 the header; 2 the constraints, each of three linear combinations; a combination is a count of terms, then a wire
//! and a canonical coefficient for each term; 3 the labels of the wires, which are ignored; 4 and 5 PLONK custom gates, which
//! are rejected unless the list is empty. Source: iden3's `r1cs_bin_format.md`.

use crate::{
    binfile::{BinFile, Cursor, Section},
    decode::{FR_BYTES, Form, ScalarPrime, read_scalar},
    error::{CircomError, SectionName},
    file_kind::FileKind,
    modulus::{FieldOf, FileModulus},
    writer::BinWriter,
};
use proofmill_field::{Field, Fp, bn254::FrParams};
use proofmill_files::Target;
use proofmill_run::parallel;
use std::{marker::PhantomData, path::Path};

const HEADER: SectionName = SectionName { id: 1, content: "header" };
const CONSTRAINTS: SectionName = SectionName { id: 2, content: "constraints" };
const LABELS: SectionName = SectionName { id: 3, content: "wire labels" };
const CUSTOM_GATES: SectionName = SectionName { id: 4, content: "custom gates" };

/// Bytes of one term: a wire and a coefficient.
const TERM_BYTES: usize = 4 + FR_BYTES;

/// The counts of a circuit.
///
/// The wires are, in this order: the constant 1, the outputs, the public inputs, the private inputs, and
/// the intermediate values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct R1csHeader {
    /// All wires, the constant included.
    pub wires: u32,
    /// Public outputs.
    pub outputs: u32,
    /// Public inputs.
    pub public_inputs: u32,
    /// Private inputs, also those that no constraint has, which may have no wires.
    pub private_inputs: u32,
    /// Signals in the source, before simplification.
    pub labels: u64,
    /// Constraints.
    pub constraints: u32,
}

impl R1csHeader {
    /// Public outputs and inputs, without the constant. They are wires `1..=public()`.
    pub fn public(&self) -> u32 {
        self.outputs + self.public_inputs
    }
}

/// One matrix of the constraints, in compressed sparse rows: row i has the terms `offsets[i]..offsets[i + 1]`, in the file's
/// order. A term is a wire (below the header's count, at most once in a row) and its coefficient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparseMatrix<P: ScalarPrime = FrParams> {
    offsets: Vec<u32>,
    wires: Vec<u32>,
    coefficients: Vec<Fp<P>>,
}

impl<P: ScalarPrime> Default for SparseMatrix<P> {
    fn default() -> Self {
        Self { offsets: Vec::new(), wires: Vec::new(), coefficients: Vec::new() }
    }
}

impl<P: ScalarPrime> SparseMatrix<P> {
    /// The matrix with these rows of terms (wire, coefficient).
    ///
    /// # Panics
    /// If there are 2^32 terms or more.
    pub fn from_rows(rows: impl IntoIterator<Item: IntoIterator<Item = (u32, Fp<P>)>>) -> Self {
        let mut matrix = Self { offsets: vec![0], ..Self::default() };
        for row in rows {
            for (wire, coefficient) in row {
                matrix.wires.push(wire);
                matrix.coefficients.push(coefficient);
            }
            assert!(u32::try_from(matrix.wires.len()).is_ok(), "fewer than 2^32 terms");
            matrix.offsets.push(matrix.wires.len() as u32);
        }
        matrix
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The number of terms in all rows.
    pub fn terms(&self) -> usize {
        self.wires.len()
    }

    /// The terms of a row; empty if there is no such row.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (u32, Fp<P>)> + Clone + '_ {
        let range = match (self.offsets.get(row), self.offsets.get(row + 1)) {
            (Some(&start), Some(&end)) => start as usize..end as usize,
            _ => 0..0,
        };
        let wires = self.wires.get(range.clone()).unwrap_or_default();
        let coefficients = self.coefficients.get(range).unwrap_or_default();
        wires.iter().copied().zip(coefficients.iter().copied())
    }

    /// The product of a row with the witness; wires that the witness does not have count as zero.
    pub fn row_times(&self, row: usize, witness: &[Fp<P>]) -> Fp<P> {
        self.row(row).fold(Fp::ZERO, |sum, (wire, coefficient)| {
            sum + coefficient * witness.get(wire as usize).copied().unwrap_or_default()
        })
    }
}

/// The decoded constraints of a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct R1cs<P: ScalarPrime = FrParams> {
    /// The counts.
    pub header: R1csHeader,
    /// The left factors.
    pub a: SparseMatrix<P>,
    /// The right factors.
    pub b: SparseMatrix<P>,
    /// The products.
    pub c: SparseMatrix<P>,
}

impl<P: ScalarPrime> R1cs<P> {
    /// Reads a file, on the ambient rayon pool. The result takes 36 bytes per term and 12 per constraint.
    ///
    /// # Errors
    /// [`CircomError`] for anything that is not a circuit over this field.
    pub fn open(path: &Path) -> Result<Self, CircomError> {
        Self::read(&BinFile::open(path)?)
    }

    /// Reads an open container.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(file: &BinFile) -> Result<Self, CircomError> {
        file.expect_kind(FileKind::R1cs)?;
        let (modulus, header) = read_header(file)?;
        modulus.expect::<P>()?;
        check_counts(file, &header)?;
        refuse_custom_gates(file)?;
        let section = file.section(CONSTRAINTS)?;
        let layout = Layout::scan(section, &header)?;
        let [a, b, c] = layout.decode(section, &header)?;
        section.release();
        Ok(Self { header, a, b, c })
    }

    /// The index of the first constraint that the witness does not satisfy. Runs on the ambient rayon pool.
    pub fn first_unsatisfied(&self, witness: &[Fp<P>]) -> Option<usize> {
        let unsatisfied = |row: &usize| {
            let [a, b, c] = [&self.a, &self.b, &self.c].map(|matrix| matrix.row_times(*row, witness));
            a * b != c
        };
        let blocks = parallel::ranges(self.a.rows(), 1024);
        parallel::map(blocks, |mut rows| rows.find(unsatisfied)).into_iter().flatten().next()
    }
}

/// Reads the modulus, which may be any curve's, and the counts, which are not checked for consistency.
pub(crate) fn read_header(file: &BinFile) -> Result<(FileModulus<'_>, R1csHeader), CircomError> {
    let mut cursor = file.section(HEADER)?.cursor();
    let modulus = FileModulus::read(&mut cursor, FieldOf::Scalars)?;
    let header = R1csHeader {
        wires: cursor.u32("count of wires")?,
        outputs: cursor.u32("count of outputs")?,
        public_inputs: cursor.u32("count of public inputs")?,
        private_inputs: cursor.u32("count of private inputs")?,
        labels: cursor.u64("count of labels")?,
        constraints: cursor.u32("count of constraints")?,
    };
    cursor.finish()?;
    Ok((modulus, header))
}

fn check_counts(file: &BinFile, header: &R1csHeader) -> Result<(), CircomError> {
    let R1csHeader { wires, outputs, public_inputs, .. } = *header;
    // Circom counts private inputs that no constraint has, but leaves out their wires.
    let named = 1 + u64::from(outputs) + u64::from(public_inputs);
    let malformed = |problem| Err(file.section(HEADER)?.malformed(0, problem));
    if named > u64::from(wires) {
        return malformed(format!(
            "{wires} wires cannot hold the constant, {outputs} outputs and {public_inputs} public inputs"
        ));
    }
    // This bounds what is allocated per wire by the file's size: a label has 8 bytes, a term 36.
    match file.optional_section(LABELS)? {
        Some(labels) => labels.expect_elements(u64::from(wires), 8, "labels"),
        None if wires as usize > file.len() => {
            malformed(format!("{wires} wires without labels in a file of {} bytes", file.len()))
        }
        None => Ok(()),
    }
}

fn refuse_custom_gates(file: &BinFile) -> Result<(), CircomError> {
    let Some(section) = file.optional_section(CUSTOM_GATES)? else { return Ok(()) };
    match section.cursor().u32("count of custom gates")? {
        0 => Ok(()),
        count => Err(section.malformed(0, format!("{count} PLONK custom gates, which are not supported"))),
    }
}

/// A circuit whose constraints are read one after the other, for files larger than memory.
#[derive(Debug)]
pub struct R1csFile<P = FrParams> {
    file: BinFile,
    header: R1csHeader,
    prime: PhantomData<P>,
}

/// The terms (wire, coefficient) of one linear combination, by ascending wires.
pub type Terms<P = FrParams> = Vec<(u32, Fp<P>)>;

impl<P: ScalarPrime> R1csFile<P> {
    /// Opens a file and checks its header.
    ///
    /// # Errors
    /// [`CircomError`] for anything that is not a circuit over this field, or has custom gates.
    pub fn open(path: &Path) -> Result<Self, CircomError> {
        Self::read(BinFile::open(path)?)
    }

    /// [`Self::open`] of an open container.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(file: BinFile) -> Result<Self, CircomError> {
        file.expect_kind(FileKind::R1cs)?;
        let (modulus, header) = read_header(&file)?;
        modulus.expect::<P>()?;
        check_counts(&file, &header)?;
        refuse_custom_gates(&file)?;
        Ok(Self { file, header, prime: PhantomData })
    }

    /// The counts.
    pub fn header(&self) -> &R1csHeader {
        &self.header
    }

    /// Passes A, B and C of each constraint to `receive`, in the file's order. Memory is that of one constraint.
    ///
    /// # Errors
    /// Those of `receive`, and [`CircomError::Malformed`] at the first malformed constraint: those before it were received.
    pub fn each<E: From<CircomError>>(
        &self,
        mut receive: impl FnMut([&Terms<P>; 3]) -> Result<(), E>,
    ) -> Result<(), E> {
        let section = self.file.section(CONSTRAINTS)?;
        let mut cursor = section.cursor();
        let mut constraint: [Terms<P>; 3] = Default::default();
        let mut kept = 0;
        for _ in 0..self.header.constraints {
            for terms in &mut constraint {
                read_terms(&mut cursor, self.header.wires, terms)?;
            }
            receive(constraint.each_ref())?;
            if cursor.position() - kept >= RELEASED {
                section.part(kept..cursor.position()).release();
                kept = cursor.position();
            }
        }
        Ok(cursor.finish()?)
    }

    /// The label of each wire in order, which `.sym` files and circom's programs know it by.
    ///
    /// # Errors
    /// [`CircomError::MissingSection`].
    pub fn labels(&self) -> Result<impl Iterator<Item = u64> + '_, CircomError> {
        let labels = self.file.section(LABELS)?.bytes().as_chunks().0;
        Ok(labels.iter().map(|bytes| u64::from_le_bytes(*bytes)))
    }

    /// Whether the file has the sections of custom gates, which are empty.
    pub fn has_custom_gate_sections(&self) -> bool {
        let has = |id: u32| self.file.sections().iter().any(|entry| entry.id == id);
        has(CUSTOM_GATES.id) && has(CUSTOM_GATES.id + 1)
    }
}

/// Bytes that are read before their pages are released.
const RELEASED: usize = 1 << 24;

/// Reads a linear combination and sorts it by wires.
fn read_terms<P: ScalarPrime>(
    cursor: &mut Cursor<'_>,
    wires: u32,
    terms: &mut Terms<P>,
) -> Result<(), CircomError> {
    let count = cursor.u32("count of terms")?;
    terms.clear();
    for _ in 0..count {
        terms.push(read_term(cursor, wires)?);
    }
    terms.sort_unstable_by_key(|(wire, _)| *wire);
    match terms.iter().zip(terms.iter().skip(1)).find(|(one, next)| one.0 == next.0) {
        Some(((wire, _), _)) => Err(cursor.malformed(format!("wire {wire} occurs twice in one combination"))),
        None => Ok(()),
    }
}

/// Skips a linear combination; returns its number of terms.
fn skip_combination(cursor: &mut Cursor<'_>) -> Result<u32, CircomError> {
    let terms = cursor.u32("count of terms")?;
    cursor.take((terms as usize).saturating_mul(TERM_BYTES), "terms")?;
    Ok(terms)
}

/// The positions of the linear combinations. They must be read sequentially before the terms can be decoded in parallel.
struct Layout {
    /// The offset of constraint i in the section.
    starts: Vec<usize>,
    /// The row offsets of A, B and C.
    offsets: [Vec<u32>; 3],
}

impl Layout {
    /// Reads all counts of terms.
    fn scan(section: Section<'_>, header: &R1csHeader) -> Result<Self, CircomError> {
        let constraints = header.constraints as usize;
        // Each constraint has three counts.
        if constraints.checked_mul(12).is_none_or(|least| least > section.len()) {
            let problem = format!("{constraints} constraints do not fit in {} bytes", section.len());
            return Err(section.malformed(0, problem));
        }
        let mut layout = Self {
            starts: Vec::with_capacity(constraints),
            offsets: std::array::from_fn(|_| Vec::with_capacity(constraints + 1)),
        };
        layout.offsets.iter_mut().for_each(|offsets| offsets.push(0));
        let mut totals = [0u32; 3];
        let mut cursor = section.cursor();
        for _ in 0..constraints {
            layout.starts.push(cursor.position());
            for (total, offsets) in totals.iter_mut().zip(&mut layout.offsets) {
                let terms = skip_combination(&mut cursor)?;
                *total = total
                    .checked_add(terms)
                    .ok_or_else(|| cursor.malformed("more than 2^32 terms in one matrix"))?;
                offsets.push(*total);
            }
        }
        cursor.finish()?;
        Ok(layout)
    }

    fn decode<P: ScalarPrime>(
        self,
        section: Section<'_>,
        header: &R1csHeader,
    ) -> Result<[SparseMatrix<P>; 3], CircomError> {
        let Self { starts, offsets } = self;
        let wires = header.wires;
        let mut matrices = offsets.map(|offsets| {
            let terms = offsets.last().map_or(0, |&last| last as usize);
            SparseMatrix { offsets, wires: vec![0; terms], coefficients: vec![Fp::ZERO; terms] }
        });
        let blocks = split_rows(&mut matrices, &starts);
        let results = parallel::map(blocks, |block| block.decode(section, wires));
        results.into_iter().collect::<Result<(), _>>().map(|()| matrices)
    }
}

/// Constraints that one task decodes.
const ROWS_PER_BLOCK: usize = 4096;

/// Consecutive constraints and the slices that their terms are written to.
struct Block<'m, P: ScalarPrime> {
    start: usize,
    rows: usize,
    wires: [&'m mut [u32]; 3],
    coefficients: [&'m mut [Fp<P>]; 3],
}

fn split_rows<'m, P: ScalarPrime>(
    matrices: &'m mut [SparseMatrix<P>; 3],
    starts: &[usize],
) -> Vec<Block<'m, P>> {
    let mut blocks = Vec::with_capacity(starts.len().div_ceil(ROWS_PER_BLOCK));
    let mut rest = matrices.each_mut().map(|matrix| {
        (matrix.offsets.as_slice(), matrix.wires.as_mut_slice(), matrix.coefficients.as_mut_slice())
    });
    for starts in starts.chunks(ROWS_PER_BLOCK) {
        let rows = starts.len();
        let parts = rest.each_mut().map(|(offsets, wires, coefficients)| {
            let first = offsets.first().map_or(0, |&offset| offset as usize);
            let last = offsets.get(rows).map_or(first, |&offset| offset as usize);
            *offsets = offsets.get(rows..).unwrap_or_default();
            let terms = last - first;
            (split_front(wires, terms), split_front(coefficients, terms))
        });
        let [(wires_a, a), (wires_b, b), (wires_c, c)] = parts;
        let start = starts.first().copied().unwrap_or_default();
        blocks.push(Block { start, rows, wires: [wires_a, wires_b, wires_c], coefficients: [a, b, c] });
    }
    blocks
}

/// Splits the first `count` elements off a slice.
fn split_front<'m, T>(slice: &mut &'m mut [T], count: usize) -> &'m mut [T] {
    slice.split_off_mut(..count).unwrap_or_default()
}

impl<P: ScalarPrime> Block<'_, P> {
    fn decode(mut self, section: Section<'_>, wires: u32) -> Result<(), CircomError> {
        let mut cursor = section.cursor();
        cursor.take(self.start, "constraints")?;
        for _ in 0..self.rows {
            for (all_wires, all_coefficients) in self.wires.iter_mut().zip(&mut self.coefficients) {
                let terms = cursor.u32("count of terms")? as usize;
                let row = split_front(all_wires, terms);
                let values = split_front(all_coefficients, terms);
                for (wire, value) in row.iter_mut().zip(values) {
                    (*wire, *value) = read_term(&mut cursor, wires)?;
                }
                if let Some(wire) = repeated(row) {
                    return Err(cursor.malformed(format!("wire {wire} occurs twice in one combination")));
                }
            }
        }
        Ok(())
    }
}

fn read_term<P: ScalarPrime>(cursor: &mut Cursor<'_>, wires: u32) -> Result<(u32, Fp<P>), CircomError> {
    let position = cursor.position();
    let wire = cursor.u32("wire")?;
    if wire >= wires {
        return Err(cursor.malformed_at(position, format!("wire {wire} of {wires}")));
    }
    Ok((wire, read_scalar(cursor.take(FR_BYTES, "coefficient")?, Form::Canonical)?))
}

/// A wire that occurs more than once in a row; compilers write rows in ascending order.
fn repeated(row: &[u32]) -> Option<u32> {
    if row.is_sorted_by(|a, b| a < b) {
        return None;
    }
    let mut sorted = row.to_vec();
    sorted.sort_unstable();
    sorted.iter().zip(sorted.iter().skip(1)).find(|(a, b)| a == b).map(|(a, _)| *a)
}

/// Writes a circuit as circom does (constraints, header, labels). The wires are their own labels.
///
/// # Errors
/// [`CircomError::Io`].
pub fn write_r1cs<'a, P: ScalarPrime>(
    target: impl Into<Target<'a>>,
    r1cs: &R1cs<P>,
) -> Result<(), CircomError> {
    let R1cs { header, a, b, c } = r1cs;
    let mut file = BinWriter::create(target, FileKind::R1cs, 1, 3)?;
    file.section(CONSTRAINTS.id, |out| {
        for row in 0..header.constraints as usize {
            for matrix in [a, b, c] {
                let terms = matrix.row(row);
                out.u32(terms.len() as u32)?;
                for (wire, coefficient) in terms {
                    out.u32(wire)?;
                    out.canonical(&[coefficient])?;
                }
            }
        }
        Ok(())
    })?;
    file.section(HEADER.id, |out| {
        out.modulus::<P>()?;
        out.u32(header.wires)?;
        out.u32(header.outputs)?;
        out.u32(header.public_inputs)?;
        out.u32(header.private_inputs)?;
        out.u64(header.labels)?;
        out.u32(header.constraints)
    })?;
    file.section(LABELS.id, |out| (0..u64::from(header.wires)).try_for_each(|wire| out.u64(wire)))?;
    file.finish()
}
