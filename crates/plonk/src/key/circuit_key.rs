//! `.key`: proving keys of circuits in Proofmill's own arithmetisations, magic `pmpk`.
//!
//! Sections: 1 the header; 2 the constants, scalars to which the other sections refer by index; 3 wire maps;
//! 4 the fixed columns; 5 and 6 the derivation of variables from a witness; 7 commitments; 8 powers of tau.
//! This module does not interpret the names in the header: a column is a name and a list of constants.
//! Scalars and coordinates are in Montgomery form.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use proofmill_circom::{
    BinFile, BinWriter, CircomError, Cursor, FileKind, Form, PointCheck, Points, Scalars, Section,
    SectionName, SectionWriter, decode_each,
};
use proofmill_cpu::{Level, Portable};
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::bn254::Fr;
use proofmill_files::Target;
use std::{collections::HashMap, path::Path};

const HEADER: SectionName = SectionName { id: 1, content: "header" };
const CONSTANTS: SectionName = SectionName { id: 2, content: "constants" };
const WIRE_MAPS: SectionName = SectionName { id: 3, content: "wire maps" };
const COLUMNS: SectionName = SectionName { id: 4, content: "fixed columns" };
const TERM_COUNTS: SectionName = SectionName { id: 5, content: "counts of terms" };
const TERMS: SectionName = SectionName { id: 6, content: "terms" };
const COMMITMENTS: SectionName = SectionName { id: 7, content: "commitments" };
pub(crate) const POWERS: SectionName = SectionName { id: 8, content: "powers of tau" };
const SECTIONS: u32 = 8;

/// Bytes of a scalar.
const SCALAR_BYTES: usize = <Fr>::BYTES;
/// The largest number of names in a list of gates or columns.
const MOST_NAMES: u32 = 64;
/// The largest length of a name in bytes.
const LONGEST_NAME: u32 = 64;
/// The largest number of wires of a row.
const MOST_WIRES: u32 = 16;
/// The largest number of rows of a circuit, and of values of a column.
const MOST_ROWS: u32 = 1 << 26;

/// Counts and names of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitKeyHeader {
    /// Wires of a row, 1 to 16.
    pub wires: u32,
    /// Rows, at most 2^26.
    pub rows: u32,
    /// Variables, including the one without a value and the derived ones.
    pub variables: u32,
    /// Values in a witness, from 1 to `variables`; the other variables are derived.
    pub witness: u32,
    /// Public inputs: fewer than `witness`, and at most `rows`.
    pub public: u32,
    /// The names of the gates.
    pub gates: Vec<String>,
    /// The name of the lookup argument; empty without lookups.
    pub lookup: String,
    /// The fixed columns: name and number of values, at most 2^26.
    pub columns: Vec<(String, u32)>,
    /// tau in G2, in the subgroup.
    pub tau: Affine<G2>,
    /// Whether the file marks the key as insecure: nobody contributed to its powers of tau, or only beacons did.
    pub insecure_setup: bool,
}

/// A term of a derived variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerivationTerm {
    /// A variable. Whether it is derived before its use is not checked.
    pub variable: u32,
    /// The factor, as the index of a constant.
    pub factor: u32,
}

/// An open key. The header is decoded and the lengths of all sections are checked; their content is not.
#[derive(Debug)]
pub struct CircuitKey {
    file: BinFile,
    header: CircuitKeyHeader,
}

impl CircuitKey {
    /// Opens a key.
    ///
    /// # Errors
    /// [`CircomError`] for a file that is not such a key over BN254.
    pub fn open(path: &Path) -> Result<Self, CircomError> {
        Self::read(BinFile::open(path)?)
    }

