//! The sections that the keys of PLONK and fflonk have in common.
//!
//! Sections: 1 the protocol; 2 the header; 3 the additions, each of which defines a wire by two others; 4, 5, 6 the wires at
//! each gate's left input, right input and output; 7 to 11 the selectors. The permutation polynomials, the Lagrange polynomials
//! of the public signals (at least one) and the powers of tau follow, in sections that depend on the protocol ([`Layout`]). A
//! polynomial is n coefficients and 4n evaluations over the domain of size 4n; scalars are in Montgomery form.

use super::{CommonHeader, HEADER, ZkeyProtocol};
use crate::{
    binfile::{BinFile, Cursor, Section},
    decode::{FR_BYTES, Form, Points, Scalars, decode_each, not_below_r, read_limbs, read_u32},
    error::{CircomError, SectionName},
    file_kind::FileKind,
    writer::{BinWriter, SectionWriter},
};
use proofmill_curve::bn254::G1;
use proofmill_field::bn254::{Fr, FrParams};
use proofmill_files::Target;
use std::{marker::PhantomData, ops::Range, path::Path};

const ADDITIONS: SectionName = SectionName { id: 3, content: "additions" };

/// Bytes of an addition.
const ADDITION_BYTES: usize = 8 + 2 * FR_BYTES;
/// Polynomials that fflonk's C0 combines.
const C0_POLYNOMIALS: u64 = 8;
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
    /// The factor of the product.
    Qm,
    /// The factor of the left input.
    Ql,
    /// The factor of the right input.
    Qr,
    /// The factor of the output.
    Qo,
    /// The constant.
    Qc,
}

impl Selector {
    /// All five, in the order of PLONK's files.
    pub const ALL: [Self; 5] = [Self::Qm, Self::Ql, Self::Qr, Self::Qo, Self::Qc];

    const fn content(self) -> &'static str {
        match self {
            Self::Qm => "selector Qm",
            Self::Ql => "selector Ql",
            Self::Qr => "selector Qr",
            Self::Qo => "selector Qo",
            Self::Qc => "selector Qc",
        }
    }
}

/// The counts in a key's header, and the mark of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateCounts {
    /// All wires: the circuit's, the constant included, and the additions'.
    pub wires: u32,
    /// The number of public signals, without the constant: less than that of the wires, and at most that of the constraints.
    pub public: u32,
    /// Points of the domain, a power of two of at most 2^28.
    pub domain_size: u32,
    /// Additions.
    pub additions: u32,
    /// Gates: at most `domain_size`; in fflonk, two fewer.
    pub constraints: u32,
    /// Whether the file marks the key as insecure: nobody contributed to its powers of tau, or only beacons did.
    pub insecure_setup: bool,
}

impl GateCounts {
    /// Wires of the circuit itself, whose values a witness file has.
    pub fn circuit_wires(&self) -> u32 {
        self.wires - self.additions
    }

    /// Logarithm of the domain's size.
    pub fn power(&self) -> u32 {
        self.domain_size.trailing_zeros()
    }

    /// Lagrange polynomials in the key.
    pub fn lagrange_polynomials(&self) -> u32 {
        self.public.max(1)
    }

    /// Reads the counts. `free` rows of the domain have no gates.
    pub(super) fn read<'a>(file: &'a BinFile, free: u32) -> Result<(Self, Cursor<'a>), CircomError> {
        let counts = CommonHeader::read(file)?;
        let (wires, public, domain_size) = (counts.wires, counts.public, counts.domain_size);
        let mut cursor = counts.check::<G1>()?;
        let additions = cursor.u32("count of additions")?;
        if additions >= wires - public {
            let problem = format!("{additions} additions among {wires} wires, {public} of them public");
            return Err(cursor.malformed(problem));
        }
        let constraints = cursor.u32("count of constraints")?;
        let most = domain_size.saturating_sub(free);
        if constraints > most {
            let problem = format!(
                "expected at most {most} constraints over a domain of {domain_size}, found {constraints}"
            );
            return Err(cursor.malformed(problem));
        }
        // Each public signal has a constraint.
        if public > constraints {
            return Err(cursor.malformed(format!("{public} public signals, but {constraints} constraints")));
        }
        let insecure_setup = file.has_insecure_setup();
        Ok((Self { wires, public, domain_size, additions, constraints, insecure_setup }, cursor))
    }

    pub(super) fn write(&self, out: &mut SectionWriter<'_>) -> Result<(), CircomError> {
        out.bn254()?;
        [self.wires, self.public, self.domain_size, self.additions, self.constraints]
            .into_iter()
            .try_for_each(|count| out.u32(count))
    }
}

