//! `.ptau`: powers of tau, the structured reference string from which proving keys are made.
//!
//! Sections: 1 the header; 2 tau^i in G1 for i below 2^(p+1) - 1; 3 tau^i in G2, 4 alpha tau^i and 5 beta tau^i in G1, for i below 2^p; 6
//! beta in G2; 7 the contributions. A file that is prepared for phase 2 also has 12, 13, 14 and 15: for each of sections 2 to 5 the
//! Lagrange polynomials at tau over the domains of size 2^0, 2^1, up to 2^p, one domain after the other. Section 12 goes up to 2^(p+1);
//! there the highest power is taken as zero, unless the file was cut from a larger one.
//!
//! The lengths of point sections are checked when they are requested, so that files reduced to the needs of one setup can be
//! read.

mod contributions;

pub use contributions::{FirstPowers, KnowledgeProof, PtauContribution};

use crate::{
    binfile::{BinFile, Section},
    contributors::Contributors,
    curve::CircomCurve,
    decode::{Coordinate, Points},
    error::{CircomError, SectionName},
    file_kind::FileKind,
    modulus::{FieldOf, FileModulus},
    writer::{BinWriter, SectionWriter},
    zkey::read_point,
};
use proofmill_curve::{Affine, Curve, bn254::G1};
use proofmill_files::Target;
use std::{marker::PhantomData, path::Path};

const HEADER: SectionName = SectionName { id: 1, content: "header" };
const CONTRIBUTIONS: SectionName = SectionName { id: 7, content: "contributions" };

/// The largest usable power: the two-adicity of the scalar field.
const LARGEST_POWER: u32 = 28;

/// The message for powers that are not prepared, which says what to do.
pub const UNPREPARED: &str =
    "the powers of tau are not prepared for phase 2: `proofmill powersoftau prepare phase2` does that";

/// Bytes before the first contribution in their section.
const COUNT: usize = 4;

/// The sections of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PtauPoints {
    /// Powers of tau in G1.
    TauG1,
    /// Powers of tau in G2.
    TauG2,
    /// alpha times powers of tau in G1.
    AlphaTauG1,
    /// beta times powers of tau in G1.
    BetaTauG1,
    /// beta in G2.
    BetaG2,
    /// Lagrange polynomials at tau in G1.
    LagrangeTauG1,
    /// Lagrange polynomials at tau in G2.
    LagrangeTauG2,
    /// alpha times Lagrange polynomials at tau in G1.
    LagrangeAlphaTauG1,
    /// beta times Lagrange polynomials at tau in G1.
    LagrangeBetaTauG1,
}

impl PtauPoints {
    /// The sections of powers, in the order of the file.
    pub const POWERS: [Self; 5] = [Self::TauG1, Self::TauG2, Self::AlphaTauG1, Self::BetaTauG1, Self::BetaG2];
    /// The sections of Lagrange polynomials.
    pub const PREPARED: [Self; 4] =
        [Self::LagrangeTauG1, Self::LagrangeTauG2, Self::LagrangeAlphaTauG1, Self::LagrangeBetaTauG1];

    /// The points in a file of this power that has all of them.
    pub const fn count(self, power: u32) -> usize {
        let n = 1 << power;
        match self {
            Self::TauG1 | Self::LagrangeTauG2 | Self::LagrangeAlphaTauG1 | Self::LagrangeBetaTauG1 => {
                2 * n - 1
            }
            Self::TauG2 | Self::AlphaTauG1 | Self::BetaTauG1 => n,
            Self::BetaG2 => 1,
            Self::LagrangeTauG1 => 4 * n - 1,
        }
    }

    /// The smallest power of a file that has this many of the points.
    pub fn power_with(self, count: usize) -> u32 {
        (1..usize::BITS - 3).find(|power| self.count(*power) >= count).unwrap_or(u32::MAX)
    }

    /// Bytes of a point.
    const fn size<C: CircomCurve>(self) -> usize {
        match self {
            Self::TauG2 | Self::BetaG2 | Self::LagrangeTauG2 => Points::<C::G2>::BYTES,
            _ => Points::<C>::BYTES,
        }
    }

    /// The section's number and content.
    pub const fn section(self) -> SectionName {
        let (id, content) = match self {
            Self::TauG1 => (2, "tau in G1"),
            Self::TauG2 => (3, "tau in G2"),
            Self::AlphaTauG1 => (4, "alpha tau in G1"),
            Self::BetaTauG1 => (5, "beta tau in G1"),
            Self::BetaG2 => (6, "beta in G2"),
            Self::LagrangeTauG1 => (12, "lagrange tau in G1"),
            Self::LagrangeTauG2 => (13, "lagrange tau in G2"),
            Self::LagrangeAlphaTauG1 => (14, "lagrange alpha tau in G1"),
            Self::LagrangeBetaTauG1 => (15, "lagrange beta tau in G1"),
        };
        SectionName { id, content }
    }
}

