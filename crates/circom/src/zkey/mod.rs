//! `.zkey`: proving keys. Section 1 names the protocol, on which the other sections depend.

mod coefficients;
mod contributions;
mod fflonk;
mod gates;
mod groth16;
mod plonk;

pub use coefficients::{Coefficient, Coefficients, Matrix};
pub use contributions::{ZkeyContribution, ZkeyContributions};
pub(crate) use contributions::{write_montgomery, write_uncompressed};
pub use fflonk::{FflonkHeader, FflonkWriter, FflonkZkey};
pub(crate) use fflonk::{ROOTS as FFLONK_ROOTS, roots_of_unity as fflonk_roots};
pub use gates::{
    Addition, Column, GateCounts, GateHeader, GateSections, GateWriter, GateZkey, Polynomial, Selector,
};
pub use groth16::{Groth16Header, Groth16Points, Groth16Writer, Groth16Zkey};
pub use plonk::{PlonkHeader, PlonkWriter, PlonkZkey};

use crate::{
    binfile::{BinFile, Cursor, Section},
    curve::CircomCurve,
    decode::{PointCheck, Points},
    error::{CircomError, SectionName},
    file_kind::FileKind,
    modulus::{FieldOf, FileModulus},
    writer::BinWriter,
};
use proofmill_cpu::{Level, Portable};
use proofmill_curve::{Affine, Curve};
use std::{fmt, path::Path};

const PROTOCOL: SectionName = SectionName { id: 1, content: "protocol" };
const HEADER: SectionName = SectionName { id: 2, content: "header" };

/// Two-adicity of the scalar field: no domain is larger.
const LARGEST_DOMAIN: u32 = 1 << 28;

/// The proof system of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ZkeyProtocol {
    Groth16,
    Plonk,
    Fflonk,
    Unknown(u32),
}

impl ZkeyProtocol {
    pub(crate) fn read(file: &BinFile) -> Result<Self, CircomError> {
        let mut cursor = file.section(PROTOCOL)?.cursor();
        let number = cursor.u32("protocol number")?;
        cursor.finish()?;
        Ok(match number {
            1 => Self::Groth16,
            2 => Self::Plonk,
            10 => Self::Fflonk,
            _ => Self::Unknown(number),
        })
    }

    /// Writes the section with the protocol's number.
    fn write(self, file: &mut BinWriter<'_>) -> Result<(), CircomError> {
        let number = match self {
            Self::Groth16 => 1,
            Self::Plonk => 2,
            Self::Fflonk => 10,
            Self::Unknown(number) => number,
        };
        file.section(PROTOCOL.id, |out| out.u32(number))
    }

    fn expect(self, file: &BinFile, expected: Self) -> Result<(), CircomError> {
        if self == expected {
            return Ok(());
        }
        let expected = match expected {
            Self::Fflonk => "fflonk",
            Self::Plonk => "plonk",
            _ => "groth16",
        };
        Err(CircomError::Protocol { file: file.name().clone(), expected, found: self.to_string() })
    }
}

impl fmt::Display for ZkeyProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Groth16 => f.write_str("groth16"),
            Self::Plonk => f.write_str("plonk"),
            Self::Fflonk => f.write_str("fflonk"),
            Self::Unknown(number) => write!(f, "number {number}"),
        }
    }
}

/// A proving key of any supported protocol.
#[derive(Debug)]
pub enum Zkey {
    /// Groth16.
    Groth16(Groth16Zkey),
    /// PLONK.
    Plonk(PlonkZkey),
    /// fflonk.
    Fflonk(FflonkZkey),
}

impl Zkey {
    /// Opens a key and checks its header and the lengths of its sections.
    ///
    /// # Errors
    /// [`CircomError`] for anything that is not a key of Groth16, PLONK or fflonk over BN254.
    pub fn open(path: &Path) -> Result<Self, CircomError> {
        Self::read(BinFile::open(path)?)
    }

    /// [`Self::open`] of an open container.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(file: BinFile) -> Result<Self, CircomError> {
        file.expect_kind(FileKind::Zkey)?;
        match ZkeyProtocol::read(&file)? {
            ZkeyProtocol::Groth16 => Groth16Zkey::read(file).map(Self::Groth16),
            ZkeyProtocol::Plonk => PlonkZkey::read(file).map(Self::Plonk),
            ZkeyProtocol::Fflonk => FflonkZkey::read(file).map(Self::Fflonk),
            other @ ZkeyProtocol::Unknown(_) => {
                let (expected, found) = ("groth16, plonk or fflonk", other.to_string());
                Err(CircomError::Protocol { file: file.name().clone(), expected, found })
            }
        }
    }
}

/// The common beginning of the headers of all protocols.
pub(crate) struct CommonHeader<'a> {
    pub(crate) base: FileModulus<'a>,
    pub(crate) scalars: FileModulus<'a>,
    pub(crate) wires: u32,
    pub(crate) public: u32,
    pub(crate) domain_size: u32,
    cursor: Cursor<'a>,
}

impl<'a> CommonHeader<'a> {
    /// Reads the moduli, which may be any curve's, and the counts.
    pub(crate) fn read(file: &'a BinFile) -> Result<Self, CircomError> {
        let mut cursor = file.section(HEADER)?.cursor();
        Ok(Self {
            base: FileModulus::read(&mut cursor, FieldOf::Coordinates)?,
            scalars: FileModulus::read(&mut cursor, FieldOf::Scalars)?,
            wires: cursor.u32("count of wires")?,
            public: cursor.u32("count of public signals")?,
            domain_size: cursor.u32("domain size")?,
            cursor,
        })
    }

    /// Checks curve and counts; returns a cursor at the rest of the header.
    fn check<C: CircomCurve>(self) -> Result<Cursor<'a>, CircomError> {
        self.base.expect::<C::BasePrime>()?;
        self.scalars.expect::<C::ScalarPrime>()?;
        let Self { wires, public, domain_size, cursor, .. } = self;
        if public >= wires {
            return Err(cursor.malformed(format!("{public} public signals of {wires} wires")));
        }
        if !domain_size.is_power_of_two() || domain_size > LARGEST_DOMAIN {
            let problem = format!("expected a domain size of 2^0 to 2^28, found {domain_size}");
            return Err(cursor.malformed(problem));
        }
        Ok(cursor)
    }
}

/// Reads a point, which is in its subgroup.
pub(crate) fn take_point<C: Curve<Base: crate::Coordinate>>(
    cursor: &mut Cursor<'_>,
    what: &str,
) -> Result<Affine<C>, CircomError> {
    let bytes = cursor.take(Points::<C>::BYTES, what)?;
    read_point(bytes, what)
}

/// Reads the only point of a section.
pub(crate) fn read_point<C: Curve<Base: crate::Coordinate>>(
    bytes: Section<'_>,
    what: &str,
) -> Result<Affine<C>, CircomError> {
    let points = Points::<C>::new(bytes).decode(Level::Portable(Portable), PointCheck::InSubgroup)?;
    points.first().copied().ok_or_else(|| bytes.malformed(0, format!("expected {what}")))
}
