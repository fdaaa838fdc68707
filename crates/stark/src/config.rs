//! Proofs as bytes, with the hash and the extension chosen at run time.

use crate::{
    Constraints, PreprocessedKey, Proof, Run, StarkError, StarkHash, Tables, TablesKey, TablesProof, TooWeak,
    Trace, VerifyError,
    air::Preprocessed,
    commitment::check_shape,
    prove, prove_tables,
    security::{InvalidConfiguration, Parameters, Report, TablesShape},
    transcript::hash::stark_hash,
    verify, verify_tables,
};
use proofmill_cpu::Level;
use proofmill_field::goldilocks::Goldilocks;
use proofmill_merkle::Hash;

/// The choices that prover and verifier share besides the AIR, and the demands of both on proofs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The hash of trees and transcript.
    pub hash: Hash,
    /// The parameters.
    pub parameters: Parameters,
    /// The bits that a proof must [prove](Self::security) for its own number of rows, which the prover chooses. With 0, no bits are
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

/// The number of rows and the proven bits of a valid proof.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proven<Rows> {
    /// The number of rows of the trace, or of the trace of each table. The prover chose it.
    pub rows: Rows,
    /// The proven bits of security for this number of rows; 0 if no theorem applies.
    pub bits: f64,
}

/// Runs an expression with `$D` as the degree of the extension of a configuration whose parameters were checked.
macro_rules! dispatch {
    ($config:expr, $D:ident => $body:expr) => {
        match $config.parameters.extension {
            2 => {
                const $D: usize = 2;
                $body
            }
            _ => {
                const $D: usize = 3;
                $body
            }
        }
    };
}

impl Config {
    /// The proven security of statements of this shape. A digest counts for no more bits than a digest of the hash has.
    ///
    /// # Errors
    /// A value out of its range.
    pub fn security(&self, shape: impl Into<TablesShape>) -> Result<Report, InvalidConfiguration> {
        let digest_bits = self.parameters.digest_bits.min(self.hash().digest_bits());
        Parameters { digest_bits, ..self.parameters }.security(shape)
    }

