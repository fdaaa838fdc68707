//! Proofs as bytes.
//!
//! A header: the eight bytes `PMSTARK` and the version, 1; the name of the hash, padded to 16 bytes with zeros; the degree of the
//! extension and the logarithm of the number of rows, one byte each. Then all fields of [`Proof`] in their order: elements as eight
//! little-endian bytes, digests as 32, lists behind their length in four little-endian bytes.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{
    hash::StarkHash,
    proof::{OpenedRows, OpenedValues, OpeningProof, Proof, Round},
};
use proofmill_field::goldilocks::{Extension, Goldilocks};
use proofmill_hash::TreeHash;
use proofmill_merkle::Hash;

const MAGIC: &[u8; 8] = b"PMSTARK\x01";
const NAME: usize = 16;
const DIGEST: usize = 32;
const MOST_LOG_ROWS: u8 = 32;

/// Why bytes are no proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The file is none of this format and version.
    #[error("byte 0: expected a STARK proof of version 1")]
    Magic,
    /// The proof was made with another hash.
    #[error("byte 8: expected a proof with the hash {expected}, found {found}")]
    Hash {
        /// The verifier's.
        expected: &'static str,
        /// The name in the proof.
        found: String,
    },
    /// The proof has challenges in another extension.
    #[error("byte 24: expected an extension of degree {expected}, found {found}")]
    Degree {
        /// The verifier's.
        expected: usize,
        /// The degree in the proof.
        found: usize,
    },
    /// The trace would have more rows than there are roots of unity.
    #[error("byte {at}: expected a trace of at most 2^32 rows, found 2^{found}")]
    Rows {
        /// Where the logarithm is.
        at: usize,
        /// The logarithm in the proof.
        found: u8,
    },
    /// The bytes end early.
    #[error("byte {at}: expected {needed} more bytes, found {found}")]
    Truncated {
        /// Where they are missed.
        at: usize,
        /// What the next value needs.
        needed: u64,
        /// What is left.
        found: usize,
    },
    /// An integer is not below the modulus.
    #[error("byte {at}: expected an element below 2^64 - 2^32 + 1")]
    NotCanonical {
        /// Where the integer begins.
        at: usize,
    },
    /// More bytes follow the proof.
    #[error("byte {at}: expected the end, found {found} more bytes")]
    Trailing {
        /// Where the proof ends.
        at: usize,
        /// The number of bytes.
        found: usize,
    },
}

/// Reads values from bytes.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8], DecodeError> {
        let truncated = DecodeError::Truncated { at: self.at, needed: count, found: self.bytes.len() };
        let count = usize::try_from(count).map_err(|_| truncated.clone())?;
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(truncated)?;
        (self.bytes, self.at) = (rest, self.at + count);
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64)?);
        Ok(array)
    }

    fn byte(&mut self) -> Result<u8, DecodeError> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    fn element(&mut self) -> Result<Goldilocks, DecodeError> {
        let at = self.at;
        Goldilocks::from_bytes_le(self.array()?).map_err(|_| DecodeError::NotCanonical { at })
    }

    fn extension<const D: usize>(&mut self) -> Result<Extension<Goldilocks, D>, DecodeError> {
        let mut element = Extension([Goldilocks::default(); D]);
        for coefficient in &mut element.0 {
            *coefficient = self.element()?;
        }
        Ok(element)
    }

    fn digest<H: TreeHash>(&mut self) -> Result<H::Digest, DecodeError> {
        let at = self.at;
        H::from_bytes(&self.array::<DIGEST>()?).ok_or(DecodeError::NotCanonical { at })
    }

    /// A list of values of at least `size` bytes each: the list is not longer than the bytes that are left.
    fn list<T>(
        &mut self,
        size: usize,
        mut value: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let len = u32::from_le_bytes(self.array()?);
        let needed = u64::from(len) * size as u64;
        if needed > self.bytes.len() as u64 {
            return Err(DecodeError::Truncated { at: self.at, needed, found: self.bytes.len() });
        }
        (0..len).map(|_| value(self)).collect()
    }

    fn extensions<const D: usize>(&mut self) -> Result<Vec<Extension<Goldilocks, D>>, DecodeError> {
        self.list(D * Goldilocks::BYTES, Self::extension)
    }

    fn digests<H: TreeHash>(&mut self) -> Result<Vec<H::Digest>, DecodeError> {
        self.list(DIGEST, Self::digest::<H>)
    }
}

/// Appends values to bytes.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn element(&mut self, element: &Goldilocks) {
        self.0.extend(element.to_bytes_le());
    }

    fn extension<const D: usize>(&mut self, element: &Extension<Goldilocks, D>) {
        element.0.iter().for_each(|coefficient| self.element(coefficient));
    }

    fn list<T>(&mut self, values: &[T], mut value: impl FnMut(&mut Self, &T)) {
        // No list of a proof has 2^32 values: its number of rows, columns and queries are limited.
        self.0.extend((values.len() as u32).to_le_bytes());
        values.iter().for_each(|each| value(self, each));
    }

    fn extensions<const D: usize>(&mut self, elements: &[Extension<Goldilocks, D>]) {
        self.list(elements, Self::extension);
    }

    fn digests<H: TreeHash>(&mut self, digests: &[H::Digest]) {
        self.list(digests, |writer, digest| writer.0.extend(H::to_bytes(digest)));
    }
}

