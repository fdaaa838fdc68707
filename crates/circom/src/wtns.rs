//! `.wtns`: the values of all wires of a circuit.
//!
//! Sections: 1 the header (modulus, count of wires); 2 the values, canonical. Wire 0 is the constant 1.

use crate::{
    binfile::BinFile,
    decode::{FR_BYTES, Form, ScalarPrime, Scalars},
    error::{CircomError, SectionName},
    file_kind::FileKind,
    modulus::{FieldOf, FileModulus},
    writer::BinWriter,
};
use proofmill_cpu::Level;
use proofmill_field::{Field, Fp};
use proofmill_files::Target;
use std::path::Path;

const HEADER: SectionName = SectionName { id: 1, content: "header" };
const VALUES: SectionName = SectionName { id: 2, content: "witness values" };

/// Reads a witness file: the values of all wires. The first is 1. Runs on the ambient rayon pool.
///
/// # Errors
/// [`CircomError`] for anything that is not a witness over this field.
pub fn read_witness<P: ScalarPrime>(path: &Path, level: Level) -> Result<Vec<Fp<P>>, CircomError> {
    decode_witness(&BinFile::open(path)?, level)
}

/// [`read_witness`] of an open container.
///
/// # Errors
/// As [`read_witness`].
pub fn decode_witness<P: ScalarPrime>(file: &BinFile, level: Level) -> Result<Vec<Fp<P>>, CircomError> {
    file.expect_kind(FileKind::Wtns)?;
    let (modulus, wires) = read_header(file)?;
    modulus.expect::<P>()?;
    let section = file.section(VALUES)?;
    section.expect_elements(u64::from(wires), FR_BYTES as u64, "values")?;
    let values = Scalars::<P>::new(section, Form::Canonical).decode(level)?;
    match values.first() {
        Some(one) if *one == Fp::ONE => Ok(values),
        Some(other) => Err(section.malformed(0, format!("expected 1 as the value of wire 0, found {other}"))),
        None => Err(section.malformed(0, "no values, not even that of the constant wire")),
    }
}

/// Reads the modulus, which may be any curve's, and the count of wires.
pub(crate) fn read_header(file: &BinFile) -> Result<(FileModulus<'_>, u32), CircomError> {
    let mut cursor = file.section(HEADER)?.cursor();
    let modulus = FileModulus::read(&mut cursor, FieldOf::Scalars)?;
    let wires = cursor.u32("count of wires")?;
    cursor.finish()?;
    Ok((modulus, wires))
}

/// Writes a witness file (version 2), as snarkjs does.
///
/// # Errors
/// [`CircomError::Io`].
///
/// # Panics
/// If there are 2^32 wires or more.
pub fn write_witness<'a, P: ScalarPrime>(
    target: impl Into<Target<'a>>,
    values: &[Fp<P>],
) -> Result<(), CircomError> {
    assert!(u32::try_from(values.len()).is_ok(), "fewer than 2^32 wires");
    let mut file = BinWriter::create(target, FileKind::Wtns, 2, 2)?;
    file.section(HEADER.id, |out| {
        out.modulus::<P>()?;
        out.u32(values.len() as u32)
    })?;
    file.section(VALUES.id, |out| out.canonical(values))?;
    file.finish()
}
