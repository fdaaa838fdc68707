//! Proofs as bytes, with the hash and the extension chosen at run time.

use crate::{
    Constraints, PreprocessedKey, Proof, Resources, StarkError, StarkHash, Tables, TablesKey, TablesProof,
    Trace, VerifyError, air::Preprocessed, prove, prove_tables, security::Parameters, verify, verify_tables,
};
use proofmill_cpu::Level;
use proofmill_field::goldilocks::Goldilocks;
use proofmill_merkle::{Hash, dispatch_hash};

/// What prover and verifier agree on besides the AIR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The hash of trees and transcript.
    pub hash: Hash,
    /// The parameters.
    pub parameters: Parameters,
}

impl Default for Config {
    /// Keccak and [`Parameters::PROVEN_100`].
    fn default() -> Self {
        Self { hash: Hash::Keccak, parameters: Parameters::PROVEN_100 }
    }
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
    /// As [`PreprocessedKey::new`] and [`prove`](crate::prove).
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
        dispatch!(self, H, D => {
            let key = self.key::<H>(resources.level, preprocessed)?;
            let proof = prove::<H, D>(resources, parameters, constraints, key.as_ref(), trace, public_values)?;
            Ok(proof.to_bytes())
        })
    }

    /// [`verify`](crate::verify), from bytes; with the AIR's preprocessed columns, which are committed to.
    ///
    /// # Errors
    /// [`VerifyError::Encoding`], and as [`verify`](crate::verify).
    pub fn verify(
        &self,
        level: Level,
        constraints: &Constraints,
        preprocessed: Option<&Preprocessed>,
        public_values: &[Goldilocks],
        proof: &[u8],
    ) -> Result<(), VerifyError> {
        let parameters = &self.parameters;
        let statement = |error: StarkError| VerifyError::Statement(error.to_string());
        parameters.check().map_err(|error| statement(error.into()))?;
        dispatch!(self, H, D => {
            let proof = Proof::<H, D>::from_bytes(proof)?;
            let key = self.key::<H>(level, preprocessed).map_err(statement)?;
            let commitment = key.as_ref().map(PreprocessedKey::commitment);
            verify(level, parameters, constraints, commitment, public_values, &proof)
        })
    }

    /// [`prove_tables`](crate::prove_tables), to bytes; with the preprocessed columns of tables that have some, which are committed to.
    ///
    /// # Errors
    /// As [`TablesKey::new`] and [`prove_tables`](crate::prove_tables).
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
        dispatch!(self, H, D => {
            let key = TablesKey::<H>::new(resources.level, parameters, tables, preprocessed)?;
            let proof =
                prove_tables::<H, D>(resources, parameters, tables, key.as_ref(), traces, public_values)?;
            Ok(proof.to_bytes())
        })
    }

    /// [`verify_tables`](crate::verify_tables), from bytes; with the preprocessed columns of tables that have some, which are committed
    /// to. Returns the logarithm of the number of rows of each table, which is the prover's choice.
    ///
    /// # Errors
    /// [`VerifyError::Encoding`], and as [`verify_tables`](crate::verify_tables).
    pub fn verify_tables(
        &self,
        level: Level,
        tables: &Tables,
        preprocessed: Vec<Option<Preprocessed>>,
        public_values: &[&[Goldilocks]],
        proof: &[u8],
    ) -> Result<Vec<u32>, VerifyError> {
        let parameters = &self.parameters;
        let statement = |error: StarkError| VerifyError::Statement(error.to_string());
        parameters.check().map_err(|error| statement(error.into()))?;
        dispatch!(self, H, D => {
            let proof = TablesProof::<H, D>::from_bytes(proof)?;
            let key = TablesKey::<H>::new(level, parameters, tables, preprocessed).map_err(statement)?;
            let key = key.as_ref().map(TablesKey::verifying_key);
            verify_tables(level, parameters, tables, key.as_ref(), public_values, &proof)?;
            Ok(proof.log_rows)
        })
    }
}
