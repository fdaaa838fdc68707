//! Groth16 proving keys.
//!
//! Sections: 1 the protocol; 2 the header; 3 IC; 4 the coefficients of A and B; 5 A, 6 B1, 7 B2, 8 C and 9 H,
//! all affine points in Montgomery form; 10 the circuit's hash and the contributions to the ceremony.

use super::{
    Coefficient, Coefficients, CommonHeader, HEADER, Matrix, ZkeyContributions, ZkeyProtocol,
    contributions::CONTRIBUTIONS, take_point,
};
use crate::{
    binfile::{BinFile, Section},
    contributors::Contributors,
    curve::CircomCurve,
    decode::{Coordinate, Points},
    error::{CircomError, SectionName},
    file_kind::FileKind,
    writer::{BinWriter, SectionWriter},
};
use proofmill_curve::{Affine, Curve, bn254::G1};
use proofmill_files::Target;
use std::{marker::PhantomData, ops::Range, path::Path};

const COEFFICIENTS: SectionName = SectionName { id: 4, content: "coefficients" };

/// The sections of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groth16Points {
    /// G1, for the constant and every public signal.
    Ic,
    /// G1, for every wire.
    A,
    /// G1, for every wire.
    B1,
    /// G2, for every wire.
    B2,
    /// G1, for every wire that is neither the constant nor public.
    C,
    /// G1, for every point of the domain.
    H,
}

impl Groth16Points {
    const ALL: [Self; 6] = [Self::Ic, Self::A, Self::B1, Self::B2, Self::C, Self::H];

    const fn section(self) -> SectionName {
        let (id, content) = match self {
            Self::Ic => (3, "points IC"),
            Self::A => (5, "points A"),
            Self::B1 => (6, "points B1"),
            Self::B2 => (7, "points B2"),
            Self::C => (8, "points C"),
            Self::H => (9, "points H"),
        };
        SectionName { id, content }
    }

    /// The number of points, and the bytes of each.
    fn shape<C: CircomCurve>(self, header: &Groth16Header<C>) -> (u64, u64) {
        let size = if self == Self::B2 { Points::<C::G2>::BYTES } else { Points::<C>::BYTES };
        let count = match self {
            Self::Ic => u64::from(header.public) + 1,
            Self::A | Self::B1 | Self::B2 => u64::from(header.wires),
            Self::C => u64::from(header.wires - header.public - 1),
            Self::H => u64::from(header.domain_size),
        };
        (count, size as u64)
    }
}

/// The header of a key: counts and single points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groth16Header<C: CircomCurve = G1> {
    /// All wires, the constant included.
    pub wires: u32,
    /// Public signals, without the constant; fewer than the wires.
    pub public: u32,
    /// Points of the domain, a power of two of at most 2^28.
    pub domain_size: u32,
    /// alpha in G1.
    pub alpha_1: Affine<C>,
    /// beta in G1.
    pub beta_1: Affine<C>,
    /// beta in G2.
    pub beta_2: Affine<C::G2>,
    /// gamma in G2.
    pub gamma_2: Affine<C::G2>,
    /// delta in G1.
    pub delta_1: Affine<C>,
    /// delta in G2.
    pub delta_2: Affine<C::G2>,
}

/// An open Groth16 key: the header is decoded, the lengths of all sections are checked, their content is not.
#[derive(Debug)]
pub struct Groth16Zkey<C: CircomCurve = G1> {
    file: BinFile,
    header: Groth16Header<C>,
}

impl<C: CircomCurve> Groth16Zkey<C> {
    /// Opens a key.
    ///
    /// # Errors
    /// [`CircomError`] for anything that is not a Groth16 key over this curve.
    pub fn open(path: &Path) -> Result<Self, CircomError> {
        Self::read(BinFile::open(path)?)
    }

