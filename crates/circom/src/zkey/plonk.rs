//! PLONK proving keys.
//!
//! Sections: 1 the protocol; 2 the header; 3 the additions, each of which defines a wire by two others; 4, 5, 6 the wires at
//! each gate's left input, right input and output; 7 to 11 the selectors Qm, Ql, Qr, Qo, Qc; 12 the three permutation
//! polynomials; 13 the Lagrange polynomials of the public signals (at least one); 14 powers of tau. A polynomial is n
//! coefficients and 4n evaluations over the domain of size 4n; scalars are in Montgomery form.

use super::{Counts, HEADER, PROTOCOL, Protocol, g1, g2};
use crate::{
    binfile::{BinFile, Section},
    decode::{FR_BYTES, Form, NOT_BELOW_R, Points, Scalars, decode_each, read_limbs, read_scalar, read_u32},
    error::{CircomError, SectionName},
    file_kind::FileKind,
    output::{BinWriter, SectionWriter, Target},
};
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::{
    Prime,
    bn254::{FqParams, Fr, FrParams},
};
use std::{ops::Range, path::Path};

const ADDITIONS: SectionName = SectionName { id: 3, content: "additions" };
const SIGMA: SectionName = SectionName { id: 12, content: "permutation polynomials" };
const LAGRANGE: SectionName = SectionName { id: 13, content: "lagrange polynomials" };
const PTAU: SectionName = SectionName { id: 14, content: "powers of tau" };

/// Bytes of an addition.
const ADDITION_BYTES: usize = 8 + 2 * FR_BYTES;
/// Points of section 14 beyond the domain's size.
const EXTRA_POWERS: u32 = 6;
/// Scalars of a polynomial per point of the domain: the coefficient and four evaluations.
const SCALARS_PER_POINT: u64 = 5;

/// One of a gate's three wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Left input.
    A,
    /// Right input.
    B,
    /// Output.
    C,
}

impl Column {
    /// All three, in the file's order.
    pub const ALL: [Self; 3] = [Self::A, Self::B, Self::C];

    const fn section(self) -> SectionName {
        let (id, content) = match self {
            Self::A => (4, "wires of column A"),
            Self::B => (5, "wires of column B"),
            Self::C => (6, "wires of column C"),
        };
        SectionName { id, content }
    }
}

/// One of the gate's selectors: `Qm a b + Ql a + Qr b + Qo c + Qc + PI = 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selector {
    /// Of the product.
    Qm,
    /// Of the left input.
    Ql,
    /// Of the right input.
    Qr,
    /// Of the output.
    Qo,
    /// The constant.
    Qc,
}

impl Selector {
    /// All five, in the file's order.
    pub const ALL: [Self; 5] = [Self::Qm, Self::Ql, Self::Qr, Self::Qo, Self::Qc];

    const fn section(self) -> SectionName {
        let (id, content) = match self {
            Self::Qm => (7, "selector Qm"),
            Self::Ql => (8, "selector Ql"),
            Self::Qr => (9, "selector Qr"),
            Self::Qo => (10, "selector Qo"),
            Self::Qc => (11, "selector Qc"),
        };
        SectionName { id, content }
    }
}

/// The header of a key: counts and commitments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlonkHeader {
    /// All wires: the circuit's, the constant included, and the additions'.
    pub wires: u32,
    /// Public signals, without the constant; fewer than the wires, at most as many as the constraints.
    pub public: u32,
    /// Points of the domain, a power of two of at most 2^28.
    pub domain_size: u32,
    /// Additions.
    pub additions: u32,
    /// Gates: at most `domain_size`.
    pub constraints: u32,
    /// Coset of the second column.
    pub k1: Fr,
    /// Coset of the third column.
    pub k2: Fr,
    /// Commitments to Qm, Ql, Qr, Qo, Qc.
    pub selectors: [Affine<G1>; 5],
    /// Commitments to the permutation polynomials.
    pub sigma: [Affine<G1>; 3],
    /// tau in G2.
    pub x_2: Affine<G2>,
    /// Whether the file marks the key as insecure: nobody contributed to its powers of tau.
    pub insecure_setup: bool,
}

