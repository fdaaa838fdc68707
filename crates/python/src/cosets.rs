//! STARKs of traces that other machines extend: added to `proofmill.stark`.

use crate::{
    arrays::Array,
    callback::Callback,
    error::Fault,
    stark::{Air, Proof, StarkOptions, shape},
    work::{BackgroundJob, ThreadsAndLevel},
};
use proofmill::{
    merkle::Rows,
    stark::{self as lower, Parameters, Question},
};
use pyo3::{prelude::*, types::PyBytes};
use std::sync::{Arc, Mutex, PoisonError};

/// The cosets that answer the questions of ``prove_with_cosets`` about the extension of a trace. The arguments are those of ``Air.prove``.
///
/// The trace is copied. Each coset is computed when it is first asked about, and kept: as much memory as the trace and two digests for each row.
/// Raises what ``Air.prove`` does, but Unsatisfied.
#[pyclass(frozen, module = "proofmill.stark")]
pub(crate) struct Cosets(Mutex<lower::Cosets>);

#[pymethods]
impl Cosets {
    #[new]
    #[pyo3(signature = (air, trace, public, *, hash="keccak", security=100, threads=None, level=None))]
    #[expect(clippy::too_many_arguments, reason = "most are optional, by name")]
    fn new(
        air: &Bound<'_, Air>,
        trace: &Bound<'_, PyAny>,
        public: Vec<u64>,
        hash: &str,
        security: u32,
        threads: Option<usize>,
        level: Option<&str>,
    ) -> PyResult<Self> {
        let protocol = StarkOptions::new(hash, security, false)?;
        let trace = Array::<u64>::borrow("trace", trace)?;
        let [rows, columns] = shape(&trace)?;
        let (py, words, air) = (air.py(), trace.data(), &air.get().0);
        ThreadsAndLevel::new(threads, level)?.compute(py, || {
            let config = protocol.config(air, rows as u64)?;
            Ok(Self(Mutex::new(air.cosets(&config, &Rows::new(words, columns)?, &public)?)))
        })
    }

    /// The number of cosets that an extension has.
    #[classattr]
    const COUNT: usize = 1 << Parameters::PROVEN_100.log_blowup;

    /// The answer to a question about a coset. Runs without the GIL.
    ///
    /// Raises Malformed for bytes that are no question about this trace, ValueError.
    #[pyo3(signature = (coset, question, *, threads=None, level=None))]
    fn answer<'py>(
        &self,
        py: Python<'py>,
        coset: usize,
        question: &[u8],
        threads: Option<usize>,
        level: Option<&str>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let question = Question { coset, bytes: question.to_vec() };
        let answer = ThreadsAndLevel::new(threads, level)?
            .compute(py, || Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).answer(&question)?))?;
        Ok(PyBytes::new(py, &answer))
    }

    fn __repr__(&self) -> &'static str {
        "proofmill.stark.Cosets"
    }
}

/// ``Air.prove`` with a trace that others extend, such as several machines, each of which has ``Cosets`` of it. The proof is the same.
///
/// ask: a function of questions, a list of pairs of a coset and bytes, which returns a list of their answers, bytes. It is called on another
/// thread, a few times. Any ``Cosets`` of the trace may answer any question. The trace is read here only to say what is wrong with it.
///
/// Raises what ``Air.prove`` and the function raise; Rejected for answers that are wrong, Mismatch if the trace cannot be divided.
#[pyfunction]
#[pyo3(signature = (air, trace, public, ask, *, hash="keccak", security=100, threads=None, level=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "most are optional, by name")]
fn prove_with_cosets(
    air: &Bound<'_, Air>,
    trace: &Bound<'_, PyAny>,
    public: Vec<u64>,
    ask: Py<PyAny>,
    hash: &str,
    security: u32,
    threads: Option<usize>,
    level: Option<&str>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Proof> {
    let protocol = StarkOptions::new(hash, security, false)?;
    let trace = Array::<u64>::borrow("trace", trace)?;
    let [rows, columns] = shape(&trace)?;
    let (py, words, air) = (air.py(), trace.data(), &air.get().0);
    let callback = Arc::new(Callback::new(ask));
    let shared = callback.clone();
    let ask = Arc::new(move |questions: &[Question]| {
        shared.call(|function| {
            let py = function.py();
            let questions = questions.iter().map(|one| (one.coset, PyBytes::new(py, &one.bytes)));
            function.call1((questions.collect::<Vec<_>>(),))?.extract()
        })
    });
    let proof = BackgroundJob::new(py).with(threads, level, progress)?.run_borrowed(|| {
        let config = protocol.config(air, rows as u64)?;
        let proof = air.prove_with_cosets(&config, &Rows::new(words, columns)?, &public, ask)?;
        Ok::<_, Fault>(Proof(Arc::new(proof)))
    });
    callback.end(proof)
}

/// Adds the class and the function to the module.
pub(crate) fn add(module: Bound<'_, PyModule>) -> PyResult<Bound<'_, PyModule>> {
    module.add_class::<Cosets>()?;
    module.add_function(wrap_pyfunction!(prove_with_cosets, &module)?)?;
    Ok(module)
}