    /// [`Self::open`] for a container that is already open.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(file: BinFile) -> Result<Self, CircomError> {
        file.expect_kind(FileKind::Pmpk)?;
        let header = read_header(&file)?;
        check_sections(&file, &header)?;
        Ok(Self { file, header })
    }

    /// The container.
    pub fn into_file(self) -> BinFile {
        self.file
    }

    /// The header: counts and names.
    pub fn header(&self) -> &CircuitKeyHeader {
        &self.header
    }

    /// An error about the meaning of the header's names and counts.
    pub fn malformed(&self, problem: impl Into<String>) -> CircomError {
        self.file.checked_section(HEADER).malformed(0, problem)
    }

    /// The scalars to which columns and derivations refer, on the ambient rayon pool.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] for a value that is not below the modulus.
    pub fn constants(&self, level: Level) -> Result<Vec<Fr>, CircomError> {
        Scalars::new(self.file.checked_section(CONSTANTS), Form::Montgomery).decode(level)
    }

    /// The variable of each row on this wire; empty for a wire that the key does not have. Runs on the
    /// ambient rayon pool.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] for a variable that does not exist.
    pub fn wire_map(&self, wire: usize) -> Result<Vec<u32>, CircomError> {
        let bytes = 4 * self.header.rows as usize;
        let start = wire.saturating_mul(bytes);
        let section = self.file.checked_section(WIRE_MAPS).part(start..start.saturating_add(bytes));
        places(section, self.header.variables, "variable")
    }

    /// The values of a fixed column; empty for a column that the key does not have. `constants` are the
    /// key's. Runs on the ambient rayon pool.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] for a constant that does not exist.
    pub fn column(&self, index: usize, constants: &[Fr]) -> Result<Vec<Fr>, CircomError> {
        let bytes = |(_, values): &(String, u32)| 4 * *values as usize;
        let columns = &self.header.columns;
        let start = columns.iter().take(index).map(bytes).sum::<usize>();
        let length = columns.get(index).map_or(0, bytes);
        let section = self.file.checked_section(COLUMNS).part(start..start + length);
        decode_each(section, 4, |_, bytes| {
            let place = read_u32(bytes).unwrap_or(u32::MAX);
            let constant = constants.get(place as usize).copied();
            constant.ok_or_else(|| format!("constant {place} of {}", constants.len()).into())
        })
    }

    /// The number of terms of each derived variable, and the terms of all of them, stored contiguously. Runs
    /// on the ambient rayon pool.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] for a variable or a constant that does not exist, or counts whose sum is
    /// not the number of terms.
    pub fn derivations(&self) -> Result<(Vec<u32>, Vec<DerivationTerm>), CircomError> {
        let counts = places(self.file.checked_section(TERM_COUNTS), u32::MAX, "count")?;
        let section = self.file.checked_section(TERMS);
        let total: u64 = counts.iter().copied().map(u64::from).sum();
        section.expect_elements(total, 8, "terms")?;
        let constants = self.file.checked_section(CONSTANTS).len() / SCALAR_BYTES;
        let terms = decode_each(section, 8, |_, bytes| {
            let at = |at: usize| bytes.get(at..).and_then(read_u32).unwrap_or(u32::MAX);
            let (variable, factor) = (at(0), at(4));
            if variable >= self.header.variables || factor as usize >= constants {
                let variables = self.header.variables;
                let problem =
                    format!("variable {variable} of {variables} times constant {factor} of {constants}");
                return Err(problem.into());
            }
            Ok(DerivationTerm { variable, factor })
        })?;
        Ok((counts, terms))
    }

    /// The commitments: to the fixed columns, then to the permutation's column of each wire.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] for a point off the curve.
    pub fn commitments(&self, level: Level) -> Result<Vec<Affine<G1>>, CircomError> {
        Points::new(self.file.checked_section(COMMITMENTS)).decode(level, PointCheck::OnCurve)
    }

    /// The powers of tau in G1: at least one for each row. Runs on the ambient rayon pool.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] for a point off the curve.
    pub fn powers(&self, level: Level) -> Result<Vec<Affine<G1>>, CircomError> {
        Points::new(self.file.checked_section(POWERS)).decode(level, PointCheck::OnCurve)
    }
}

/// The first four bytes as an integer.
fn read_u32(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.first_chunk()?))
}

/// Four-byte integers that must be below `limit`; errors call them `what`.
fn places(section: Section<'_>, limit: u32, what: &str) -> Result<Vec<u32>, CircomError> {
    decode_each(section, 4, |_, bytes| match read_u32(bytes) {
        Some(place) if place < limit => Ok(place),
        place => Err(format!("{what} {} of {limit}", place.unwrap_or_default()).into()),
    })
}