impl PlonkHeader {
    /// Wires of the circuit itself, whose values a witness file has.
    pub fn circuit_wires(&self) -> u32 {
        self.wires - self.additions
    }

    /// Lagrange polynomials in section 13.
    pub fn lagrange_polynomials(&self) -> u32 {
        self.public.max(1)
    }
}

/// Defines a wire by two others: `left_factor * left + right_factor * right`. The i-th addition defines wire `circuit_wires() +
/// i`; its inputs have smaller numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addition {
    /// Wire of the first term.
    pub left: u32,
    /// Wire of the second term.
    pub right: u32,
    /// Factor of the first term.
    pub left_factor: Fr,
    /// Factor of the second term.
    pub right_factor: Fr,
}

/// A polynomial of degree below the domain's size.
#[derive(Clone, Copy, Debug)]
pub struct Polynomial<'a> {
    /// `domain_size` coefficients, lowest first.
    pub coefficients: Scalars<'a>,
    /// `4 * domain_size` evaluations at the powers of the root of unity of that order.
    pub extended: Scalars<'a>,
}

/// An open PLONK key: the header is decoded, the lengths of all sections are checked, their content is not.
#[derive(Debug)]
pub struct PlonkZkey {
    file: BinFile,
    header: PlonkHeader,
}

impl PlonkZkey {
    /// Opens a key.
    ///
    /// # Errors
    /// [`CircomError`] for anything that is not a PLONK key over BN254.
    pub fn open(path: &Path) -> Result<Self, CircomError> {
        Self::read(BinFile::open(path)?)
    }

    /// [`Self::open`] of an open container.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(file: BinFile) -> Result<Self, CircomError> {
        file.expect_kind(FileKind::Zkey)?;
        Protocol::read(&file)?.expect(&file, Protocol::Plonk)?;
        let header = read_header(&file)?;
        check_sections(&file, &header)?;
        Ok(Self { file, header })
    }

    /// The header.
    pub fn header(&self) -> &PlonkHeader {
        &self.header
    }

    /// The container.
    pub fn file(&self) -> &BinFile {
        &self.file
    }

    /// The additions in the order of the wires that they define, on the ambient rayon pool.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] for an input that is not defined before, or a factor not below the modulus.
    pub fn additions(&self) -> Result<Vec<Addition>, CircomError> {
        let first = self.header.circuit_wires() as usize;
        decode_each(self.section(ADDITIONS), ADDITION_BYTES, |index, bytes| {
            let wire = |at: usize| match bytes.get(at..).and_then(read_u32) {
                Some(wire) if (wire as usize) < first + index => Ok(wire),
                wire => Err(format!("input {} of wire {}", wire.unwrap_or_default(), first + index)),
            };
            let factor = |at: usize| {
                let limbs = bytes.get(at..).and_then(read_limbs);
                limbs.and_then(Fr::from_montgomery).ok_or(NOT_BELOW_R)
            };
            Ok(Addition {
                left: wire(0)?,
                right: wire(4)?,
                left_factor: factor(8)?,
                right_factor: factor(8 + FR_BYTES)?,
            })
        })
    }

    /// The wire in this column of every gate, on the ambient rayon pool.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] for a wire that does not exist.
    pub fn wire_map(&self, column: Column) -> Result<Vec<u32>, CircomError> {
        let wires = self.header.wires;
        decode_each(self.section(column.section()), 4, |_, bytes| match read_u32(bytes) {
            Some(wire) if wire < wires => Ok(wire),
            wire => Err(format!("wire {} of {wires}", wire.unwrap_or_default()).into()),
        })
    }

    /// A selector.
    pub fn selector(&self, selector: Selector) -> Polynomial<'_> {
        self.polynomial(selector.section(), 0)
    }

    /// A permutation polynomial.
    pub fn sigma(&self, column: Column) -> Polynomial<'_> {
        let index = match column {
            Column::A => 0,
            Column::B => 1,
            Column::C => 2,
        };
        self.polynomial(SIGMA, index)
    }

    /// The Lagrange polynomial that is 1 at the domain's point `index`. The key has one for each public signal, and at least
    /// one; for a larger index the result is empty.
    pub fn lagrange(&self, index: u32) -> Polynomial<'_> {
        self.polynomial(LAGRANGE, index as usize)
    }

    /// Powers of tau in G1: `domain_size + 6`.
    pub fn ptau(&self) -> Points<'_, G1> {
        Points::new(self.section(PTAU))
    }

    fn section(&self, name: SectionName) -> Section<'_> {
        self.file.checked_section(name)
    }

    fn polynomial(&self, name: SectionName, index: usize) -> Polynomial<'_> {
        let n = self.header.domain_size as usize;
        let section = self.section(name);
        let scalars = |range: Range<usize>| {
            Scalars::new(section.part(range.start * FR_BYTES..range.end * FR_BYTES), Form::Montgomery)
        };
        let start = index.saturating_mul(SCALARS_PER_POINT as usize * n);
        Polynomial { coefficients: scalars(start..start + n), extended: scalars(start + n..start + 5 * n) }
    }
}