/// The numbers of the sections in a protocol's keys.
#[derive(Debug)]
pub struct Layout {
    pub(super) protocol: ZkeyProtocol,
    /// All sections.
    pub(super) sections: u32,
    /// Whether the protocol is the first section of a file, and not written before the header.
    pub(super) protocol_first: bool,
    /// The selectors in sections 7 to 11.
    pub(super) selectors: [Selector; 5],
    /// The section of each permutation polynomial; those in the same section are in order.
    pub(super) sigma: [SectionName; 3],
    pub(super) lagrange: SectionName,
    pub(super) ptau: SectionName,
    /// The polynomial that combines all others.
    pub(super) c0: Option<SectionName>,
    /// Powers of tau for a domain of n points: a multiple of n, and a constant.
    pub(super) powers: [u64; 2],
}

impl Layout {
    fn selector(&self, selector: Selector) -> SectionName {
        let place = self.selectors.iter().position(|each| *each == selector).unwrap_or_default();
        SectionName { id: 7 + place as u32, content: selector.content() }
    }

    /// The section of a permutation polynomial, and its place in it.
    fn sigma(&self, column: Column) -> (SectionName, usize) {
        let [a, b, c] = self.sigma;
        match column {
            Column::A => (a, 0),
            Column::B => (b, usize::from(a == b)),
            Column::C => (c, usize::from(a == c) + usize::from(b == c)),
        }
    }
}

/// The header of a key of PLONK or fflonk; no other type can implement it.
pub trait GateHeader: Copy + Sized {
    /// The protocol's sections.
    #[doc(hidden)]
    const LAYOUT: Layout;

    /// Reads the header.
    #[doc(hidden)]
    fn read(file: &BinFile) -> Result<Self, CircomError>;

    /// Writes the header.
    #[doc(hidden)]
    fn write(&self, out: &mut SectionWriter<'_>) -> Result<(), CircomError>;

    /// The counts.
    fn counts(&self) -> &GateCounts;
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

/// An open key: the header is decoded, the lengths of all sections are checked, their content is not.
#[derive(Debug)]
pub struct GateZkey<H> {
    gates: GateSections,
    header: H,
}

impl<H: GateHeader> GateZkey<H> {
    /// Opens a key.
    ///
    /// # Errors
    /// [`CircomError`] for anything that is not a key of this protocol over BN254.
    pub fn open(path: &Path) -> Result<Self, CircomError> {
        Self::read(BinFile::open(path)?)
    }

    /// [`Self::open`] of an open container.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(file: BinFile) -> Result<Self, CircomError> {
        file.expect_kind(FileKind::Zkey)?;
        ZkeyProtocol::read(&file)?.expect(&file, H::LAYOUT.protocol)?;
        let header = H::read(&file)?;
        let gates = GateSections { counts: *header.counts(), layout: &const { H::LAYOUT }, file };
        gates.check()?;
        Ok(Self { gates, header })
    }

    /// The header.
    pub fn header(&self) -> &H {
        &self.header
    }

    /// The circuit's sections.
    pub fn gates(&self) -> &GateSections {
        &self.gates
    }

    /// The circuit's sections.
    pub fn into_gates(self) -> GateSections {
        self.gates
    }
}

/// The sections of an open key, which describe the circuit.
#[derive(Debug)]
pub struct GateSections {
    file: BinFile,
    counts: GateCounts,
    layout: &'static Layout,
}

impl GateSections {
    /// The container.
    pub fn file(&self) -> &BinFile {
        &self.file
    }