    /// The proven bits of proofs of this shape, if they are at least [`bits`](Self::bits) and every trace has at least
    /// [`least_rows`](Self::least_rows) rows.
    ///
    /// # Errors
    /// [`TooWeak`] otherwise.
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
        // For the error: the number of rows for which the parameters prove enough.
        let enough = (log_rows + 1..=self.parameters.most_log_rows()).find(|least| {
            let mut padded = shape;
            padded.least_log_rows = *least;
            padded.whole.log_rows = padded.whole.log_rows.max(*least);
            self.security(padded).is_ok_and(|report| report.bits() >= f64::from(self.bits))
        });
        Err(TooWeak::Bits { expected: self.bits, found: bits as u32, log_rows, enough })
    }

    fn hash(&self) -> &'static dyn StarkHash {
        stark_hash(self.hash)
    }

    fn key(
        &self,
        level: Level,
        preprocessed: Option<&Preprocessed>,
    ) -> Result<Option<PreprocessedKey>, StarkError> {
        let key = |columns: &Preprocessed| {
            PreprocessedKey::new(level, self.hash(), &self.parameters, columns.clone())
        };
        preprocessed.map(key).transpose()
    }

    /// [`prove`](crate::prove), to bytes. First commits to the AIR's preprocessed columns.
    ///
    /// # Errors
    /// [`StarkError::TooWeak`] before anything is computed; the errors of [`PreprocessedKey::new`] and [`prove`](crate::prove).
    pub fn prove(
        &self,
        run: Run<'_>,
        constraints: &Constraints,
        preprocessed: Option<&Preprocessed>,
        trace: Trace<'_>,
        public_values: &[Goldilocks],
    ) -> Result<Vec<u8>, StarkError> {
        let (hash, parameters) = (self.hash(), &self.parameters);
        parameters.check()?;
        let log_rows = check_shape("trace", trace.len(), constraints.columns(), parameters)?;
        self.check(&constraints.shape(log_rows))?;
        dispatch!(self, D => {
            let key = self.key(run.level, preprocessed)?;
            let proof = prove::<D>(run, hash, parameters, constraints, key.as_ref(), trace, public_values)?;
            Ok(proof.to_bytes(hash))
        })
    }

    /// [`verify`](crate::verify), from bytes. First commits to the AIR's preprocessed columns. Also checks the demands on the number of
    /// rows and on the bits.
    ///
    /// # Errors
    /// [`VerifyError::Encoding`], [`VerifyError::TooWeak`], and the errors of [`verify`](crate::verify).
    pub fn verify(
        &self,
        level: Level,
        constraints: &Constraints,
        preprocessed: Option<&Preprocessed>,
        public_values: &[Goldilocks],
        proof: &[u8],
    ) -> Result<Proven<u64>, VerifyError> {
        let (hash, parameters) = (self.hash(), &self.parameters);
        let statement = |error: StarkError| VerifyError::Statement(error.to_string());
        parameters.check().map_err(|error| statement(error.into()))?;
        dispatch!(self, D => {
            let proof = Proof::<D>::from_bytes(hash, proof)?;
            let key = self.key(level, preprocessed).map_err(statement)?;
            let commitment = key.as_ref().map(PreprocessedKey::commitment);
            verify(level, hash, parameters, constraints, commitment, public_values, &proof)?;
            let bits = self.check(&constraints.shape(proof.log_rows))?;
            Ok(Proven { rows: 1 << proof.log_rows, bits })
        })
    }

    /// [`prove_tables`](crate::prove_tables), to bytes. First commits to the preprocessed columns of the tables that have some.
    ///
    /// # Errors
    /// [`StarkError::TooWeak`] before anything is computed; the errors of [`TablesKey::new`] and [`prove_tables`](crate::prove_tables).
    pub fn prove_tables(
        &self,
        run: Run<'_>,
        tables: &Tables,
        preprocessed: Vec<Option<Preprocessed>>,
        traces: &[Trace<'_>],
        public_values: &[&[Goldilocks]],
    ) -> Result<Vec<u8>, StarkError> {
        let (hash, parameters) = (self.hash(), &self.parameters);
        parameters.check()?;
        let log_rows = log_rows(parameters, tables, traces)?;
        self.check(tables.shape(&log_rows))?;
        dispatch!(self, D => {
            let key = TablesKey::new(run.level, hash, parameters, tables, preprocessed)?;
            let proof =
                prove_tables::<D>(run, hash, parameters, tables, key.as_ref(), traces, public_values)?;
            Ok(proof.to_bytes(hash))
        })
    }

    /// [`verify_tables`](crate::verify_tables), from bytes. First commits to the preprocessed columns of the tables that have some. Also
    /// checks the demands on the numbers of rows and on the bits.
    ///
    /// # Errors
    /// [`VerifyError::Encoding`], [`VerifyError::TooWeak`], and the errors of [`verify_tables`](crate::verify_tables).
    pub fn verify_tables(
        &self,
        level: Level,
        tables: &Tables,
        preprocessed: Vec<Option<Preprocessed>>,
        public_values: &[&[Goldilocks]],
        proof: &[u8],
    ) -> Result<Proven<Vec<u64>>, VerifyError> {
        let (hash, parameters) = (self.hash(), &self.parameters);
        let statement = |error: StarkError| VerifyError::Statement(error.to_string());
        parameters.check().map_err(|error| statement(error.into()))?;
        dispatch!(self, D => {
            let proof = TablesProof::<D>::from_bytes(hash, proof)?;
            let key = TablesKey::new(level, hash, parameters, tables, preprocessed).map_err(statement)?;
            let key = key.as_ref().map(TablesKey::verifying_key);
            verify_tables(level, hash, parameters, tables, key.as_ref(), public_values, &proof)?;
            let bits = self.check(tables.shape(&proof.log_rows))?;
            Ok(Proven { rows: proof.log_rows.iter().map(|log_rows| 1 << log_rows).collect(), bits })
        })
    }
}

/// The base-2 logarithm of the number of rows of each table's trace.
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