fn read_header(file: &BinFile) -> Result<CircuitKeyHeader, CircomError> {
    let mut cursor = file.section(HEADER)?.cursor();
    cursor.expect_bn254()?;
    let mut counts = [0; 5];
    for (count, name) in
        counts.iter_mut().zip(["wires", "rows", "variables", "witness values", "public inputs"])
    {
        *count = cursor.u32(name)?;
    }
    let [wires, rows, variables, witness, public] = counts;
    if wires == 0 || wires > MOST_WIRES || rows > MOST_ROWS {
        let problem =
            format!("expected at most {MOST_ROWS} rows of 1 to {MOST_WIRES} wires, found {rows} of {wires}");
        return Err(cursor.malformed(problem));
    }
    if witness > variables || public >= witness || public > rows {
        let problem = format!(
            "{rows} rows cannot have {public} public inputs, of {witness} values in a witness, of {variables} variables"
        );
        return Err(cursor.malformed(problem));
    }
    let gates = (0..read_count(&mut cursor)?).map(|_| read_name(&mut cursor)).collect::<Result<_, _>>()?;
    let lookup = read_name(&mut cursor)?;
    let columns = read_count(&mut cursor)?;
    let columns = (0..columns).map(|_| read_column(&mut cursor)).collect::<Result<_, _>>()?;
    let tau = read_tau(&mut cursor)?;
    cursor.finish()?;
    let insecure_setup = file.has_insecure_setup();
    Ok(CircuitKeyHeader {
        wires,
        rows,
        variables,
        witness,
        public,
        gates,
        lookup,
        columns,
        tau,
        insecure_setup,
    })
}

fn read_tau(cursor: &mut Cursor<'_>) -> Result<Affine<G2>, CircomError> {
    let bytes = cursor.take(Points::<G2>::BYTES, "tau in G2")?;
    let points = Points::<G2>::new(bytes).decode(Level::Portable(Portable), PointCheck::InSubgroup)?;
    points.first().copied().ok_or_else(|| bytes.malformed(0, "expected tau in G2"))
}

fn read_count(cursor: &mut Cursor<'_>) -> Result<u32, CircomError> {
    let at = cursor.position();
    match cursor.u32("count of names")? {
        count if count <= MOST_NAMES => Ok(count),
        count => Err(cursor.malformed_at(at, format!("expected at most {MOST_NAMES} names, found {count}"))),
    }
}

/// Reads a name. Only lower-case letters, digits and underscores are allowed, so that error messages that
/// quote it stay on one line.
fn read_name(cursor: &mut Cursor<'_>) -> Result<String, CircomError> {
    let at = cursor.position();
    let length = cursor.u32("a name's length")?;
    if length > LONGEST_NAME {
        let problem = format!("expected a name of at most {LONGEST_NAME} bytes, found {length}");
        return Err(cursor.malformed_at(at, problem));
    }
    let bytes = cursor.take(length as usize, "a name")?.bytes();
    let valid = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
    match std::str::from_utf8(bytes) {
        Ok(name) if bytes.iter().all(valid) => Ok(name.to_owned()),
        _ => Err(cursor.malformed_at(at, "expected a name of lower-case letters, digits and underscores")),
    }
}

fn read_column(cursor: &mut Cursor<'_>) -> Result<(String, u32), CircomError> {
    let name = read_name(cursor)?;
    match cursor.u32("count of values")? {
        values if values <= MOST_ROWS => Ok((name, values)),
        values => Err(cursor.malformed(format!("expected at most {MOST_ROWS} values, found {values}"))),
    }
}

fn check_sections(file: &BinFile, header: &CircuitKeyHeader) -> Result<(), CircomError> {
    let points = Points::<G1>::BYTES as u64;
    let whole = |name: SectionName, size: u64| -> Result<u64, CircomError> {
        let section = file.section(name)?;
        let count = section.len() as u64 / size;
        section.expect_elements(count, size, name.content)?;
        Ok(count)
    };
    whole(CONSTANTS, SCALAR_BYTES as u64)?;
    whole(TERMS, 8)?;
    let maps = u64::from(header.wires) * u64::from(header.rows);
    file.section(WIRE_MAPS)?.expect_elements(maps, 4, "variables")?;
    let values = header.columns.iter().map(|(_, values)| u64::from(*values)).sum();
    file.section(COLUMNS)?.expect_elements(values, 4, "values")?;
    let derived = u64::from(header.variables - header.witness);
    file.section(TERM_COUNTS)?.expect_elements(derived, 4, "counts")?;
    let commitments = header.columns.len() as u64 + u64::from(header.wires);
    file.section(COMMITMENTS)?.expect_elements(commitments, points, "points")?;
    let powers = whole(POWERS, points)?;
    if powers < u64::from(header.rows) {
        let problem = format!("{powers} powers of tau for {} rows", header.rows);
        return Err(file.section(POWERS)?.malformed(0, problem));
    }
    // This bounds the allocations for variables by the size of the file.
    if u64::from(header.variables) > file.len() as u64 {
        let problem = format!("{} variables in a file of {} bytes", header.variables, file.len());
        return Err(file.section(HEADER)?.malformed(0, problem));
    }
    Ok(())
}