    /// [`Self::open`] of an open container.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(file: BinFile) -> Result<Self, CircomError> {
        file.expect_kind(FileKind::Zkey)?;
        ZkeyProtocol::read(&file)?.expect(&file, ZkeyProtocol::Groth16)?;
        let header = read_header(&file)?;
        for points in Groth16Points::ALL {
            let (count, size) = points.shape(&header);
            file.section(points.section())?.expect_elements(count, size, "points")?;
        }
        Coefficients::<C::ScalarPrime>::new(file.section(COEFFICIENTS)?, header.domain_size, header.wires)?;
        file.optional_section(CONTRIBUTIONS)?;
        Ok(Self { file, header })
    }

    /// The header; its points in G2 are in the subgroup.
    pub fn header(&self) -> &Groth16Header<C> {
        &self.header
    }

    /// The container.
    pub fn file(&self) -> &BinFile {
        &self.file
    }

    /// Points of the verification key: `public + 1`.
    pub fn ic(&self) -> Points<'_, C> {
        self.points(Groth16Points::Ic)
    }

    /// A's polynomials at tau: `wires` points, infinity for a wire that does not occur.
    pub fn a(&self) -> Points<'_, C> {
        self.points(Groth16Points::A)
    }

    /// B's polynomials at tau in G1: `wires` points.
    pub fn b1(&self) -> Points<'_, C> {
        self.points(Groth16Points::B1)
    }

    /// B's polynomials at tau in G2: `wires` points.
    pub fn b2(&self) -> Points<'_, C::G2> {
        self.points(Groth16Points::B2)
    }

    /// `(beta A + alpha B + C) / delta` at tau: `wires - public - 1` points, the first of wire `public + 1`.
    pub fn c(&self) -> Points<'_, C> {
        self.points(Groth16Points::C)
    }

    /// The Lagrange polynomials at tau of the odd points of the domain twice as large, divided by delta: `domain_size` points.
    pub fn h(&self) -> Points<'_, C> {
        self.points(Groth16Points::H)
    }

    /// The matrices A and B.
    ///
    /// # Errors
    /// None once the key is open.
    pub fn coefficients(&self) -> Result<Coefficients<'_, C::ScalarPrime>, CircomError> {
        Coefficients::new(self.file.section(COEFFICIENTS)?, self.header.domain_size, self.header.wires)
    }

    /// The circuit's hash (64 bytes), a count and the contributions, not decoded; absent in keys that were imported from JSON.
    ///
    /// # Errors
    /// None once the key is open.
    pub fn contributions(&self) -> Result<Option<Section<'_>>, CircomError> {
        self.file.optional_section(CONTRIBUTIONS)
    }

    /// The contributions to the ceremony, decoded; `None` in keys that were imported from JSON.
    ///
    /// # Errors
    /// As [`ZkeyContributions::decode`].
    pub fn decoded_contributions(&self) -> Result<Option<ZkeyContributions<C>>, CircomError> {
        ZkeyContributions::of_file(&self.file)
    }

    /// The contributors to the ceremony, according to the list; `None` in keys that were imported from JSON.
    ///
    /// # Errors
    /// As [`ZkeyContributions::contributors`].
    pub fn contributors(&self) -> Result<Option<Contributors>, CircomError> {
        self.contributions()?.map(ZkeyContributions::<C>::contributors).transpose()
    }

    /// The encoded points of a section.
    pub fn section(&self, points: Groth16Points) -> Section<'_> {
        self.file.checked_section(points.section())
    }

    /// The encoded matrices.
    pub fn coefficients_section(&self) -> Section<'_> {
        self.file.checked_section(COEFFICIENTS)
    }

    /// The bytes of the file that sums over these wires and these points of the domain read: ascending ranges, which hold everything but
    /// the other points and the matrices. A file of this length with these bytes, and zeros elsewhere, opens as this key, whose other
    /// points are infinity.
    ///
    /// Ranges end where the key does.
    pub fn slice(&self, wires: Range<usize>, domain: Range<usize>) -> Vec<Range<usize>> {
        let first_private = self.header.public as usize + 1;
        let private = wires.start.saturating_sub(first_private)..wires.end.saturating_sub(first_private);
        let mut slice: Vec<Range<usize>> = Vec::new();
        let mut push = |range: Range<usize>| match slice.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ if range.is_empty() => (),
            _ => slice.push(range),
        };
        let mut end = 0;
        for section in self.file.sections() {
            push(end..section.range.start);
            end = section.range.end;
            let all = section.range.clone();
            let of = |points: Groth16Points, range: &Range<usize>| {
                let size = points.shape(&self.header).1 as usize;
                let at = |index: usize| index.saturating_mul(size).saturating_add(all.start).min(all.end);
                at(range.start)..at(range.end.max(range.start))
            };
            push(match Groth16Points::ALL.into_iter().find(|points| points.section().id == section.id) {
                Some(points @ (Groth16Points::A | Groth16Points::B1 | Groth16Points::B2)) => {
                    of(points, &wires)
                }
                Some(points @ Groth16Points::C) => of(points, &private),
                Some(points @ Groth16Points::H) => of(points, &domain),
                // The count of records; zeros are records of matrix A that add nothing.
                None if section.id == COEFFICIENTS.id => all.start..(all.start + 4).min(all.end),
                Some(Groth16Points::Ic) | None => all.clone(),
            });
        }
        slice
    }

    fn points<G: Curve<Base: Coordinate>>(&self, points: Groth16Points) -> Points<'_, G> {
        Points::new(self.section(points))
    }
}

