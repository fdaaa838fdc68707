//! Section 10 of a Groth16 key: the circuit's hash and the contributions to the ceremony's second phase.
//!
//! 64 bytes of hash, a count, then each contribution: delta after it, the points of its proof of knowledge (two in G1, one in
//! G2), 64 bytes of transcript, and its [type and parameters](crate::parameters). The format is that of snarkjs's `zkey_utils.js`.

use super::{g1, g2};
use crate::{
    binfile::{BinFile, Cursor, Section},
    error::{CircomError, SectionName},
    parameters::{self, Beacon, bytes},
};
use blake2::{Blake2b512, Digest};
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};

pub(super) const CONTRIBUTIONS: SectionName = SectionName { id: 10, content: "contributions" };

/// The content of the section, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contributions {
    /// The BLAKE2b-512 hash of the key as it was before the first contribution.
    pub circuit_hash: [u8; 64],
    /// The contributions in their order. Without any, anyone can forge proofs for the key.
    pub list: Vec<Contribution>,
}

/// A contribution, which multiplied delta by a secret. Decoding does not check the proof of knowledge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    /// The participant's name, up to 255 bytes; bytes that are not UTF-8 are replaced, control characters are kept.
    pub name: Option<String>,
    /// The beacon's parameters if the secret came from a beacon, `None` for a participant's.
    pub beacon: Option<Beacon>,
    /// delta in G1 after the contribution.
    pub delta_after: Affine<G1>,
    /// The base s of the proof of knowledge, chosen by the contributor.
    pub s: Affine<G1>,
    /// The secret times s.
    pub sx: Affine<G1>,
    /// The secret times the base in G2, the hash of the transcript to the curve.
    pub spx: Affine<G2>,
    /// The BLAKE2b-512 hash of everything before the contribution, with s and sx.
    pub transcript: [u8; 64],
}

impl Contributions {
    /// The contributions of a key whose other sections are not looked at; `None` without the section.
    ///
    /// # Errors
    /// As [`Self::decode`], and [`CircomError::DuplicateSection`].
    pub fn of_file(file: &BinFile) -> Result<Option<Self>, CircomError> {
        file.optional_section(CONTRIBUTIONS)?.map(Self::decode).transpose()
    }

    /// Decodes the section. Every point is checked to be on the curve and in the subgroup. Takes some 0.2 ms a contribution;
    /// one is at least 392 bytes, so memory is bounded by the section's length.
    ///
    /// # Errors
    /// [`CircomError::Malformed`].
    pub fn decode(section: Section<'_>) -> Result<Self, CircomError> {
        let mut cursor = section.cursor();
        let circuit_hash = bytes(&mut cursor, "the circuit's hash")?;
        let count = cursor.u32("count of contributions")?;
        let list = (0..count).map(|_| Contribution::read(&mut cursor)).collect::<Result<_, _>>()?;
        cursor.finish()?;
        Ok(Self { circuit_hash, list })
    }
}

impl Contribution {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, CircomError> {
        let delta_after = g1(cursor, "delta after a contribution")?;
        let s = g1(cursor, "a contribution's s")?;
        let sx = g1(cursor, "a contribution's s x")?;
        let spx = g2(cursor, "a contribution's s' x")?;
        let transcript = bytes(cursor, "a contribution's transcript")?;
        let (name, beacon) = parameters::read(cursor)?;
        Ok(Self { name, beacon, delta_after, s, sx, spx, transcript })
    }

    /// What others hash of it: `delta_after`, `s`, `sx` and `spx` uncompressed (x, then y, each one big-endian number; in G2 the
    /// coefficient of u first) and the transcript.
    pub fn public(&self) -> Vec<u8> {
        let in_g1 = [self.delta_after, self.s, self.sx].map(|point| point.to_evm());
        [in_g1.as_flattened(), &self.spx.to_evm(), &self.transcript].concat()
    }

    /// The hash that snarkjs shows for the contribution, with which its author can recognise it: BLAKE2b-512 (RFC 7693) of
    /// [`Self::public`].
    pub fn hash(&self) -> [u8; 64] {
        Blake2b512::digest(self.public()).into()
    }

    /// The encoding in the section; `None` for a name or a seed of more than 255 bytes.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let Affine { x, y } = self.spx;
        let in_g1 = [self.delta_after, self.s, self.sx].into_iter().flat_map(|point| [point.x, point.y]);
        let coordinates = in_g1.chain([x.c0, x.c1, y.c0, y.c1]);
        let mut bytes: Vec<u8> = coordinates.flat_map(proofmill_field::bn254::Fq::to_montgomery_le).collect();
        bytes.extend(self.transcript);
        parameters::write(&mut bytes, self.name.as_deref(), self.beacon.as_ref())?;
        Some(bytes)
    }
}