fn read_header(file: &BinFile) -> Result<PlonkHeader, CircomError> {
    let counts = Counts::read(file)?;
    let (wires, public, domain_size) = (counts.wires, counts.public, counts.domain_size);
    let mut cursor = counts.check()?;
    let additions = cursor.u32("count of additions")?;
    if additions >= wires - public {
        let problem = format!("{additions} additions among {wires} wires, {public} of them public");
        return Err(cursor.malformed(problem));
    }
    let constraints = cursor.u32("count of constraints")?;
    if constraints > domain_size {
        let problem = format!("{constraints} constraints over a domain of {domain_size}");
        return Err(cursor.malformed(problem));
    }
    // Each public signal has a constraint.
    if public > constraints {
        return Err(cursor.malformed(format!("{public} public signals, but {constraints} constraints")));
    }
    let header = PlonkHeader {
        wires,
        public,
        domain_size,
        additions,
        constraints,
        k1: read_scalar(cursor.take(FR_BYTES, "k1")?, Form::Montgomery)?,
        k2: read_scalar(cursor.take(FR_BYTES, "k2")?, Form::Montgomery)?,
        selectors: [
            g1(&mut cursor, "commitment to Qm")?,
            g1(&mut cursor, "commitment to Ql")?,
            g1(&mut cursor, "commitment to Qr")?,
            g1(&mut cursor, "commitment to Qo")?,
            g1(&mut cursor, "commitment to Qc")?,
        ],
        sigma: [
            g1(&mut cursor, "commitment to S1")?,
            g1(&mut cursor, "commitment to S2")?,
            g1(&mut cursor, "commitment to S3")?,
        ],
        x_2: g2(&mut cursor, "tau in G2")?,
        insecure_setup: file.has_insecure_setup(),
    };
    cursor.finish()?;
    Ok(header)
}

fn check_sections(file: &BinFile, header: &PlonkHeader) -> Result<(), CircomError> {
    let additions = u64::from(header.additions);
    file.section(ADDITIONS)?.expect_elements(additions, ADDITION_BYTES as u64, "additions")?;
    for column in Column::ALL {
        file.section(column.section())?.expect_elements(u64::from(header.constraints), 4, "wires")?;
    }
    let polynomial = u64::from(header.domain_size) * SCALARS_PER_POINT * FR_BYTES as u64;
    for selector in Selector::ALL {
        file.section(selector.section())?.expect_elements(1, polynomial, "polynomial")?;
    }
    file.section(SIGMA)?.expect_elements(3, polynomial, "polynomials")?;
    let lagrange = u64::from(header.lagrange_polynomials());
    file.section(LAGRANGE)?.expect_elements(lagrange, polynomial, "polynomials")?;
    let powers = u64::from(header.domain_size + EXTRA_POWERS);
    file.section(PTAU)?.expect_elements(powers, Points::<G1>::BYTES as u64, "points")
}

