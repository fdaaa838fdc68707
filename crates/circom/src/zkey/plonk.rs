//! PLONK proving keys: the [common sections](super::gates). The permutation polynomials share section 12; the Lagrange
//! polynomials are in section 13, n + 6 powers of tau in section 14.

use super::{
    ZkeyProtocol,
    gates::{GateCounts, GateHeader, GateWriter, GateZkey, Layout, Selector},
    take_point,
};
use crate::{
    binfile::BinFile,
    decode::{FR_BYTES, Form, read_scalar},
    error::{CircomError, SectionName},
    writer::SectionWriter,
};
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::bn254::Fr;

const SIGMA: SectionName = SectionName { id: 12, content: "permutation polynomials" };

/// An open PLONK key.
pub type PlonkZkey = GateZkey<PlonkHeader>;

/// Writes a PLONK key.
pub type PlonkWriter<'a> = GateWriter<'a, PlonkHeader>;

/// The header of a key: counts and commitments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlonkHeader {
    /// The counts.
    pub counts: GateCounts,
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
}

impl GateHeader for PlonkHeader {
    const LAYOUT: Layout = Layout {
        protocol: ZkeyProtocol::Plonk,
        sections: 14,
        protocol_first: false,
        selectors: Selector::ALL,
        sigma: [SIGMA; 3],
        lagrange: SectionName { id: 13, content: "lagrange polynomials" },
        ptau: SectionName { id: 14, content: "powers of tau" },
        c0: None,
        powers: [1, 6],
    };

    fn read(file: &BinFile) -> Result<Self, CircomError> {
        let (counts, mut cursor) = GateCounts::read(file, 0)?;
        let header = Self {
            counts,
            k1: read_scalar(cursor.take(FR_BYTES, "k1")?, Form::Montgomery)?,
            k2: read_scalar(cursor.take(FR_BYTES, "k2")?, Form::Montgomery)?,
            selectors: [
                take_point::<G1>(&mut cursor, "commitment to Qm")?,
                take_point::<G1>(&mut cursor, "commitment to Ql")?,
                take_point::<G1>(&mut cursor, "commitment to Qr")?,
                take_point::<G1>(&mut cursor, "commitment to Qo")?,
                take_point::<G1>(&mut cursor, "commitment to Qc")?,
            ],
            sigma: [
                take_point::<G1>(&mut cursor, "commitment to S1")?,
                take_point::<G1>(&mut cursor, "commitment to S2")?,
                take_point::<G1>(&mut cursor, "commitment to S3")?,
            ],
            x_2: take_point::<G2>(&mut cursor, "tau in G2")?,
        };
        cursor.finish()?;
        Ok(header)
    }

    fn write(&self, out: &mut SectionWriter<'_>) -> Result<(), CircomError> {
        self.counts.write(out)?;
        out.montgomery(&[self.k1, self.k2])?;
        out.points(&self.selectors)?;
        out.points(&self.sigma)?;
        out.points(&[self.x_2])
    }

    fn counts(&self) -> &GateCounts {
        &self.counts
    }
}
