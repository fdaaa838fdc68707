//! Section 10 of a Groth16 key: the circuit's hash and the contributions to the ceremony's second phase.
//!
//! 64 bytes of hash, a count, then each contribution: delta after it, the points of its proof of knowledge (two in G1, one in
//! G2), 64 bytes of transcript, and its [type and parameters](crate::parameters). The format is that of snarkjs's `zkey_utils.js`.

use super::take_point;
use crate::{
    binfile::{BinFile, Cursor, Section},
    contributors::Contributors,
    curve::CircomCurve,
    decode::{Coordinate, Points},
    error::{CircomError, SectionName},
    parameters::{self, Beacon, bytes},
};
use blake2::{Blake2b512, Digest};
use proofmill_curve::{Affine, Curve, bn254::G1};
use std::convert::Infallible;

/// Bytes of a contribution's transcript.
const TRANSCRIPT: usize = 64;

pub(super) const CONTRIBUTIONS: SectionName = SectionName { id: 10, content: "contributions" };

/// The content of the section, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZkeyContributions<C: CircomCurve = G1> {
    /// The BLAKE2b-512 hash of the key as it was before the first contribution.
    pub circuit_hash: [u8; 64],
    /// The contributions in their order. Without any, anyone can forge proofs for the key.
    pub list: Vec<ZkeyContribution<C>>,
}

/// A contribution, which multiplied delta by a secret. Decoding does not check the proof of knowledge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZkeyContribution<C: CircomCurve = G1> {
    /// The participant's name, up to 255 bytes; bytes that are not UTF-8 are replaced, control characters are kept.
    pub name: Option<String>,
    /// The beacon's parameters if the secret came from a beacon, `None` for a participant's.
    pub beacon: Option<Beacon>,
    /// delta in G1 after the contribution.
    pub delta_after: Affine<C>,
    /// The base s of the proof of knowledge, chosen by the contributor.
    pub s: Affine<C>,
    /// The secret times s.
    pub sx: Affine<C>,
    /// The secret times the base in G2, the hash of the transcript to the curve.
    pub spx: Affine<C::G2>,
    /// The BLAKE2b-512 hash of everything before the contribution, with s and sx.
    pub transcript: [u8; 64],
}

impl<C: CircomCurve> ZkeyContributions<C> {
    /// The contributions of a key whose other sections are not looked at; `None` without the section.
    ///
    /// # Errors
    /// As [`Self::decode`], and [`CircomError::DuplicateSection`].
    pub fn of_file(file: &BinFile) -> Result<Option<Self>, CircomError> {
        file.optional_section(CONTRIBUTIONS)?.map(Self::decode).transpose()
    }

    /// The contributors in a section, which is read up to the first participant's contribution. Points are not looked at.
    ///
    /// # Errors
    /// [`CircomError::Malformed`].
    pub fn contributors(section: Section<'_>) -> Result<Contributors, CircomError> {
        let mut cursor = section.cursor();
        bytes::<64>(&mut cursor, "the circuit's hash")?;
        let count = cursor.u32("count of contributions")?;
        let points = 3 * Points::<C>::BYTES + Points::<C::G2>::BYTES;
        Contributors::of((0..count).map(|_| {
            cursor.take(points + TRANSCRIPT, "a contribution")?;
            Ok(parameters::read(&mut cursor)?.1)
        }))
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
        let list = (0..count).map(|_| ZkeyContribution::read(&mut cursor)).collect::<Result<_, _>>()?;
        cursor.finish()?;
        Ok(Self { circuit_hash, list })
    }
}

impl<C: CircomCurve> ZkeyContribution<C> {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, CircomError> {
        let delta_after = take_point(cursor, "delta after a contribution")?;
        let s = take_point(cursor, "a contribution's s")?;
        let sx = take_point(cursor, "a contribution's s x")?;
        let spx = take_point(cursor, "a contribution's s' x")?;
        let transcript = bytes(cursor, "a contribution's transcript")?;
        let (name, beacon) = parameters::read(cursor)?;
        Ok(Self { name, beacon, delta_after, s, sx, spx, transcript })
    }

    /// The bytes that later contributions hash: `delta_after`, `s`, `sx` and `spx` uncompressed (x, then y, each one big-endian
    /// number; in G2 the coefficient of u first) and the transcript.
    pub fn public(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        [&self.delta_after, &self.s, &self.sx]
            .into_iter()
            .for_each(|point| write_uncompressed(point, &mut bytes));
        write_uncompressed(&self.spx, &mut bytes);
        bytes.extend(self.transcript);
        bytes
    }

    /// The hash that snarkjs shows for the contribution, with which its author can recognise it: BLAKE2b-512 (RFC 7693) of
    /// [`Self::public`].
    pub fn hash(&self) -> [u8; 64] {
        Blake2b512::digest(self.public()).into()
    }

    /// The encoding in the section; `None` for a name or a seed of more than 255 bytes.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        [&self.delta_after, &self.s, &self.sx]
            .into_iter()
            .for_each(|point| write_montgomery(point, &mut bytes));
        write_montgomery(&self.spx, &mut bytes);
        bytes.extend(self.transcript);
        parameters::write(&mut bytes, self.name.as_deref(), self.beacon.as_ref())?;
        Some(bytes)
    }
}

/// Appends x and y, each one big-endian number, in G2 two, the coefficient of u first.
pub(crate) fn write_uncompressed<G: Curve<Base: Coordinate>>(point: &Affine<G>, to: &mut Vec<u8>) {
    point.x.write_be(to);
    point.y.write_be(to);
}

/// Appends the Montgomery limbs of x and y.
pub(crate) fn write_montgomery<G: Curve<Base: Coordinate>>(point: &Affine<G>, to: &mut Vec<u8>) {
    for coordinate in [&point.x, &point.y] {
        let appended = coordinate.try_each_limbs(&mut |limbs| {
            to.extend(limbs.iter().flat_map(|limb| limb.to_le_bytes()));
            Ok::<_, Infallible>(())
        });
        let Ok(()) = appended;
    }
}
