//! Section 10 of a Groth16 key: the circuit's hash and the contributions to the ceremony's second phase.
//!
//! 64 bytes of hash, a count, then each contribution: delta after it, the points of its proof of knowledge (two in G1, one in
//! G2), 64 bytes of transcript, a type (0 a participant's, 1 a beacon's), and the length of its parameters. A parameter is a byte
//! of number and its value; the numbers ascend: 1 the name (a byte of length, UTF-8), 2 the logarithm of the beacon's iterations
//! (a byte), 3 the beacon's seed (a byte of length, bytes). The format is that of snarkjs's `zkey_utils.js`.

use super::{g1, g2};
use crate::{
    binfile::{BinFile, Cursor, Section},
    error::{CircomError, SectionName},
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

/// The source of a beacon's secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beacon {
    /// The seed: up to 255 bytes.
    pub seed: Vec<u8>,
    /// SHA-256 was applied 2 to this power times.
    pub log_iterations: u8,
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
        let circuit_hash = hash(&mut cursor, "the circuit's hash")?;
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
        let transcript = hash(cursor, "a contribution's transcript")?;
        let at = cursor.position();
        let kind = cursor.u32("a contribution's type")?;
        let length = cursor.u32("length of a contribution's parameters")?;
        let parameters = Parameters::read(cursor.take(length as usize, "a contribution's parameters")?)?;
        let Parameters { name, log_iterations, seed } = parameters;
        let beacon = match (kind, seed, log_iterations) {
            (0, None, None) => None,
            (1, Some(seed), Some(log_iterations)) => Some(Beacon { seed, log_iterations }),
            (0 | 1, seed, log_iterations) => {
                let with = |present: bool| if present { "with" } else { "without" };
                let problem = format!(
                    "contribution of type {kind} {} a beacon's seed and {} its iterations",
                    with(seed.is_some()),
                    with(log_iterations.is_some())
                );
                return Err(cursor.malformed_at(at, problem));
            }
            _ => return Err(cursor.malformed_at(at, format!("contribution of type {kind}, expected 0 or 1"))),
        };
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
        let mut parameters = Vec::new();
        if let Some(name) = &self.name {
            parameters.push(1);
            write_counted(&mut parameters, name.as_bytes())?;
        }
        if let Some(beacon) = &self.beacon {
            parameters.extend([2, beacon.log_iterations, 3]);
            write_counted(&mut parameters, &beacon.seed)?;
        }
        let Affine { x, y } = self.spx;
        let in_g1 = [self.delta_after, self.s, self.sx].into_iter().flat_map(|point| [point.x, point.y]);
        let coordinates = in_g1.chain([x.c0, x.c1, y.c0, y.c1]);
        let mut bytes: Vec<u8> = coordinates.flat_map(proofmill_field::bn254::Fq::to_montgomery_le).collect();
        bytes.extend(self.transcript);
        bytes.extend(u32::from(self.beacon.is_some()).to_le_bytes());
        bytes.extend((parameters.len() as u32).to_le_bytes());
        bytes.extend(parameters);
        Some(bytes)
    }
}

/// The optional fields of a contribution.
#[derive(Default)]
struct Parameters {
    name: Option<String>,
    log_iterations: Option<u8>,
    seed: Option<Vec<u8>>,
}

impl Parameters {
    fn read(section: Section<'_>) -> Result<Self, CircomError> {
        let mut cursor = section.cursor();
        let mut parameters = Self::default();
        let mut last = 0;
        while cursor.position() < section.len() {
            let at = cursor.position();
            let number = byte(&mut cursor, "number of a parameter")?;
            if number <= last {
                let problem = format!("parameter {number} after parameter {last}, expected ascending ones");
                return Err(cursor.malformed_at(at, problem));
            }
            last = number;
            match number {
                1 => {
                    let name = counted(&mut cursor, "a contribution's name")?;
                    parameters.name = Some(String::from_utf8_lossy(name).into_owned());
                }
                2 => parameters.log_iterations = Some(byte(&mut cursor, "a beacon's iterations")?),
                3 => parameters.seed = Some(counted(&mut cursor, "a beacon's seed")?.to_vec()),
                _ => return Err(cursor.malformed_at(at, format!("parameter {number}, expected 1 to 3"))),
            }
        }
        Ok(parameters)
    }
}

fn hash(cursor: &mut Cursor<'_>, what: &str) -> Result<[u8; 64], CircomError> {
    let taken = cursor.take(64, what)?;
    taken.bytes().first_chunk().copied().ok_or_else(|| taken.malformed(0, "expected 64 bytes"))
}

fn byte(cursor: &mut Cursor<'_>, what: &str) -> Result<u8, CircomError> {
    let taken = cursor.take(1, what)?;
    taken.bytes().first().copied().ok_or_else(|| taken.malformed(0, "expected a byte"))
}

/// Appends a byte of length and bytes.
fn write_counted(to: &mut Vec<u8>, bytes: &[u8]) -> Option<()> {
    to.push(u8::try_from(bytes.len()).ok()?);
    to.extend(bytes);
    Some(())
}

/// Bytes behind a byte of length.
fn counted<'a>(cursor: &mut Cursor<'a>, what: &str) -> Result<&'a [u8], CircomError> {
    let length = byte(cursor, what)?;
    Ok(cursor.take(usize::from(length), what)?.bytes())
}
