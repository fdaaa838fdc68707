//! STARKs over Goldilocks: proofs that a trace satisfies an AIR. They need no setup. With [`Parameters::blinded`] they are
//! zero-knowledge; by default they hide nothing.
//!
//! ```
//! use proofmill::{merkle::Rows, stark::{Air, Config, Constraints, Row}};
//!
//! /// `(a, b)` is followed by `(b, a + b)`; the public values are the first pair and the last `b`.
//! struct Fibonacci;
//!
//! impl Air for Fibonacci {
//!     fn columns(&self) -> usize {
//!         2
//!     }
//!     fn public_values(&self) -> usize {
//!         3
//!     }
//!     fn constrain(&self, row: Row) {
//!         let (a, b) = (row.column(0), row.column(1));
//!         (row.is_first() * (a - row.public_value(0))).must_vanish();
//!         (row.is_first() * (b - row.public_value(1))).must_vanish();
//!         (row.is_transition() * (row.next(0) - b)).must_vanish();
//!         (row.is_transition() * (row.next(1) - (a + b))).must_vanish();
//!         (row.is_last() * (b - row.public_value(2))).must_vanish();
//!     }
//! }
//!
//! # fn main() -> proofmill::Result<()> {
//! let rows = std::iter::successors(Some([0, 1]), |[a, b]| Some([*b, a + b]));
//! let trace: Vec<u64> = rows.take(64).flatten().collect();
//! let public_values = [0, 1, trace[127]];
//!
//! let constraints = Constraints::new(&Fibonacci)?;
//! let config = Config::default(); // 100 bits must be proven
//! let proof = constraints.prove(&config, &Rows::new(&trace, 2)?, &public_values)?;
//!
//! let proven = proof.verify(&constraints, &config, &public_values)?;
//! assert!(proven.bits >= 100.0);
//! assert_eq!(proven.rows, 64); // the prover's choice: compare it if it matters
//! # Ok(())
//! # }
//! ```

mod divided;
mod tables;
mod wrap;

pub use divided::Cosets;
pub use tables::{Tables, TablesProof};
pub use wrap::Wrap;

use crate::{
    Error, Result,
    error::Names,
    machine::current,
    merkle::{Hash, Rows},
};
use proofmill_field::goldilocks::{Goldilocks, MODULUS};
use proofmill_files::{FileName, read_file_at_most, write_bytes, write_text};
use proofmill_stark::{AirDocument, Header, ReadValues, StarkError, Trace};
pub use proofmill_stark::{
    Ask, Config, Parameters, Proven, Question, TooWeak,
    air::{Air, Bus, Expression, Preprocessed, Row},
    airs, digest_bits, security,
};
use serde_json::Value;
use std::path::Path;

/// The most bytes of a file of an AIR or a proof. Memory is a multiple of it.
const LONGEST: u64 = 1 << 28;

/// The most bytes of a file of public values.
const LONGEST_VALUES: u64 = 1 << 24;

/// Reads a JSON array of integers: numbers, or strings of decimal digits.
///
/// # Errors
/// [`Error::Io`], [`Error::Malformed`].
pub fn read_public_values(path: impl AsRef<Path>) -> Result<Vec<u64>> {
    let path = path.as_ref();
    let text = read_file_at_most(path, LONGEST_VALUES).map_err(|source| Error::io(path, source))?;
    let malformed = |problem: String| Error::malformed(Some(&FileName::new(path)), problem);
    let values: Vec<Value> = serde_json::from_slice(&text).map_err(|error| malformed(error.to_string()))?;
    let parse = |(index, value): (usize, &Value)| {
        let integer = match value {
            Value::String(digits) => digits.parse().ok(),
            value => value.as_u64(),
        };
        integer.ok_or_else(|| {
            malformed(format!("public value {index}: expected an integer below 2^64 - 2^32 + 1"))
        })
    };
    values.iter().enumerate().map(parse).collect()
}

