//! `proofmill.stark`: STARKs over Goldilocks for AIRs in JSON.

use crate::{
    arrays::Array,
    error::{Fault, Mismatch},
    source::{Source, opens},
    work::{BackgroundJob, compute},
};
use proofmill::{
    Memory,
    merkle::{Hash, Rows},
    stark::{self as lower, Config, digest_bits, security::Parameters},
};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use std::{path::PathBuf, sync::Arc};

/// The options on which a prover and its verifier must agree.
pub(crate) struct StarkOptions {
    hash: Hash,
    security: u32,
    zero_knowledge: bool,
}

impl StarkOptions {
    pub(crate) fn new(hash: &str, security: u32, zero_knowledge: bool) -> PyResult<Self> {
        let hash = hash.parse().map_err(|error| PyValueError::new_err(format!("hash: {error}")))?;
        Ok(Self { hash, security, zero_knowledge })
    }

    /// The configuration with the fewest queries that prove the security, as `proofmill stark prove` takes them.
    pub(crate) fn config(&self, air: &lower::Constraints, rows: u64) -> Result<Config, Fault> {
        let default = Parameters::PROVEN_100;
        let random_columns = if self.zero_knowledge { default.extension } else { 0 };
        let parameters = Parameters { digest_bits: digest_bits(self.hash), random_columns, ..default };
        let queries = parameters.fewest_queries(&air.shape(rows), self.security);
        let queries = queries.map_err(|error| Fault::Value(format!("security: {error}")))?;
        let parameters = Parameters { queries, ..parameters };
        Ok(Config { hash: self.hash, parameters, bits: self.security, ..Config::default() })
    }
}

/// The constraints of an AIR: the path or the content of its JSON file, whose format is in Proofmill's documentation of STARKs.
///
/// Raises OSError, Malformed.
#[pyclass(frozen, module = "proofmill.stark")]
pub(crate) struct Air(pub(crate) Arc<lower::Constraints>);

opens!(lower::Constraints, Air, |bytes| Self::from_json(bytes));

