//! Several tables in one proof.

use super::{Air, Config, LONGEST, Proven, elements, security};
use crate::{Error, Result, error::Names, machine::current, merkle::Rows};
use proofmill_field::goldilocks::Goldilocks;
use proofmill_files::{FileName, read_file_at_most, write_bytes};
use proofmill_stark::{Constraints, Trace, air::Preprocessed};
use std::path::Path;

/// The AIRs of several tables, captured for any number of proofs and verifications. Their rows can look messages up that rows of other
/// tables [offer](super::Bus).
#[derive(Debug)]
pub struct Tables {
    tables: proofmill_stark::Tables,
    preprocessed: Vec<Option<Preprocessed>>,
}

impl Tables {
    /// Captures AIRs.
    ///
    /// # Errors
    /// [`Error::Malformed`] as [`Constraints::new`](super::Constraints::new), if there are none, or if messages of one bus have different
    /// numbers of values.
    pub fn new(airs: &[&dyn Air]) -> Result<Self> {
        let tables = airs.iter().map(|air| Constraints::new(*air)).collect::<std::result::Result<_, _>>();
        let tables = tables.and_then(proofmill_stark::Tables::new);
        let tables = tables.map_err(|error| Names::default().of(error))?;
        Ok(Self { tables, preprocessed: airs.iter().map(|air| air.preprocessed()).collect() })
    }

    /// The shape on which security depends, for tables of these numbers of rows, each rounded up to a power of two.
    ///
    /// # Errors
    /// [`Error::Mismatch`] unless there is one for each table.
    pub fn shape(&self, rows: &[u64]) -> Result<security::TablesShape> {
        let (expected, found) = (self.tables.tables().len(), rows.len());
        if expected != found {
            let problem = format!("expected numbers of rows of {expected} tables, found {found}");
            return Err(Names::mismatch(None, problem));
        }
        let log_rows = rows.iter().map(|rows| rows.max(&1).next_power_of_two().ilog2());
        Ok(self.tables.shape(&log_rows.collect::<Vec<_>>()))
    }

    /// Proves that traces, one for each table, satisfy the constraints with the public values of each, and that every message is offered as
    /// often as it is looked up. The proof is verified before it is returned.
    ///
    /// Runs on all threads. Memory is as for [`Constraints::prove`](super::Constraints::prove), for all traces, whatever the mode is with the
    /// extensions of columns of lookups and preprocessed columns.
    ///
    /// # Errors
    /// [`Error::Unsatisfied`] names a table with a constraint and the first row in which it does not hold, or a message that is not
    /// balanced; [`Error::Mismatch`] if traces and public values are not those of the tables, or if the proof would prove less than the
    /// configuration demands; [`Error::Malformed`] for a word that is not
    /// below 2^64 - 2^32 + 1 or parameters out of their range.
    pub fn prove(
        &self,
        config: &Config,
        traces: &[Rows<'_>],
        public_values: &[&[u64]],
    ) -> Result<TablesProof> {
        let names = Names::default();
        for (table, trace) in traces.iter().enumerate() {
            let Some(constraints) = self.tables.tables().get(table) else { continue };
            let (expected, found) = (constraints.columns(), trace.columns());
            if expected != found {
                let problem = format!("table {table}: expected {expected} columns, found {found}");
                return Err(Names::mismatch(trace.name(), problem));
            }
        }
        let settings = current();
        let read = |trace| {
            let trace: &Rows<'_> = trace;
            move |first: usize, to: &mut [Goldilocks]| trace.read(first, to)
        };
        let read: Vec<_> = traces.iter().map(read).collect();
        let traces = traces.iter().zip(&read);
        let traces: Vec<_> =
            traces.map(|(trace, read)| Trace::Parts { len: trace.rows() * trace.columns(), read }).collect();
        let public_values = all_elements(public_values)?;
        let public_values: Vec<&[_]> = public_values.iter().map(Vec::as_slice).collect();
        let preprocessed = self.preprocessed.clone();
        let bytes = config.prove_tables(settings.run(), &self.tables, preprocessed, &traces, &public_values);
        Ok(TablesProof { bytes: bytes.map_err(|error| names.of(error))?, name: None })
    }
}

fn all_elements(words: &[&[u64]]) -> Result<Vec<Vec<Goldilocks>>> {
    words.iter().map(|words| elements(words)).collect()
}

/// A proof of several tables.
#[derive(Clone, Debug)]
pub struct TablesProof {
    bytes: Vec<u8>,
    name: Option<FileName>,
}

impl TablesProof {
    /// Reads a file, which [`verify`](Self::verify) decodes.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = read_file_at_most(path, LONGEST).map_err(|error| Error::io(path, error))?;
        Ok(Self { bytes, name: Some(FileName::new(path)) })
    }

    /// The proof in the bytes of a file, which [`verify`](Self::verify) decodes.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes, name: None }
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

    /// Verifies that the prover knows traces which satisfy the constraints of the tables with these public values, one list for each table.
    /// Returns the number of rows of each table, and the bits that are proven for them. The prover chooses the number of rows of tables
    /// without preprocessed columns; everything else is the verifier's own.
    ///
    /// # Errors
    /// As [`Proof::verify`](super::Proof::verify).
    pub fn verify(
        &self,
        tables: &Tables,
        config: &Config,
        public_values: &[&[u64]],
    ) -> Result<Proven<Vec<u64>>> {
        let public_values = all_elements(public_values)?;
        let public_values: Vec<&[_]> = public_values.iter().map(Vec::as_slice).collect();
        let preprocessed = tables.preprocessed.clone();
        let level = current().level;
        let proven = config.verify_tables(level, &tables.tables, preprocessed, &public_values, &self.bytes);
        proven.map_err(|error| Names { proof: self.name.as_ref(), ..Names::default() }.of(error))
    }
}