/// The constraints of an AIR, captured for any number of proofs and verifications.
#[derive(Debug)]
pub struct Constraints {
    constraints: proofmill_stark::Constraints,
    preprocessed: Option<Preprocessed>,
    name: Option<FileName>,
}

impl Constraints {
    /// Captures an AIR.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it reads what it does not have, if it has no columns, a periodic column whose length is not a power
    /// of two, or lookups, which are for [`Tables`].
    pub fn new(air: &(impl Air + ?Sized)) -> Result<Self> {
        let constraints = proofmill_stark::Constraints::new(air)
            .and_then(|constraints| constraints.check_alone().map(|()| constraints))
            .map_err(|error| Names::default().of(error))?;
        Ok(Self { constraints, preprocessed: air.preprocessed(), name: None })
    }

    /// Reads an AIR's JSON file.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Malformed`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = read_file_at_most(path, LONGEST).map_err(|error| Error::io(path, error))?;
        Self::read(&text, Some(FileName::new(path)))
    }

    /// Parses an AIR's JSON.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        Self::read(text.as_ref(), None)
    }

    fn read(text: &[u8], name: Option<FileName>) -> Result<Self> {
        let read = || {
            let document = AirDocument::parse(text)?;
            Ok((document.constraints()?, document.preprocessed()?))
        };
        let read: std::result::Result<_, proofmill_stark::DocumentError> = read();
        let (constraints, preprocessed) =
            read.map_err(|error| Error::malformed(name.as_ref(), error.to_string()))?;
        Ok(Self { constraints, preprocessed, name })
    }

    /// The text of an AIR's JSON file; `docs/stark.md` has the format.
    pub fn to_json(&self) -> String {
        AirDocument::new(&self.constraints, self.preprocessed.as_ref()).text()
    }

    /// Writes a JSON file, completely or not at all.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_text(path.as_ref(), &self.to_json())?)
    }

    /// The number of columns of the trace.
    pub fn columns(&self) -> usize {
        self.constraints.columns()
    }

    /// The number of public values.
    pub fn public_values(&self) -> usize {
        self.constraints.public_values()
    }

    /// The number of constraints.
    pub fn len(&self) -> usize {
        self.constraints.len()
    }

    /// Whether nothing is constrained.
    pub fn is_empty(&self) -> bool {
        self.constraints.is_empty()
    }

    /// The shape on which security depends, for a trace of this many rows, rounded up to a power of two.
    pub fn shape(&self, rows: u64) -> security::Shape {
        self.constraints.shape(rows.max(1).next_power_of_two().ilog2())
    }

    /// Proves that a trace satisfies the constraints with these public values. The proof is verified before it is returned.
    ///
    /// Runs on all threads. Besides the trace, if that is not a file, memory is that of the extended trace, which is the trace times the
    /// blowup factor; with [`Memory::Balanced`](crate::Memory::Balanced), one and a quarter times the trace; with [`Memory::Low`](crate::Memory::Low), a quarter of the trace, and
    /// temporary files that are as large as the extended trace. All have trees and a few elements for each row of the extension, too.
    ///
    /// # Errors
    /// [`Error::Unsatisfied`] names a constraint and the first row in which it does not hold; [`Error::Mismatch`] if the shape of the
    /// trace or the number of public values is not the AIR's, or if the proof would prove less than the configuration demands
    /// ([`TooWeak`]), [`Error::Malformed`] for a word that is not below
    /// 2^64 - 2^32 + 1 or parameters out of their range, [`Error::Io`] for temporary files.
    pub fn prove(&self, config: &Config, trace: &Rows<'_>, public_values: &[u64]) -> Result<Proof> {
        self.prove_trace(config, trace, public_values, |len, read| Trace::Parts { len, read })
    }

    fn prove_trace(
        &self,
        config: &Config,
        rows: &Rows<'_>,
        public_values: &[u64],
        trace: impl for<'t> FnOnce(usize, &'t ReadValues<'t>) -> Trace<'t>,
    ) -> Result<Proof> {
        let (settings, public_values) = (current(), elements(public_values)?);
        let (run, preprocessed) = (settings.run(), self.preprocessed.as_ref());
        let bytes = self.with_trace(rows, |len, read| {
            config.prove(run, &self.constraints, preprocessed, trace(len, read), &public_values)
        });
        Proof::from_bytes(bytes?)
    }

    /// Calls `body` with the number of values of a trace and what reads them.
    fn with_trace<T>(
        &self,
        rows: &Rows<'_>,
        body: impl FnOnce(usize, &ReadValues<'_>) -> std::result::Result<T, StarkError>,
    ) -> Result<T> {
        let names = Names { circuit: self.name.as_ref(), witness: rows.name(), ..Names::default() };
        if rows.columns() != self.columns() {
            let (expected, found) = (self.columns(), rows.columns());
            return Err(Names::mismatch(
                names.witness,
                format!("expected {expected} columns, found {found}"),
            ));
        }
        let read = |first: usize, to: &mut [Goldilocks]| rows.read(first, to);
        body(rows.rows() * rows.columns(), &read).map_err(|error| of_trace(&names, error))
    }
}

