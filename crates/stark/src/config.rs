//! Proofs as bytes, with the hash and the extension chosen at run time.

use crate::{
    Constraints, PreprocessedKey, Proof, Resources, StarkError, StarkHash, Tables, TablesKey, TablesProof,
    TooWeak, Trace, VerifyError,
    air::Preprocessed,
    commitment::check_shape,
    hash::digest_bits,
    prove, prove_tables,
    security::{InvalidConfiguration, Parameters, Report, TablesShape},
    verify, verify_tables,
};
use proofmill_cpu::Level;
use proofmill_field::goldilocks::Goldilocks;
use proofmill_merkle::{Hash, dispatch_hash};

/// What prover and verifier agree on besides the AIR, and what both demand of proofs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The hash of trees and transcript.
    pub hash: Hash,
    /// The parameters.
    pub parameters: Parameters,
    /// The bits that a proof must [prove](Self::security) for its own number of rows, which the prover chooses. With 0 nothing is
    /// demanded. Take 128 with [`Parameters::PROVEN_128`].
    pub bits: u32,
    /// The least number of rows of every trace.
    pub least_rows: u64,
}

impl Default for Config {
    /// Keccak and [`Parameters::PROVEN_100`]; 100 bits are demanded, and no number of rows.
    fn default() -> Self {
        Self { hash: Hash::Keccak, parameters: Parameters::PROVEN_100, bits: 100, least_rows: 1 }
    }
}

/// What is known of a proof that is valid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proven<Rows> {
    /// The number of rows of the trace, or of each of several, which the prover chose.
    pub rows: Rows,
    /// The proven bits of security for so many rows; 0 if no theorem applies.
    pub bits: f64,
}

/// Runs an expression with the types of a configuration whose parameters were checked: `$H` of the hash, `$D` the degree of the
/// extension.
macro_rules! dispatch {
    ($config:expr, $H:ident, $D:ident => $body:expr) => {
        match $config.parameters.extension {
            2 => {
                const $D: usize = 2;
                dispatch_hash!($config.hash, $H => $body)
            }
            _ => {
                const $D: usize = 3;
                dispatch_hash!($config.hash, $H => $body)
            }
        }
    };
}

impl Config {
    /// The proven security of statements of this shape, where digests have no more bits than those of the hash.
    ///
    /// # Errors
    /// A value out of its range.
    pub fn security(&self, shape: impl Into<TablesShape>) -> Result<Report, InvalidConfiguration> {
        let digest_bits = self.parameters.digest_bits.min(digest_bits(self.hash));
        Parameters { digest_bits, ..self.parameters }.security(shape)
    }

    /// The proven bits of proofs of this shape, if they are as many as this configuration demands, and traces have as many rows.
    ///
    /// # Errors
    /// [`TooWeak`].
    pub fn check(&self, shape: impl Into<TablesShape>) -> Result<f64, TooWeak> {
        let shape = shape.into();
        let log_rows = shape.least_log_rows;
        if 1_u64.checked_shl(log_rows).is_some_and(|rows| rows < self.least_rows) {
            return Err(TooWeak::Rows { expected: self.least_rows, found: log_rows });
        }
        let bits = match self.security(shape) {
            Ok(report) => report.bits(),
            Err(_) if self.bits == 0 => 0.0,
            Err(error) => return Err(TooWeak::Unknown(error)),
        };
        if bits >= f64::from(self.bits) {
            return Ok(bits);
        }
        let enough = (log_rows + 1..=self.parameters.most_log_rows()).find(|least| {
            let mut padded = shape;
            padded.least_log_rows = *least;
            padded.whole.log_rows = padded.whole.log_rows.max(*least);
            self.security(padded).is_ok_and(|report| report.bits() >= f64::from(self.bits))
        });
        Err(TooWeak::Bits { expected: self.bits, found: bits as u32, log_rows, enough })
    }

    fn key<H: StarkHash>(
        &self,
        level: Level,
        preprocessed: Option<&Preprocessed>,
    ) -> Result<Option<PreprocessedKey<H>>, StarkError> {
        let key = |columns: &Preprocessed| PreprocessedKey::new(level, &self.parameters, columns.clone());
        preprocessed.map(key).transpose()
    }

    /// [`prove`](crate::prove), to bytes; with the AIR's preprocessed columns, which are committed to.
    ///
    /// # Errors
    /// [`StarkError::TooWeak`] before anything is computed; as [`PreprocessedKey::new`] and [`prove`](crate::prove).
    pub fn prove(
        &self,
        resources: Resources<'_>,
        constraints: &Constraints,
        preprocessed: Option<&Preprocessed>,
        trace: Trace<'_>,
        public_values: &[Goldilocks],
    ) -> Result<Vec<u8>, StarkError> {
        let parameters = &self.parameters;
        parameters.check()?;
        let log_rows = check_shape("trace", trace.len(), constraints.columns(), parameters)?;
        self.check(&constraints.shape(log_rows))?;
        dispatch!(self, H, D => {
            let key = self.key::<H>(resources.level, preprocessed)?;
            let proof = prove::<H, D>(resources, parameters, constraints, key.as_ref(), trace, public_values)?;
            Ok(proof.to_bytes())
        })
    }