/// Writes a key in two steps: first everything that precedes the commitments, then the commitments.
#[derive(Debug)]
pub struct CircuitKeyWriter<'a>(BinWriter<'a>);

/// The distinct scalars and their indices.
#[derive(Default)]
struct Dictionary {
    places: HashMap<[u64; 4], u32>,
    constants: Vec<Fr>,
}

impl Dictionary {
    fn place(&mut self, value: Fr) -> u32 {
        *self.places.entry(value.to_montgomery()).or_insert_with(|| {
            self.constants.push(value);
            self.constants.len() as u32 - 1
        })
    }
}

impl<'a> CircuitKeyWriter<'a> {
    /// Starts a file: header, wire maps, fixed columns in the order of the header, and the terms of each
    /// derived variable.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    ///
    /// # Panics
    /// If a length differs from the header's.
    pub fn create<'t>(
        target: impl Into<Target<'a>>,
        header: &CircuitKeyHeader,
        wire_maps: &[Vec<u32>],
        columns: &[&[Fr]],
        derivations: impl ExactSizeIterator<Item = &'t [(u32, Fr)]> + Clone,
    ) -> Result<Self, CircomError> {
        assert_eq!(wire_maps.len(), header.wires as usize, "wire maps");
        assert!(wire_maps.iter().all(|map| map.len() == header.rows as usize), "rows of the wire maps");
        assert_eq!(columns.len(), header.columns.len(), "fixed columns");
        let lengths = columns.iter().zip(&header.columns);
        assert!(lengths.clone().all(|(values, (_, length))| values.len() == *length as usize), "values");
        assert_eq!(derivations.len(), (header.variables - header.witness) as usize, "derived variables");
        let mut file =
            BinWriter::create(target, FileKind::Pmpk, 1, SECTIONS + u32::from(header.insecure_setup))?;
        if header.insecure_setup {
            file.mark_insecure_setup()?;
        }
        file.section(HEADER.id, |out| write_header(header, out))?;
        file.section(WIRE_MAPS.id, |out| {
            wire_maps.iter().flatten().try_for_each(|variable| out.u32(*variable))
        })?;
        let mut dictionary = Dictionary::default();
        file.section(COLUMNS.id, |out| {
            let mut values = columns.iter().copied().flatten();
            values.try_for_each(|value| out.u32(dictionary.place(*value)))
        })?;
        file.section(TERM_COUNTS.id, |out| {
            derivations.clone().try_for_each(|terms| out.u32(terms.len() as u32))
        })?;
        file.section(TERMS.id, |out| {
            derivations.flatten().try_for_each(|(variable, factor)| {
                out.u32(*variable)?;
                out.u32(dictionary.place(*factor))
            })
        })?;
        file.section(CONSTANTS.id, |out| out.montgomery(&dictionary.constants))?;
        Ok(Self(file))
    }

    /// Writes the commitments to the fixed columns and the permutation's columns, then calls `powers`, which
    /// writes the powers of tau with [`SectionWriter::points`]. Completes the file and gives it its final
    /// name.
    ///
    /// # Errors
    /// [`CircomError::Io`], and the errors of `powers`.
    pub fn finish(
        mut self,
        commitments: &[Affine<G1>],
        powers: impl FnOnce(&mut SectionWriter<'_>) -> Result<(), CircomError>,
    ) -> Result<(), CircomError> {
        self.0.section(COMMITMENTS.id, |out| out.points(commitments))?;
        self.0.section(POWERS.id, powers)?;
        self.0.finish()
    }
}

fn write_header(header: &CircuitKeyHeader, out: &mut SectionWriter<'_>) -> Result<(), CircomError> {
    let CircuitKeyHeader { wires, rows, variables, witness, public, gates, lookup, columns, tau, .. } =
        header;
    out.bn254()?;
    [wires, rows, variables, witness, public].into_iter().try_for_each(|count| out.u32(*count))?;
    let name = |out: &mut SectionWriter<'_>, name: &str| {
        out.u32(name.len() as u32)?;
        out.bytes(name.as_bytes())
    };
    out.u32(gates.len() as u32)?;
    gates.iter().try_for_each(|gate| name(out, gate))?;
    name(out, lookup)?;
    out.u32(columns.len() as u32)?;
    for (column, values) in columns {
        name(out, column)?;
        out.u32(*values)?;
    }
    out.points(&[*tau])
}
