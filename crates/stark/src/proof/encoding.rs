//! Proofs as bytes.
//!
//! A proof begins with a header: the eight bytes `PMSTARK` and the version, 3. The name of the hash follows, padded to 16 bytes with zeros.
//! Then come the degree of the extension and the base-2 logarithm of the number of rows, one byte each.
//!
//! All fields of [`Proof`] follow in their order. An element is eight little-endian bytes, a digest is 32 bytes. A list follows its length,
//! which is four little-endian bytes.
//!
//! Proofs of several tables begin with `PMTABLE`, and have a list of logarithms, one byte each, as their first field.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{
    proof::{OpenedRows, OpenedValues, OpeningProof, Proof, Round},
    tables::{TableValues, TablesProof},
};
use proofmill_field::goldilocks::{Extension, Goldilocks};
use proofmill_hash::{Digest, TreeHash};
use proofmill_merkle::Hash;
use proofmill_run::{Classified, ErrorKind, Subject};

const MAGIC: &[u8] = b"PMSTARK";
const MAGIC_OF_TABLES: &[u8] = b"PMTABLE";
const VERSION: u8 = 3;
const NAME: usize = 16;
const MOST_LOG_ROWS: u8 = 32;

/// Why bytes are no proof.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes do not begin as a proof of this format.
    #[error("byte 0: expected a STARK proof of {what}, version {VERSION}")]
    Magic {
        /// The statement of the proof: about a trace, or about several tables.
        what: &'static str,
    },
    /// The proof has another version. The transcript of versions before 3 did not have the AIR's constants.
    #[error(
        "byte 7: expected a STARK proof of version {VERSION}, found version {found}: make the proof again"
    )]
    Version {
        /// The version in the proof.
        found: u8,
    },
    /// The proof was made with another hash.
    #[error("byte 8: expected a proof with the hash {expected}, found {found}")]
    Hash {
        /// The name of the verifier's hash.
        expected: &'static str,
        /// The name in the proof.
        found: String,
    },
    /// The proof has challenges in another extension.
    #[error("byte 24: expected an extension of degree {expected}, found {found}")]
    Degree {
        /// The degree that the verifier expects.
        expected: usize,
        /// The degree in the proof.
        found: usize,
    },
    /// The trace would have more rows than there are roots of unity.
    #[error("byte {at}: expected a trace of at most 2^32 rows, found 2^{found}")]
    Rows {
        /// The index of the logarithm's byte.
        at: usize,
        /// The logarithm in the proof.
        found: u8,
    },
    /// The bytes end early.
    #[error("byte {at}: expected {needed} more bytes, found {found}")]
    Truncated {
        /// The index of the byte at which the next value begins.
        at: usize,
        /// The number of bytes that the next value or list needs.
        needed: u64,
        /// The number of bytes that are left.
        found: usize,
    },
    /// An integer is not below the modulus.
    #[error("byte {at}: expected an element below 2^64 - 2^32 + 1")]
    NotCanonical {
        /// The index of the byte at which the integer begins.
        at: usize,
    },
    /// More bytes follow the proof.
    #[error("byte {at}: expected the end, found {found} more bytes")]
    Trailing {
        /// The index of the byte at which the proof ends.
        at: usize,
        /// The number of bytes that follow.
        found: usize,
    },
}

impl Classified for DecodeError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Hash { .. } | Self::Degree { .. } => ErrorKind::Mismatch,
            Self::Magic { .. }
            | Self::Version { .. }
            | Self::Rows { .. }
            | Self::Truncated { .. }
            | Self::NotCanonical { .. }
            | Self::Trailing { .. } => ErrorKind::Malformed,
        }
    }

    fn subject(&self) -> Option<Subject> {
        Some(Subject::Proof)
    }
}