/// The header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtauHeader {
    /// The largest domain has size `2^power`.
    pub power: u32,
    /// The power of the ceremony; this file may be a part of its result.
    pub ceremony_power: u32,
}

/// An open file: the header is decoded, the rest is not checked.
#[derive(Debug)]
pub struct Ptau<C = G1> {
    file: BinFile,
    header: PtauHeader,
    curve: PhantomData<C>,
}

impl<C: CircomCurve> Ptau<C> {
    /// Opens a file.
    ///
    /// # Errors
    /// [`CircomError`] for anything that is not powers of tau over this curve.
    pub fn open(path: &Path) -> Result<Self, CircomError> {
        Self::read(BinFile::open(path)?)
    }

    /// [`Self::open`] of an open container.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(file: BinFile) -> Result<Self, CircomError> {
        file.expect_kind(FileKind::Ptau)?;
        let (modulus, header) = read_header(&file)?;
        modulus.expect::<C::BasePrime>()?;
        if header.power > LARGEST_POWER {
            let problem = format!("power {} is beyond {LARGEST_POWER}", header.power);
            return Err(file.section(HEADER)?.malformed(0, problem));
        }
        Ok(Self { file, header, curve: PhantomData })
    }

    /// The header.
    pub fn header(&self) -> &PtauHeader {
        &self.header
    }

    /// The container.
    pub fn file(&self) -> &BinFile {
        &self.file
    }

    /// Whether it is prepared for phase 2, which means that it has Lagrange polynomials.
    pub fn is_prepared(&self) -> bool {
        self.file.sections().iter().any(|entry| entry.id == PtauPoints::LagrangeTauG1.section().id)
    }

    /// The number of contributions that the file claims. Without any, its author may know tau.
    ///
    /// # Errors
    /// [`CircomError`] if the section is missing, duplicated, or too short.
    pub fn contributions(&self) -> Result<u32, CircomError> {
        contributions(&self.file)
    }

    /// The contributions, decoded. Every point is checked to be on its curve and in the subgroup; the proofs of knowledge are not. Memory is
    /// bounded by the section's length.
    ///
    /// # Errors
    /// [`CircomError`] if the section is missing, duplicated or malformed.
    pub fn decoded_contributions(&self) -> Result<Vec<PtauContribution<C>>, CircomError> {
        let mut cursor = self.file.section(CONTRIBUTIONS)?.cursor();
        let count = cursor.u32("count of contributions")?;
        let list = (0..count).map(|_| PtauContribution::read(&mut cursor)).collect::<Result<_, _>>()?;
        cursor.finish()?;
        Ok(list)
    }

    /// The contributions as they are in the file, without their count.
    ///
    /// # Errors
    /// [`CircomError`] if the section is missing, duplicated or too short.
    pub fn encoded_contributions(&self) -> Result<&[u8], CircomError> {
        let section = self.file.section(CONTRIBUTIONS)?;
        Ok(section.slice(COUNT..section.len())?.bytes())
    }

    /// Checks that the file has all powers: a power from 1 to 28, not above the ceremony's, and sections of their lengths.
    ///
    /// # Errors
    /// [`CircomError`].
    pub fn expect_powers(&self) -> Result<(), CircomError> {
        let PtauHeader { power, ceremony_power } = self.header;
        if power == 0 || !(power..=LARGEST_POWER).contains(&ceremony_power) {
            let problem = format!(
                "power {power} of a ceremony of power {ceremony_power}, expected 1 <= power <= {LARGEST_POWER}, and none above the ceremony's"
            );
            return Err(self.file.section(HEADER)?.malformed(0, problem));
        }
        PtauPoints::POWERS.into_iter().try_for_each(|points| self.expect_count(points))
    }

    /// [`Self::expect_powers`], and the same for the Lagrange polynomials if the file is prepared.
    ///
    /// # Errors
    /// [`CircomError`].
    pub fn expect_complete(&self) -> Result<(), CircomError> {
        self.expect_powers()?;
        let prepared = if self.is_prepared() { PtauPoints::PREPARED.as_slice() } else { &[] };
        prepared.iter().try_for_each(|points| self.expect_count(*points))
    }

    fn expect_count(&self, points: PtauPoints) -> Result<(), CircomError> {
        let count = points.count(self.header.power) as u64;
        self.file.section(points.section())?.expect_elements(count, points.size::<C>() as u64, "points")
    }

    /// The contributors to these powers, according to the list. A file without a readable list counts as one without contributions.
    pub fn contributors(&self) -> Contributors {
        let read = || -> Result<_, CircomError> {
            let mut cursor = self.file.section(CONTRIBUTIONS)?.cursor();
            let count = cursor.u32("count of contributions")?;
            Contributors::of((0..count).map(|_| PtauContribution::<C>::read_beacon(&mut cursor)))
        };
        read().unwrap_or(Contributors::Nobody)
    }

    /// Why someone knows tau, as far as the file shows it: `None` does not mean that nobody does.
    pub fn insecurity(&self) -> Option<&'static str> {
        match self.contributors() {
            Contributors::Nobody => Some("nobody contributed to these powers of tau"),
            Contributors::OnlyBeacons => {
                Some("only beacons contributed to these powers of tau, and their secrets are public")
            }
            Contributors::Participants => None,
        }
    }

    /// tau^i in G1, `2^(power + 1) - 1` in a full file.
    ///
    /// # Errors
    /// [`CircomError`] if the section is missing, duplicated, or not a whole number of points.
    pub fn tau_g1(&self) -> Result<Points<'_, C>, CircomError> {
        self.points(PtauPoints::TauG1)
    }

    /// tau^i in G2, `2^power` in a full file.
    ///
    /// # Errors
    /// As [`Self::tau_g1`].
    pub fn tau_g2(&self) -> Result<Points<'_, C::G2>, CircomError> {
        self.points(PtauPoints::TauG2)
    }

    /// alpha tau^i in G1, `2^power` in a full file.
    ///
    /// # Errors
    /// As [`Self::tau_g1`].
    pub fn alpha_tau_g1(&self) -> Result<Points<'_, C>, CircomError> {
        self.points(PtauPoints::AlphaTauG1)
    }

    /// beta tau^i in G1, `2^power` in a full file.
    ///
    /// # Errors
    /// As [`Self::tau_g1`].
    pub fn beta_tau_g1(&self) -> Result<Points<'_, C>, CircomError> {
        self.points(PtauPoints::BetaTauG1)
    }

    /// beta in G2, checked to be in the subgroup.
    ///
    /// # Errors
    /// As [`Self::tau_g1`], and for a bad point.
    pub fn beta_g2(&self) -> Result<Affine<C::G2>, CircomError> {
        let section = self.file.section(PtauPoints::BetaG2.section())?;
        section.expect_elements(1, Points::<C::G2>::BYTES as u64, "point")?;
        read_point(section, "beta in G2")
    }

    /// The Lagrange polynomials of the domain of size `2^log_size` at tau, in G1. `log_size` may be `power + 1`: then the
    /// highest power of tau is taken as zero, unless the file was cut from a larger one.
    ///
    /// # Errors
    /// [`CircomError`] if the file is not prepared or has no such domain.
    pub fn lagrange_tau_g1(&self, log_size: u32) -> Result<Points<'_, C>, CircomError> {
        self.domain(PtauPoints::LagrangeTauG1, log_size)
    }

    /// The Lagrange polynomials of the domain of size `2^log_size` at tau, in G2.
    ///
    /// # Errors
    /// As [`Self::lagrange_tau_g1`].
    pub fn lagrange_tau_g2(&self, log_size: u32) -> Result<Points<'_, C::G2>, CircomError> {
        self.domain(PtauPoints::LagrangeTauG2, log_size)
    }

    /// alpha times the Lagrange polynomials of the domain of size `2^log_size` at tau, in G1.
    ///
    /// # Errors
    /// As [`Self::lagrange_tau_g1`].
    pub fn lagrange_alpha_tau_g1(&self, log_size: u32) -> Result<Points<'_, C>, CircomError> {
        self.domain(PtauPoints::LagrangeAlphaTauG1, log_size)
    }

    /// beta times the Lagrange polynomials of the domain of size `2^log_size` at tau, in G1.
    ///
    /// # Errors
    /// As [`Self::lagrange_tau_g1`].
    pub fn lagrange_beta_tau_g1(&self, log_size: u32) -> Result<Points<'_, C>, CircomError> {
        self.domain(PtauPoints::LagrangeBetaTauG1, log_size)
    }

    /// The points of a section, whose curve is `C`.
    ///
    /// # Errors
    /// As [`Self::tau_g1`].
    pub fn points<G: Curve<Base: Coordinate>>(
        &self,
        points: PtauPoints,
    ) -> Result<Points<'_, G>, CircomError> {
        let section = self.file.section(points.section())?;
        let size = Points::<G>::BYTES;
        section.expect_elements((section.len() / size) as u64, size as u64, "points")?;
        Ok(Points::new(section))
    }

    pub(crate) fn domain<G: Curve<Base: Coordinate>>(
        &self,
        points: PtauPoints,
        log_size: u32,
    ) -> Result<Points<'_, G>, CircomError> {
        let all = self.points(points)?;
        match 1usize.checked_shl(log_size) {
            Some(size) if log_size <= LARGEST_POWER + 1 => all.slice(size - 1..2 * size - 1),
            _ => all.slice(0..usize::MAX),
        }
    }
}