/// Reads the header: the name of the hash, padded with zeros; the degree of the extension; the logarithm of the number of rows.
fn header(reader: &mut Reader<'_>) -> Result<([u8; NAME], u8, u8), DecodeError> {
    if reader.take(MAGIC.len() as u64).ok() != Some(MAGIC) {
        return Err(DecodeError::Magic);
    }
    let (name, degree, at) = (reader.array()?, reader.byte()?, reader.at);
    let log_rows = reader.byte()?;
    if log_rows > MOST_LOG_ROWS {
        return Err(DecodeError::Rows { at, found: log_rows });
    }
    Ok((name, degree, log_rows))
}

/// What a proof says of itself. A verifier takes its own hash and extension, and knows how many rows it wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The hash of trees and transcript.
    pub hash: Hash,
    /// The degree of the extension.
    pub extension: u32,
    /// The base-2 logarithm of the number of rows of the trace: at most 32.
    pub log_rows: u32,
}

impl Header {
    /// Reads the header of a proof. The rest is not read.
    ///
    /// # Errors
    /// [`DecodeError`] if it is none.
    pub fn read(proof: &[u8]) -> Result<Self, DecodeError> {
        let (name, extension, log_rows) = header(&mut Reader { bytes: proof, at: 0 })?;
        let hash = Hash::ALL.into_iter().find(|hash| padded(hash.name()) == name);
        let unknown = || DecodeError::Hash { expected: "of a name that is known", found: shown(&name) };
        Ok(Self { hash: hash.ok_or_else(unknown)?, extension: extension.into(), log_rows: log_rows.into() })
    }
}

/// The name of a hash in the header.
fn padded(name: &str) -> [u8; NAME] {
    let mut bytes = [0; NAME];
    bytes.iter_mut().zip(name.bytes()).for_each(|(to, byte)| *to = byte);
    bytes
}

/// A name for people.
fn shown(name: &[u8; NAME]) -> String {
    String::from_utf8_lossy(name).trim_end_matches('\0').escape_debug().to_string()
}

impl<H: StarkHash, const D: usize> Proof<H, D> {
    /// The proof as bytes; `docs/stark.md` has the format.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer(MAGIC.to_vec());
        writer.0.extend(padded(H::NAME));
        writer.0.extend([D as u8, self.log_rows as u8]);
        writer.digests::<H>(&self.trace);
        writer.digests::<H>(&self.quotient);
        writer.element(&self.out_of_domain_work);
        let OpenedValues { trace, next, preprocessed, next_preprocessed, quotient } = &self.opened;
        for values in [trace, next, preprocessed, next_preprocessed] {
            writer.extensions(values);
        }
        writer.list(quotient, |writer, chunk| chunk.iter().for_each(|value| writer.extension(value)));
        writer.element(&self.opening.batching_work);
        writer.list(&self.opening.rounds, |writer, round| {
            writer.digests::<H>(&round.commitment);
            writer.element(&round.work);
            writer.extensions(&round.others);
            writer.digests::<H>(&round.siblings);
        });
        writer.extensions(&self.opening.final_polynomial);
        writer.element(&self.opening.query_work);
        writer.list(&self.opening.rows, |writer, rows| {
            writer.list(&rows.values, Writer::element);
            writer.digests::<H>(&rows.siblings);
        });
        writer.0
    }

    /// Reads a proof. Memory is a small multiple of the bytes.
    ///
    /// # Errors
    /// [`DecodeError`] says where the bytes are no proof with this hash and extension.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader { bytes, at: 0 };
        let (found, degree, log_rows) = header(&mut reader)?;
        if found != padded(H::NAME) {
            return Err(DecodeError::Hash { expected: H::NAME, found: shown(&found) });
        }
        let degree = usize::from(degree);
        if degree != D {
            return Err(DecodeError::Degree { expected: D, found: degree });
        }
        let proof = Self {
            log_rows: log_rows.into(),
            trace: reader.digests::<H>()?,
            quotient: reader.digests::<H>()?,
            out_of_domain_work: reader.element()?,
            opened: OpenedValues {
                trace: reader.extensions()?,
                next: reader.extensions()?,
                preprocessed: reader.extensions()?,
                next_preprocessed: reader.extensions()?,
                quotient: reader.list(D * D * Goldilocks::BYTES, |reader| {
                    let mut chunk = [Extension([Goldilocks::default(); D]); D];
                    for value in &mut chunk {
                        *value = reader.extension()?;
                    }
                    Ok(chunk)
                })?,
            },
            opening: OpeningProof {
                batching_work: reader.element()?,
                rounds: reader.list(3 * 4 + Goldilocks::BYTES, |reader| {
                    Ok(Round {
                        commitment: reader.digests::<H>()?,
                        work: reader.element()?,
                        others: reader.extensions()?,
                        siblings: reader.digests::<H>()?,
                    })
                })?,
                final_polynomial: reader.extensions()?,
                query_work: reader.element()?,
                rows: reader.list(2 * 4, |reader| {
                    Ok(OpenedRows {
                        values: reader.list(Goldilocks::BYTES, Reader::element)?,
                        siblings: reader.digests::<H>()?,
                    })
                })?,
            },
        };
        match reader.bytes.len() {
            0 => Ok(proof),
            found => Err(DecodeError::Trailing { at: reader.at, found }),
        }
    }
}