/// Writes a key, section by section in the order of the calls. The order of `snarkjs plonk setup` is: additions, wire maps A,
/// B, C, selectors Qm to Qc, sigma, lagrange, ptau, header.
#[derive(Debug)]
pub struct PlonkWriter<'a>(BinWriter<'a>);

impl<'a> PlonkWriter<'a> {
    /// Begins a file. `insecure_setup` is that of the header, which comes last.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn create(target: impl Into<Target<'a>>, insecure_setup: bool) -> Result<Self, CircomError> {
        let mut file = BinWriter::create(target, FileKind::Zkey, 1, 14 + u32::from(insecure_setup))?;
        if insecure_setup {
            file.mark_insecure_setup()?;
        }
        Ok(Self(file))
    }

    /// Writes the additions in the order of the wires that they define.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn additions(&mut self, additions: impl IntoIterator<Item = Addition>) -> Result<(), CircomError> {
        self.0.section(ADDITIONS.id, |out| {
            additions.into_iter().try_for_each(|addition| {
                out.u32(addition.left)?;
                out.u32(addition.right)?;
                out.montgomery(&[addition.left_factor, addition.right_factor])
            })
        })
    }

    /// Writes the wire in this column of every gate.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn wire_map(
        &mut self,
        column: Column,
        wires: impl IntoIterator<Item = u32>,
    ) -> Result<(), CircomError> {
        self.0.section(column.section().id, |out| wires.into_iter().try_for_each(|wire| out.u32(wire)))
    }

    /// Writes a selector: coefficients, then extended evaluations, by [`SectionWriter::montgomery`].
    ///
    /// # Errors
    /// [`CircomError::Io`], and the errors of `write`.
    pub fn selector(
        &mut self,
        selector: Selector,
        write: impl FnOnce(&mut SectionWriter<'_>) -> Result<(), CircomError>,
    ) -> Result<(), CircomError> {
        self.0.section(selector.section().id, write)
    }

    /// Writes the three permutation polynomials in order, each like a selector.
    ///
    /// # Errors
    /// [`CircomError::Io`], and the errors of `write`.
    pub fn sigma(
        &mut self,
        write: impl FnOnce(&mut SectionWriter<'_>) -> Result<(), CircomError>,
    ) -> Result<(), CircomError> {
        self.0.section(SIGMA.id, write)
    }

    /// Writes the Lagrange polynomials in order, each like a selector.
    ///
    /// # Errors
    /// [`CircomError::Io`], and the errors of `write`.
    pub fn lagrange(
        &mut self,
        write: impl FnOnce(&mut SectionWriter<'_>) -> Result<(), CircomError>,
    ) -> Result<(), CircomError> {
        self.0.section(LAGRANGE.id, write)
    }

    /// Writes the powers of tau by [`SectionWriter::points`].
    ///
    /// # Errors
    /// [`CircomError::Io`], and the errors of `write`.
    pub fn ptau(
        &mut self,
        write: impl FnOnce(&mut SectionWriter<'_>) -> Result<(), CircomError>,
    ) -> Result<(), CircomError> {
        self.0.section(PTAU.id, write)
    }

    /// Writes the protocol and the header.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn header(&mut self, header: &PlonkHeader) -> Result<(), CircomError> {
        self.0.section(PROTOCOL.id, |out| out.u32(2))?;
        self.0.section(HEADER.id, |out| {
            out.modulus(&FqParams::MODULUS)?;
            out.modulus(&FrParams::MODULUS)?;
            out.u32(header.wires)?;
            out.u32(header.public)?;
            out.u32(header.domain_size)?;
            out.u32(header.additions)?;
            out.u32(header.constraints)?;
            out.montgomery(&[header.k1, header.k2])?;
            out.points(&header.selectors)?;
            out.points(&header.sigma)?;
            out.points(&[header.x_2])
        })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    ///
    /// # Panics
    /// If a section was left out.
    pub fn finish(self) -> Result<(), CircomError> {
        self.0.finish()
    }
}