    /// The counts in the header.
    pub fn counts(&self) -> &GateCounts {
        &self.counts
    }

    /// The additions in the order of the wires that they define, on the ambient rayon pool.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] for an input that is not defined before, or a factor not below the modulus.
    pub fn additions(&self) -> Result<Vec<Addition>, CircomError> {
        let first = self.counts.circuit_wires() as usize;
        decode_each(self.section(ADDITIONS), ADDITION_BYTES, |index, bytes| {
            let wire = |at: usize| match bytes.get(at..).and_then(read_u32) {
                Some(wire) if (wire as usize) < first + index => Ok(wire),
                wire => Err(format!("input {} of wire {}", wire.unwrap_or_default(), first + index)),
            };
            let factor = |at: usize| {
                let limbs = bytes.get(at..).and_then(read_limbs);
                limbs.and_then(Fr::from_montgomery).ok_or_else(not_below_r::<FrParams>)
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
        let wires = self.counts.wires;
        decode_each(self.section(column.section()), 4, |_, bytes| match read_u32(bytes) {
            Some(wire) if wire < wires => Ok(wire),
            wire => Err(format!("wire {} of {wires}", wire.unwrap_or_default()).into()),
        })
    }

    /// A selector.
    pub fn selector(&self, selector: Selector) -> Polynomial<'_> {
        self.polynomial(self.layout.selector(selector), 0)
    }

    /// A permutation polynomial.
    pub fn sigma(&self, column: Column) -> Polynomial<'_> {
        let (section, place) = self.layout.sigma(column);
        self.polynomial(section, place)
    }

    /// The Lagrange polynomial that is 1 at the domain's point `index`. The key has one for each public signal, and at least
    /// one; for a larger index the result is empty.
    pub fn lagrange(&self, index: u32) -> Polynomial<'_> {
        self.polynomial(self.layout.lagrange, index as usize)
    }

    /// Powers of tau in G1: `domain_size + 6` in PLONK, `9 * domain_size + 18` in fflonk.
    pub fn ptau(&self) -> Points<'_, G1> {
        Points::new(self.section(self.layout.ptau))
    }

    /// The coefficients of C0 in fflonk's keys: `8 * domain_size`.
    pub fn c0(&self) -> Option<Scalars<'_>> {
        self.layout.c0.map(|section| Scalars::new(self.section(section), Form::Montgomery))
    }

    fn section(&self, name: SectionName) -> Section<'_> {
        self.file.checked_section(name)
    }

    fn polynomial(&self, name: SectionName, index: usize) -> Polynomial<'_> {
        let n = self.counts.domain_size as usize;
        let section = self.section(name);
        let scalars = |range: Range<usize>| {
            Scalars::new(section.part(range.start * FR_BYTES..range.end * FR_BYTES), Form::Montgomery)
        };
        let start = index.saturating_mul(SCALARS_PER_POINT as usize * n);
        Polynomial { coefficients: scalars(start..start + n), extended: scalars(start + n..start + 5 * n) }
    }

    /// Checks the lengths of all sections.
    fn check(&self) -> Result<(), CircomError> {
        let Self { file, counts, layout } = self;
        let additions = u64::from(counts.additions);
        file.section(ADDITIONS)?.expect_elements(additions, ADDITION_BYTES as u64, "additions")?;
        for column in Column::ALL {
            file.section(column.section())?.expect_elements(u64::from(counts.constraints), 4, "wires")?;
        }
        let polynomial = u64::from(counts.domain_size) * SCALARS_PER_POINT * FR_BYTES as u64;
        for selector in Selector::ALL {
            file.section(layout.selector(selector))?.expect_elements(1, polynomial, "polynomial")?;
        }
        for section in layout.sigma {
            let count = layout.sigma.iter().filter(|each| **each == section).count();
            file.section(section)?.expect_elements(count as u64, polynomial, "polynomials")?;
        }
        let lagrange = u64::from(counts.lagrange_polynomials());
        file.section(layout.lagrange)?.expect_elements(lagrange, polynomial, "polynomials")?;
        if let Some(section) = layout.c0 {
            let coefficients = C0_POLYNOMIALS * u64::from(counts.domain_size);
            file.section(section)?.expect_elements(coefficients, FR_BYTES as u64, "coefficients")?;
        }
        let [multiple, more] = layout.powers;
        let powers = u64::from(counts.domain_size) * multiple + more;
        file.section(layout.ptau)?.expect_elements(powers, Points::<G1>::BYTES as u64, "points")
    }
}