    /// [`verify`](crate::verify), from bytes; with the AIR's preprocessed columns, which are committed to. What is demanded of the
    /// number of rows and the bits is checked.
    ///
    /// # Errors
    /// [`VerifyError::Encoding`], [`VerifyError::TooWeak`], and as [`verify`](crate::verify).
    pub fn verify(
        &self,
        level: Level,
        constraints: &Constraints,
        preprocessed: Option<&Preprocessed>,
        public_values: &[Goldilocks],
        proof: &[u8],
    ) -> Result<Proven<u64>, VerifyError> {
        let parameters = &self.parameters;
        let statement = |error: StarkError| VerifyError::Statement(error.to_string());
        parameters.check().map_err(|error| statement(error.into()))?;
        dispatch!(self, H, D => {
            let proof = Proof::<H, D>::from_bytes(proof)?;
            let key = self.key::<H>(level, preprocessed).map_err(statement)?;
            let commitment = key.as_ref().map(PreprocessedKey::commitment);
            verify(level, parameters, constraints, commitment, public_values, &proof)?;
            let bits = self.check(&constraints.shape(proof.log_rows))?;
            Ok(Proven { rows: 1 << proof.log_rows, bits })
        })
    }

    /// [`prove_tables`](crate::prove_tables), to bytes; with the preprocessed columns of tables that have some, which are committed to.
    ///
    /// # Errors
    /// [`StarkError::TooWeak`] before anything is computed; as [`TablesKey::new`] and [`prove_tables`](crate::prove_tables).
    pub fn prove_tables(
        &self,
        resources: Resources<'_>,
        tables: &Tables,
        preprocessed: Vec<Option<Preprocessed>>,
        traces: &[Trace<'_>],
        public_values: &[&[Goldilocks]],
    ) -> Result<Vec<u8>, StarkError> {
        let parameters = &self.parameters;
        parameters.check()?;
        let log_rows = log_rows(parameters, tables, traces)?;
        self.check(tables.shape(&log_rows))?;
        dispatch!(self, H, D => {
            let key = TablesKey::<H>::new(resources.level, parameters, tables, preprocessed)?;
            let proof =
                prove_tables::<H, D>(resources, parameters, tables, key.as_ref(), traces, public_values)?;
            Ok(proof.to_bytes())
        })
    }

    /// [`verify_tables`](crate::verify_tables), from bytes; with the preprocessed columns of tables that have some, which are committed
    /// to. What is demanded of the numbers of rows and the bits is checked.
    ///
    /// # Errors
    /// [`VerifyError::Encoding`], [`VerifyError::TooWeak`], and as [`verify_tables`](crate::verify_tables).
    pub fn verify_tables(
        &self,
        level: Level,
        tables: &Tables,
        preprocessed: Vec<Option<Preprocessed>>,
        public_values: &[&[Goldilocks]],
        proof: &[u8],
    ) -> Result<Proven<Vec<u64>>, VerifyError> {
        let parameters = &self.parameters;
        let statement = |error: StarkError| VerifyError::Statement(error.to_string());
        parameters.check().map_err(|error| statement(error.into()))?;
        dispatch!(self, H, D => {
            let proof = TablesProof::<H, D>::from_bytes(proof)?;
            let key = TablesKey::<H>::new(level, parameters, tables, preprocessed).map_err(statement)?;
            let key = key.as_ref().map(TablesKey::verifying_key);
            verify_tables(level, parameters, tables, key.as_ref(), public_values, &proof)?;
            let bits = self.check(tables.shape(&proof.log_rows))?;
            Ok(Proven { rows: proof.log_rows.iter().map(|log_rows| 1 << log_rows).collect(), bits })
        })
    }
}

/// The logarithm of the number of rows of each table's trace.
fn log_rows(parameters: &Parameters, tables: &Tables, traces: &[Trace<'_>]) -> Result<Vec<u32>, StarkError> {
    let (expected, found) = (tables.tables().len(), traces.len());
    if expected != found {
        return Err(StarkError::Tables { what: "traces", expected, found });
    }
    let of_table = |(table, (constraints, trace)): (usize, (&Constraints, &Trace<'_>))| {
        check_shape("trace", trace.len(), constraints.columns(), parameters)
            .map_err(|source| StarkError::Table { table, source: Box::new(source) })
    };
    tables.tables().iter().zip(traces).enumerate().map(of_table).collect()
}