/// Reads the modulus, which may be any curve's, and the powers.
pub(crate) fn read_header(file: &BinFile) -> Result<(FileModulus<'_>, PtauHeader), CircomError> {
    let mut cursor = file.section(HEADER)?.cursor();
    let modulus = FileModulus::read(&mut cursor, FieldOf::Coordinates)?;
    let header =
        PtauHeader { power: cursor.u32("power")?, ceremony_power: cursor.u32("power of the ceremony")? };
    cursor.finish()?;
    Ok((modulus, header))
}

/// The number of contributions that the file claims.
pub(crate) fn contributions(file: &BinFile) -> Result<u32, CircomError> {
    file.section(CONTRIBUTIONS)?.cursor().u32("count of contributions")
}

/// Writes a file, section by section in the order of the calls. snarkjs writes them in ascending order,
/// the contributions after [`PtauPoints::BetaG2`].
#[derive(Debug)]
pub struct PtauWriter<'a, C = G1>(BinWriter<'a>, PhantomData<C>);

impl<'a, C: CircomCurve> PtauWriter<'a, C> {
    /// Begins a file with the header, to be followed by the contributions and `sections` sections of points.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn create(
        target: impl Into<Target<'a>>,
        header: &PtauHeader,
        sections: u32,
    ) -> Result<Self, CircomError> {
        let mut file = BinWriter::create(target, FileKind::Ptau, 1, sections + 2)?;
        file.section(HEADER.id, |out| {
            out.modulus::<C::BasePrime>()?;
            out.u32(header.power)?;
            out.u32(header.ceremony_power)
        })?;
        Ok(Self(file, PhantomData))
    }

    /// Writes one section of points by [`SectionWriter::points`], as a whole or in parts.
    ///
    /// # Errors
    /// [`CircomError::Io`], and the errors of `write`.
    pub fn points<E: From<CircomError>>(
        &mut self,
        points: PtauPoints,
        write: impl FnOnce(&mut SectionWriter<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.0.section(points.section().id, write)
    }

    /// Writes an empty list of contributions.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn no_contributions(&mut self) -> Result<(), CircomError> {
        self.contributions(0, &[])
    }

    /// Writes `count` contributions, encoded as [`Ptau::encoded_contributions`] returns them.
    ///
    /// # Errors
    /// [`CircomError::Io`].
    pub fn contributions(&mut self, count: u32, encoded: &[u8]) -> Result<(), CircomError> {
        self.0.section(CONTRIBUTIONS.id, |out| {
            out.u32(count)?;
            out.bytes(encoded)
        })
    }

    /// Copies the points that a section of this power has from the beginning of another file's section.
    ///
    /// # Errors
    /// [`CircomError::Io`], and if the section is missing, duplicated or too short.
    pub fn copy(&mut self, powers: &Ptau<C>, points: PtauPoints, power: u32) -> Result<(), CircomError> {
        /// Bytes that are in memory at the same time.
        const PIECE: usize = 1 << 24;
        let section = powers.file.section(points.section())?;
        let section = section.slice(0..points.count(power) * points.size::<C>())?;
        self.points(points, |out| {
            (0..section.len()).step_by(PIECE).try_for_each(|start| {
                let piece: Section<'_> = section.part(start..section.len().min(start + PIECE));
                out.bytes(piece.bytes())?;
                piece.release();
                Ok(())
            })
        })
    }

    /// Reads a section again that has been written, `piece` points at a time.
    ///
    /// # Errors
    /// [`CircomError::Io`], and the errors of `each`.
    ///
    /// # Panics
    /// If the section has not been written.
    pub fn reread<G: Curve<Base: Coordinate>>(
        &mut self,
        points: PtauPoints,
        piece: usize,
        mut each: impl FnMut(&[Affine<G>]) -> Result<(), CircomError>,
    ) -> Result<(), CircomError> {
        self.0.reread(points.section().id, piece * Points::<G>::BYTES, |bytes| {
            // They were elements when they were written.
            let point = |bytes: &[u8]| {
                let (x, y) = bytes.split_at(G::Base::BYTES);
                Affine { x: G::Base::read(x).unwrap_or_default(), y: G::Base::read(y).unwrap_or_default() }
            };
            each(&bytes.chunks_exact(Points::<G>::BYTES).map(point).collect::<Vec<_>>())
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
