//! fflonk proving keys: the [common sections](super::gates), with the selectors in the order Ql, Qr, Qm, Qo, Qc. The permutation
//! polynomials are in sections 12, 13 and 14, the Lagrange polynomials in section 15, 9n + 18 powers of tau in section 16.
//! Section 17 has the 8n coefficients of C0, in which coefficient `8 i + j` is coefficient i of polynomial j: Ql, Qr, Qo, Qm,
//! Qc, S1, S2, S3.

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
use proofmill_field::{Algebra, bn254::Fr};

const C0: SectionName = SectionName { id: 17, content: "polynomial C0" };

/// Rows of the domain without gates, where the wires have random values.
const FREE_ROWS: u32 = 2;

/// snarkjs's names of the [roots of unity](roots_of_unity).
pub(crate) const ROOTS: [&str; 4] = ["w3", "w4", "w8", "wr"];

/// The roots of unity in keys for a domain of size `2^power`, at most 2^28: those of order 3, 4 and 8, and the cube root
/// of the domain's generator whose order is a power of two. That of order 3 is `5^(2 (r - 1) / 3)` (snarkjs:
/// `fflonk_setup.js`).
pub(crate) fn roots_of_unity(power: u32) -> [Fr; 4] {
    /// `2 (r - 1) / 3`.
    const EXPONENT: [u64; 4] =
        [0x2d41_4e62_a000_0000, 0x7022_9ada_fbd0_f5b6, 0xd035_83cf_0100_e593, 0x2042_def7_40cb_c01b];
    /// The inverse of 3 modulo 2^28.
    const THIRD: u64 = 0x0aaa_aaab;
    let root = |power| Fr::root_of_unity(power).unwrap_or_default();
    [Fr::from(5).pow_vartime(&EXPONENT), root(2), root(3), root(power).pow_vartime(&[THIRD])]
}

/// An open fflonk key.
pub type FflonkZkey = GateZkey<FflonkHeader>;

/// Writes an fflonk key.
pub type FflonkWriter<'a> = GateWriter<'a, FflonkHeader>;

/// The header of a key: counts and the commitment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FflonkHeader {
    /// The counts.
    pub counts: GateCounts,
    /// Coset of the second column.
    pub k1: Fr,
    /// Coset of the third column.
    pub k2: Fr,
    /// tau in G2.
    pub x_2: Affine<G2>,
    /// Commitment to C0.
    pub c0: Affine<G1>,
}

impl FflonkWriter<'_> {
    /// Writes the coefficients of C0 by [`SectionWriter::montgomery`].
    ///
    /// # Errors
    /// [`CircomError::Io`], and the errors of `write`.
    pub fn c0(
        &mut self,
        write: impl FnOnce(&mut SectionWriter<'_>) -> Result<(), CircomError>,
    ) -> Result<(), CircomError> {
        self.file.section(C0.id, write)
    }
}

impl GateHeader for FflonkHeader {
    const LAYOUT: Layout = Layout {
        protocol: ZkeyProtocol::Fflonk,
        sections: 17,
        protocol_first: true,
        selectors: [Selector::Ql, Selector::Qr, Selector::Qm, Selector::Qo, Selector::Qc],
        sigma: [
            SectionName { id: 12, content: "permutation polynomial S1" },
            SectionName { id: 13, content: "permutation polynomial S2" },
            SectionName { id: 14, content: "permutation polynomial S3" },
        ],
        lagrange: SectionName { id: 15, content: "lagrange polynomials" },
        ptau: SectionName { id: 16, content: "powers of tau" },
        c0: Some(C0),
        powers: [9, 18],
    };

    fn read(file: &BinFile) -> Result<Self, CircomError> {
        let (counts, mut cursor) = GateCounts::read(file, FREE_ROWS)?;
        let k1 = read_scalar(cursor.take(FR_BYTES, "k1")?, Form::Montgomery)?;
        let k2 = read_scalar(cursor.take(FR_BYTES, "k2")?, Form::Montgomery)?;
        for (name, expected) in ROOTS.into_iter().zip(roots_of_unity(counts.power())) {
            let root = cursor.take(FR_BYTES, name)?;
            if read_scalar(root, Form::Montgomery)? != expected {
                return Err(root.malformed(0, format!("{name} is not snarkjs's root of unity")));
            }
        }
        let x_2 = take_point::<G2>(&mut cursor, "tau in G2")?;
        let c0 = take_point::<G1>(&mut cursor, "commitment to C0")?;
        cursor.finish()?;
        Ok(Self { counts, k1, k2, x_2, c0 })
    }

    fn write(&self, out: &mut SectionWriter<'_>) -> Result<(), CircomError> {
        self.counts.write(out)?;
        out.montgomery(&[self.k1, self.k2])?;
        out.montgomery(&roots_of_unity(self.counts.power()))?;
        out.points(&[self.x_2])?;
        out.points(&[self.c0])
    }

    fn counts(&self) -> &GateCounts {
        &self.counts
    }
}