#[pymethods]
impl Air {
    #[new]
    fn new(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Self> {
        let source = Source::<lower::Constraints>::new("source", source)?;
        compute(py, || Ok(Self(source.open()?)))
    }

    /// The number of columns of the trace.
    #[getter]
    fn columns(&self) -> usize {
        self.0.columns()
    }

    /// The number of public values.
    #[getter]
    fn public_values(&self) -> usize {
        self.0.public_values()
    }

    /// The number of constraints.
    #[getter]
    fn constraints(&self) -> usize {
        self.0.len()
    }

    /// Proves that a trace satisfies the constraints. The proof is verified before it is returned.
    ///
    /// trace: an array of uint64 with shape (rows, columns), of a power of two of rows, with values below 2^64 - 2^32 + 1; do not write to
    /// it meanwhile. public: a sequence of integers below 2^64 - 2^32 + 1. hash: of trees and transcript, such as "keccak", "poseidon2" or
    /// "sha256". security: the bits that must be proven. zero_knowledge: tell nothing of the trace but that there is one. memory: "fast",
    /// "balanced" or "low". The rest is as for ``groth16.ProvingKey.prove``, except that KeyboardInterrupt waits for the end of a phase.
    ///
    /// Raises Unsatisfied with a constraint and the first row in which it does not hold, Mismatch for another shape than the AIR's,
    /// Malformed for values that are too large, TypeError, ValueError, OSError.
    #[pyo3(signature = (trace, public, *, hash="keccak", security=100, zero_knowledge=false, memory="fast", threads=None, level=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "most are optional, by name")]
    fn prove(
        &self,
        py: Python<'_>,
        trace: &Bound<'_, PyAny>,
        public: Vec<u64>,
        hash: &str,
        security: u32,
        zero_knowledge: bool,
        memory: &str,
        threads: Option<usize>,
        level: Option<&str>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Proof> {
        let protocol = StarkOptions::new(hash, security, zero_knowledge)?;
        let memory = match memory {
            "fast" => Memory::Fast,
            "balanced" => Memory::Balanced,
            "low" => Memory::Low,
            _ => return Err(PyValueError::new_err("memory: expected \"fast\", \"balanced\" or \"low\"")),
        };
        let trace = Array::<u64>::borrow("trace", trace)?;
        let [rows, columns] = shape(&trace)?;
        let words = trace.data();
        BackgroundJob::new(py).with(threads, level, progress)?.memory(Some(memory)).run_borrowed(|| {
            let config = protocol.config(&self.0, rows as u64)?;
            Ok(Proof(Arc::new(self.0.prove(&config, &Rows::new(words, columns)?, &public)?)))
        })
    }

    /// The text of the JSON file.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        compute(py, || Ok(self.0.to_json()))
    }

    fn __repr__(&self) -> String {
        format!("proofmill.stark.Air of {} columns and {} constraints", self.0.columns(), self.0.len())
    }
}

/// The rows and columns of a trace.
pub(crate) fn shape(trace: &Array<'_, u64>) -> PyResult<[usize; 2]> {
    match trace.axes("(rows, columns)")? {
        [0, _] | [_, 0] => Err(trace.refuse("(rows, columns) without a 0")),
        axes => Ok(axes),
    }
}

/// A proof: the path or the content of its file. ``Air.prove`` makes one.
///
/// Raises OSError, and Malformed for any other file. All but the beginning is decoded by ``verify``.
#[pyclass(frozen, module = "proofmill.stark")]
pub(crate) struct Proof(pub(crate) Arc<lower::Proof>);

opens!(lower::Proof, Proof, |bytes| Self::from_bytes(bytes));

#[pymethods]
impl Proof {
    #[new]
    fn new(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Self> {
        let source = Source::<lower::Proof>::new("source", source)?;
        compute(py, || Ok(Self(source.open()?)))
    }

    /// Verifies that the prover knows a trace which satisfies the constraints of air (a path, bytes or an Air) with these public values.
    /// Returns None for a valid proof only: every other outcome is an exception.
    ///
    /// hash, security and zero_knowledge must be those of the prover. The number of rows is the prover's choice unless rows is given.
    ///
    /// Raises Rejected for a proof that proves nothing, Malformed for one that is not well-formed, Mismatch for one with another hash or
    /// number of rows, and for another number of public values than the AIR's.
    #[pyo3(signature = (air, public, *, rows=None, hash="keccak", security=100, zero_knowledge=false))]
    #[expect(clippy::too_many_arguments, reason = "most are optional, by name")]
    fn verify(
        &self,
        py: Python<'_>,
        air: &Bound<'_, PyAny>,
        public: Vec<u64>,
        rows: Option<u64>,
        hash: &str,
        security: u32,
        zero_knowledge: bool,
    ) -> PyResult<()> {
        let protocol = StarkOptions::new(hash, security, zero_knowledge)?;
        let air = Source::<lower::Constraints>::new("air", air)?;
        let found = self.0.rows();
        if let Some(expected) = rows.filter(|expected| *expected != found) {
            return Err(Mismatch::new_err(format!(
                "expected a proof of {expected} rows, found one of {found}"
            )));
        }
        compute(py, || {
            let air = air.open()?;
            self.0.verify(&air, &protocol.config(&air, found)?, &public)?;
            Ok(())
        })
    }

    /// The number of rows of the trace, which the prover chose.
    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows()
    }

    /// The hash that the proof was made with, as it says.
    #[getter]
    fn hash(&self) -> &'static str {
        self.0.hash().name()
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_bytes())
    }

    /// Writes a file, completely or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        compute(py, || Ok(self.0.save(path)?))
    }

    fn __repr__(&self) -> String {
        format!("proofmill.stark.Proof of {} rows in {} bytes", self.0.rows(), self.0.as_bytes().len())
    }
}

pub(crate) fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let module = PyModule::new(py, "proofmill.stark")?;
    module.setattr(
        "__doc__",
        "STARKs over Goldilocks (p = 2^64 - 2^32 + 1) for AIRs in JSON. They need no setup.",
    )?;
    module.add_class::<Air>()?;
    module.add_class::<Proof>()?;
    Ok(module)
}