/// The error of proving a trace. That of reading it names the file already.
fn of_trace(names: &Names<'_>, error: StarkError) -> Error {
    match error {
        StarkError::Trace(source) => Error::merkle(names.witness, source),
        error => names.of(error),
    }
}

fn elements(words: &[u64]) -> Result<Vec<Goldilocks>> {
    if let Some(index) = words.iter().position(|word| *word >= MODULUS) {
        let problem = "expected an integer below 2^64 - 2^32 + 1";
        return Err(Error::malformed(
            None,
            format!("public value {index}: {problem}, found {}", words[index]),
        ));
    }
    Ok(words.iter().map(|word| Goldilocks::new(*word)).collect())
}

/// A proof.
#[derive(Clone, Debug)]
pub struct Proof {
    bytes: Vec<u8>,
    header: Header,
    name: Option<FileName>,
}

impl Proof {
    /// Reads a proof's file.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for any other file. All but the beginning is read by [`verify`](Self::verify).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = read_file_at_most(path, LONGEST).map_err(|error| Error::io(path, error))?;
        Self::read(bytes, Some(FileName::new(path)))
    }

    /// The proof in the bytes of a file.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::read(bytes, None)
    }

    fn read(bytes: Vec<u8>, name: Option<FileName>) -> Result<Self> {
        let header = Header::read(&bytes);
        let header = header.map_err(|error| Names { proof: name.as_ref(), ..Names::default() }.of(error))?;
        Ok(Self { bytes, header, name })
    }

    /// The bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes a file, completely or not at all.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_bytes(path.as_ref(), &self.bytes)?)
    }

    /// The number of rows of the trace, which the prover chose.
    pub fn rows(&self) -> u64 {
        1 << self.header.log_rows
    }

    /// The hash that the proof was made with, as it says; a verifier's [`Config`] has its own.
    pub fn hash(&self) -> Hash {
        self.header.hash
    }

    /// The degree of the extension, as the proof says.
    pub fn extension(&self) -> u32 {
        self.header.extension
    }

    /// Verifies that the prover knows a trace which satisfies the constraints with these public values. Constraints, configuration and
    /// public values are the verifier's own; the number of rows is the prover's. It is returned with the bits that are proven for so many
    /// rows, which are no fewer than [`Config::bits`].
    ///
    /// # Errors
    /// [`Error::Rejected`] for a proof that proves nothing, or less than the configuration demands; [`Error::Malformed`] for one that is not well-formed, [`Error::Mismatch`] for
    /// one with another hash or extension, and for another number of public values than the AIR's.
    pub fn verify(
        &self,
        constraints: &Constraints,
        config: &Config,
        public_values: &[u64],
    ) -> Result<Proven<u64>> {
        let Constraints { constraints, preprocessed, .. } = constraints;
        let public_values = elements(public_values)?;
        config
            .verify(current().level, constraints, preprocessed.as_ref(), &public_values, &self.bytes)
            .map_err(|error| Names { proof: self.name.as_ref(), ..Names::default() }.of(error))
    }
}