/// Writes a key, section by section in the order of the calls. snarkjs's order is: additions, wire maps A, B, C, selectors,
/// sigma, lagrange, ptau, fflonk's C0, header.
#[derive(Debug)]
pub struct GateWriter<'a, H> {
    pub(super) file: BinWriter<'a>,
    header: PhantomData<H>,
}

impl<'a, H: GateHeader> GateWriter<'a, H> {
    /// The selectors in snarkjs's order.
    pub const SELECTORS: [Selector; 5] = H::LAYOUT.selectors;

    /// Begins a file. `insecure_setup` is that of the header, which comes last.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn create(target: impl Into<Target<'a>>, insecure_setup: bool) -> Result<Self, CircomError> {
        let sections = H::LAYOUT.sections + u32::from(insecure_setup);
        let mut file = BinWriter::create(target, FileKind::Zkey, 1, sections)?;
        if insecure_setup {
            file.mark_insecure_setup()?;
        }
        if H::LAYOUT.protocol_first {
            H::LAYOUT.protocol.write(&mut file)?;
        }
        Ok(Self { file, header: PhantomData })
    }

    /// Writes the additions in the order of the wires that they define.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn additions(&mut self, additions: impl IntoIterator<Item = Addition>) -> Result<(), CircomError> {
        self.file.section(ADDITIONS.id, |out| {
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
        self.file.section(column.section().id, |out| wires.into_iter().try_for_each(|wire| out.u32(wire)))
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
        self.file.section(H::LAYOUT.selector(selector).id, write)
    }

    /// Writes the three permutation polynomials; `write` writes that of one column, like a selector.
    ///
    /// # Errors
    /// [`CircomError::Io`], and the errors of `write`.
    pub fn sigma(
        &mut self,
        mut write: impl FnMut(Column, &mut SectionWriter<'_>) -> Result<(), CircomError>,
    ) -> Result<(), CircomError> {
        for columns in Column::ALL.chunk_by(|a, b| H::LAYOUT.sigma(*a).0 == H::LAYOUT.sigma(*b).0) {
            let Some(first) = columns.first() else { continue };
            self.file.section(H::LAYOUT.sigma(*first).0.id, |out| {
                columns.iter().try_for_each(|column| write(*column, out))
            })?;
        }
        Ok(())
    }

    /// Writes the Lagrange polynomials in order, each like a selector.
    ///
    /// # Errors
    /// [`CircomError::Io`], and the errors of `write`.
    pub fn lagrange(
        &mut self,
        write: impl FnOnce(&mut SectionWriter<'_>) -> Result<(), CircomError>,
    ) -> Result<(), CircomError> {
        self.file.section(H::LAYOUT.lagrange.id, write)
    }

    /// Writes the powers of tau by [`SectionWriter::points`].
    ///
    /// # Errors
    /// [`CircomError::Io`], and the errors of `write`.
    pub fn ptau(
        &mut self,
        write: impl FnOnce(&mut SectionWriter<'_>) -> Result<(), CircomError>,
    ) -> Result<(), CircomError> {
        self.file.section(H::LAYOUT.ptau.id, write)
    }

    /// Writes the header, and the protocol if it is not written yet.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn header(&mut self, header: &H) -> Result<(), CircomError> {
        if !H::LAYOUT.protocol_first {
            H::LAYOUT.protocol.write(&mut self.file)?;
        }
        self.file.section(HEADER.id, |out| header.write(out))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    ///
    /// # Panics
    /// If a section was left out.
    pub fn finish(self) -> Result<(), CircomError> {
        self.file.finish()
    }
}