fn read_header<C: CircomCurve>(file: &BinFile) -> Result<Groth16Header<C>, CircomError> {
    let counts = CommonHeader::read(file)?;
    let (wires, public, domain_size) = (counts.wires, counts.public, counts.domain_size);
    let mut cursor = counts.check::<C>()?;
    let header = Groth16Header {
        wires,
        public,
        domain_size,
        alpha_1: take_point(&mut cursor, "alpha in G1")?,
        beta_1: take_point(&mut cursor, "beta in G1")?,
        beta_2: take_point(&mut cursor, "beta in G2")?,
        gamma_2: take_point(&mut cursor, "gamma in G2")?,
        delta_1: take_point(&mut cursor, "delta in G1")?,
        delta_2: take_point(&mut cursor, "delta in G2")?,
    };
    cursor.finish()?;
    Ok(header)
}

/// Writes a key, section by section in the order of the calls. The order of `snarkjs groth16 setup` is: coefficients, IC, H, C,
/// A, B1, B2, contributions.
#[derive(Debug)]
pub struct Groth16Writer<'a, C = G1>(BinWriter<'a>, PhantomData<C>);

impl<'a, C: CircomCurve> Groth16Writer<'a, C> {
    /// Begins a file with the protocol and the header.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn create(target: impl Into<Target<'a>>, header: &Groth16Header<C>) -> Result<Self, CircomError> {
        let mut file = BinWriter::create(target, FileKind::Zkey, 1, 10)?;
        ZkeyProtocol::Groth16.write(&mut file)?;
        file.section(HEADER.id, |out| {
            out.modulus::<C::BasePrime>()?;
            out.modulus::<C::ScalarPrime>()?;
            out.u32(header.wires)?;
            out.u32(header.public)?;
            out.u32(header.domain_size)?;
            out.points(&[header.alpha_1, header.beta_1])?;
            out.points(&[header.beta_2, header.gamma_2])?;
            out.points(&[header.delta_1])?;
            out.points(&[header.delta_2])
        })?;
        Ok(Self(file, PhantomData))
    }

    /// Writes the matrices: `count` coefficients, by ascending rows, which provers need for speed. The order of snarkjs is: for
    /// each row A's and then B's in the r1cs's order, then the rows of the public signals.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    ///
    /// # Panics
    /// If the number of coefficients is not `count`.
    pub fn coefficients(
        &mut self,
        count: u32,
        coefficients: impl IntoIterator<Item = Coefficient<C::ScalarPrime>>,
    ) -> Result<(), CircomError> {
        self.0.section(COEFFICIENTS.id, |out| {
            out.u32(count)?;
            let mut left = count;
            for coefficient in coefficients {
                left = left.wrapping_sub(1);
                out.u32(u32::from(coefficient.matrix == Matrix::B))?;
                out.u32(coefficient.row)?;
                out.u32(coefficient.wire)?;
                out.limbs(&coefficient.file_limbs())?;
            }
            assert!(left == 0, "as many coefficients as announced");
            Ok(())
        })
    }

    /// Writes one section of points by [`SectionWriter::points`], as a whole or in parts.
    ///
    /// # Errors
    /// [`CircomError::Io`], and the errors of `write`.
    pub fn points<E: From<CircomError>>(
        &mut self,
        points: Groth16Points,
        write: impl FnOnce(&mut SectionWriter<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.0.section(points.section().id, write)
    }

    /// Writes one section of points as another key has it.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn copy(&mut self, key: &Groth16Zkey<C>, points: Groth16Points) -> Result<(), CircomError> {
        self.points(points, |out| out.bytes(key.section(points).bytes()))
    }

    /// Writes the matrices as another key has them.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn copy_coefficients(&mut self, key: &Groth16Zkey<C>) -> Result<(), CircomError> {
        self.0.section(COEFFICIENTS.id, |out| out.bytes(key.coefficients_section().bytes()))
    }

    /// Writes the circuit's hash and `count` contributions, encoded as [`Groth16Zkey::contributions`] returns them.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn contributions(&mut self, hash: &[u8; 64], count: u32, encoded: &[u8]) -> Result<(), CircomError> {
        self.0.section(CONTRIBUTIONS.id, |out| {
            out.bytes(hash)?;
            out.u32(count)?;
            out.bytes(encoded)
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