/// Reads values from bytes.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

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

    pub(crate) fn integer(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn byte(&mut self) -> Result<u8, DecodeError> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    pub(crate) fn element(&mut self) -> Result<Goldilocks, DecodeError> {
        let at = self.at;
        Goldilocks::from_bytes_le(self.array()?).map_err(|_| DecodeError::NotCanonical { at })
    }

    pub(crate) fn extension<const D: usize>(&mut self) -> Result<Extension<Goldilocks, D>, DecodeError> {
        let mut element = Extension([Goldilocks::default(); D]);
        for coefficient in &mut element.0 {
            *coefficient = self.element()?;
        }
        Ok(element)
    }

    fn digest(&mut self, hash: &dyn TreeHash) -> Result<Digest, DecodeError> {
        let at = self.at;
        hash.digest(&self.array()?).ok_or(DecodeError::NotCanonical { at })
    }

    /// A list of values of at least `size` bytes each: the list is not longer than the bytes that are left.
    pub(crate) fn list<T>(
        &mut self,
        size: usize,
        mut value: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let len = self.integer()?;
        // A length is believed if its bytes are there: memory is bounded by the proof's size.
        let needed = u64::from(len) * size as u64;
        if needed > self.bytes.len() as u64 {
            return Err(DecodeError::Truncated { at: self.at, needed, found: self.bytes.len() });
        }
        (0..len).map(|_| value(self)).collect()
    }

    pub(crate) fn elements(&mut self) -> Result<Vec<Goldilocks>, DecodeError> {
        self.list(Goldilocks::BYTES, Self::element)
    }

    pub(crate) fn extensions<const D: usize>(
        &mut self,
    ) -> Result<Vec<Extension<Goldilocks, D>>, DecodeError> {
        self.list(D * Goldilocks::BYTES, Self::extension)
    }

    pub(crate) fn digests(&mut self, hash: &dyn TreeHash) -> Result<Vec<Digest>, DecodeError> {
        self.list(Digest::BYTES, |reader| reader.digest(hash))
    }

    fn log_rows(&mut self) -> Result<u32, DecodeError> {
        let at = self.at;
        match self.byte()? {
            found @ ..=MOST_LOG_ROWS => Ok(found.into()),
            found => Err(DecodeError::Rows { at, found }),
        }
    }

    fn opened_values<const D: usize>(&mut self) -> Result<OpenedValues<D>, DecodeError> {
        Ok(OpenedValues {
            trace: self.extensions()?,
            next: self.extensions()?,
            preprocessed: self.extensions()?,
            next_preprocessed: self.extensions()?,
            quotient: self.list(D * D * Goldilocks::BYTES, |reader| {
                let mut chunk = [Extension([Goldilocks::default(); D]); D];
                for value in &mut chunk {
                    *value = reader.extension()?;
                }
                Ok(chunk)
            })?,
            beside_quotient: self.extensions()?,
            random: self.extensions()?,
        })
    }

    fn opening<const D: usize>(&mut self, hash: &dyn TreeHash) -> Result<OpeningProof<D>, DecodeError> {
        Ok(OpeningProof {
            batching_work: self.element()?,
            rounds: self.list(4 * 4 + Goldilocks::BYTES, |reader| {
                Ok(Round {
                    commitment: reader.digests(hash)?,
                    work: reader.element()?,
                    others: reader.extensions()?,
                    salts: reader.elements()?,
                    siblings: reader.digests(hash)?,
                })
            })?,
            final_polynomial: self.extensions()?,
            query_work: self.element()?,
            rows: self.list(2 * 4, |reader| {
                Ok(OpenedRows { values: reader.elements()?, siblings: reader.digests(hash)? })
            })?,
        })
    }

    /// Checks that no bytes are left.
    pub(crate) fn end(&self) -> Result<(), DecodeError> {
        match self.bytes.len() {
            0 => Ok(()),
            found => Err(DecodeError::Trailing { at: self.at, found }),
        }
    }
}

/// Appends values to bytes.
#[derive(Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn integer(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    pub(crate) fn element(&mut self, element: &Goldilocks) {
        self.0.extend(element.to_bytes_le());
    }

    pub(crate) fn extension<const D: usize>(&mut self, element: &Extension<Goldilocks, D>) {
        element.0.iter().for_each(|coefficient| self.element(coefficient));
    }

    pub(crate) fn list<T>(&mut self, values: &[T], mut value: impl FnMut(&mut Self, &T)) {
        // No list of a proof has 2^32 values: its number of rows, columns and queries are limited.
        self.integer(values.len() as u32);
        values.iter().for_each(|each| value(self, each));
    }

    pub(crate) fn extensions<const D: usize>(&mut self, elements: &[Extension<Goldilocks, D>]) {
        self.list(elements, Self::extension);
    }

    pub(crate) fn digests(&mut self, digests: &[Digest]) {
        self.list(digests, |writer, digest| writer.0.extend(digest.to_bytes()));
    }

    fn opened_values<const D: usize>(&mut self, opened: &OpenedValues<D>) {
        let OpenedValues { trace, next, preprocessed, next_preprocessed, quotient, beside_quotient, random } =
            opened;
        for values in [trace, next, preprocessed, next_preprocessed] {
            self.extensions(values);
        }
        self.list(quotient, |writer, chunk| chunk.iter().for_each(|value| writer.extension(value)));
        self.extensions(beside_quotient);
        self.extensions(random);
    }

    fn opening<const D: usize>(&mut self, opening: &OpeningProof<D>) {
        self.element(&opening.batching_work);
        self.list(&opening.rounds, |writer, round| {
            writer.digests(&round.commitment);
            writer.element(&round.work);
            writer.extensions(&round.others);
            writer.list(&round.salts, Self::element);
            writer.digests(&round.siblings);
        });
        self.extensions(&opening.final_polynomial);
        self.element(&opening.query_work);
        self.list(&opening.rows, |writer, rows| {
            writer.list(&rows.values, Writer::element);
            writer.digests(&rows.siblings);
        });
    }
}

/// Reads the beginning of a header. Gives the name of the hash, padded with zeros, and the degree of the extension.
fn header(
    reader: &mut Reader<'_>,
    magic: &[u8],
    what: &'static str,
) -> Result<([u8; NAME], u8), DecodeError> {
    if reader.take(magic.len() as u64).ok() != Some(magic) {
        return Err(DecodeError::Magic { what });
    }
    match reader.byte()? {
        VERSION => Ok((reader.array()?, reader.byte()?)),
        found => Err(DecodeError::Version { found }),
    }
}

/// Checks that a header is one of proofs with this hash and extension.
fn check_header<const D: usize>(
    hash: &dyn TreeHash,
    (found, degree): ([u8; NAME], u8),
) -> Result<(), DecodeError> {
    if found != padded(hash.name()) {
        return Err(DecodeError::Hash { expected: hash.name(), found: shown(&found) });
    }
    let found = usize::from(degree);
    if found == D { Ok(()) } else { Err(DecodeError::Degree { expected: D, found }) }
}

/// The header of a proof. A verifier takes its own hash and extension, and knows how many rows it wants.
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
    /// [`DecodeError`] if the bytes do not begin with the header of a proof.
    pub fn read(proof: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(proof);
        let (name, extension) = header(&mut reader, MAGIC, "a trace")?;
        let log_rows = reader.log_rows()?;
        let hash = Hash::ALL.into_iter().find(|hash| padded(hash.name()) == name);
        let unknown = || DecodeError::Hash { expected: "of a name that is known", found: shown(&name) };
        Ok(Self { hash: hash.ok_or_else(unknown)?, extension: extension.into(), log_rows })
    }
}

/// The name of a hash in the header.
fn padded(name: &str) -> [u8; NAME] {
    let mut bytes = [0; NAME];
    bytes.iter_mut().zip(name.bytes()).for_each(|(to, byte)| *to = byte);
    bytes
}

/// The name of a hash in a header, as text for people.
fn shown(name: &[u8; NAME]) -> String {
    String::from_utf8_lossy(name).trim_end_matches('\0').escape_debug().to_string()
}

impl<const D: usize> Proof<D> {
    /// The proof, made with this hash, as bytes; `docs/stark.md` has the format.
    pub fn to_bytes(&self, hash: &dyn TreeHash) -> Vec<u8> {
        let mut writer = Writer([MAGIC, &[VERSION]].concat());
        writer.0.extend(padded(hash.name()));
        writer.0.extend([D as u8, self.log_rows as u8]);
        writer.digests(&self.trace);
        writer.digests(&self.quotient);
        writer.digests(&self.random);
        writer.element(&self.out_of_domain_work);
        writer.opened_values(&self.opened);
        writer.opening(&self.opening);
        writer.0
    }

    /// Reads a proof. The memory that it takes is a small multiple of the bytes.
    ///
    /// # Errors
    /// [`DecodeError`] says where the bytes are no proof with this hash and extension.
    pub fn from_bytes(hash: &dyn TreeHash, bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        check_header::<D>(hash, header(&mut reader, MAGIC, "a trace")?)?;
        let proof = Self {
            log_rows: reader.log_rows()?,
            trace: reader.digests(hash)?,
            quotient: reader.digests(hash)?,
            random: reader.digests(hash)?,
            out_of_domain_work: reader.element()?,
            opened: reader.opened_values()?,
            opening: reader.opening(hash)?,
        };
        reader.end()?;
        Ok(proof)
    }
}

impl<const D: usize> TablesProof<D> {
    /// The proof, made with this hash, as bytes; `docs/stark.md` has the format.
    pub fn to_bytes(&self, hash: &dyn TreeHash) -> Vec<u8> {
        let mut writer = Writer([MAGIC_OF_TABLES, &[VERSION]].concat());
        writer.0.extend(padded(hash.name()));
        writer.0.push(D as u8);
        writer.list(&self.log_rows, |writer, log_rows| writer.0.push(*log_rows as u8));
        writer.digests(&self.traces);
        writer.element(&self.lookup_work);
        writer.digests(&self.lookups);
        writer.extensions(&self.totals);
        writer.digests(&self.quotients);
        writer.digests(&self.random);
        writer.element(&self.out_of_domain_work);
        writer.list(&self.opened, |writer, values| {
            writer.opened_values(&values.columns);
            writer.extensions(&values.lookups);
            writer.extensions(&values.next_lookups);
        });
        writer.opening(&self.opening);
        writer.0
    }

    /// Reads a proof. The memory that it takes is a small multiple of the bytes.
    ///
    /// # Errors
    /// [`DecodeError`] says where the bytes are no proof with this hash and extension.
    pub fn from_bytes(hash: &dyn TreeHash, bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        check_header::<D>(hash, header(&mut reader, MAGIC_OF_TABLES, "several tables")?)?;
        let proof = Self {
            log_rows: reader.list(1, Reader::log_rows)?,
            traces: reader.digests(hash)?,
            lookup_work: reader.element()?,
            lookups: reader.digests(hash)?,
            totals: reader.extensions()?,
            quotients: reader.digests(hash)?,
            random: reader.digests(hash)?,
            out_of_domain_work: reader.element()?,
            opened: reader.list(9 * 4, |reader| {
                Ok(TableValues {
                    columns: reader.opened_values()?,
                    lookups: reader.extensions()?,
                    next_lookups: reader.extensions()?,
                })
            })?,
            opening: reader.opening(hash)?,
        };
        reader.end()?;
        Ok(proof)
    }
}
