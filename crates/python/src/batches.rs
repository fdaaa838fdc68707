//! Many Groth16 proofs verified at once: added to `proofmill.groth16`.

use crate::{
    systems::groth16::{Proof, key_of},
    work::{BackgroundJob, compute},
};
use proofmill::groth16 as lower;
use pyo3::prelude::*;
use std::sync::Arc;

/// Calls `check` with the key and the proofs.
fn checked<T: Send + 'static>(
    key: &Bound<'_, PyAny>,
    proofs: &[Bound<'_, Proof>],
    allow_insecure_setup: bool,
    check: impl FnOnce(&lower::VerifyingKey, &[Arc<lower::Proof>]) -> proofmill::Result<T> + Send + 'static,
) -> PyResult<T> {
    let (py, key) = (key.py(), key_of(key)?);
    let proofs: Vec<_> = proofs.iter().map(|proof| proof.get().proof.clone()).collect();
    let work = move || Ok(check(&*key.open()?, &proofs)?);
    if allow_insecure_setup {
        BackgroundJob::new(py).allow_insecure_setup(true).run(work)
    } else {
        compute(py, work)
    }
}

/// Verifies proofs for the signals that came with them, with one product of pairings: a fraction of the time of one after another. A batch
/// with a wrong proof passes with a probability of at most 2^-128.
///
/// key: a VerifyingKey, a ProvingKey, a path or bytes. proofs: a list of Proof. Whoever made a proof chose its signals: open it with the
/// expected ones.
///
/// Returns None if all are valid only. Raises what ``Proof.verify`` raises for the first that is not (``find_invalid`` returns all), and
/// Malformed for no proofs.
#[pyfunction]
#[pyo3(signature = (key, proofs, *, allow_insecure_setup=false))]
fn verify_batch(
    key: &Bound<'_, PyAny>,
    proofs: Vec<Bound<'_, Proof>>,
    allow_insecure_setup: bool,
) -> PyResult<()> {
    checked(key, &proofs, allow_insecure_setup, |key, proofs| {
        key.verify_batch(proofs.iter().map(|proof| &**proof))
    })
}

/// The indices of the proofs that are not valid, ascending. The arguments are those of ``verify_batch``.
#[pyfunction]
#[pyo3(signature = (key, proofs, *, allow_insecure_setup=false))]
fn find_invalid(
    key: &Bound<'_, PyAny>,
    proofs: Vec<Bound<'_, Proof>>,
    allow_insecure_setup: bool,
) -> PyResult<Vec<usize>> {
    checked(key, &proofs, allow_insecure_setup, |key, proofs| {
        let invalid = key.find_invalid(proofs.iter().map(|proof| &**proof))?;
        Ok(invalid.into_iter().map(|(index, _)| index).collect())
    })
}

/// Adds the functions to the module of the proof system.
pub(crate) fn add<'py>(module: Bound<'py, PyModule>) -> PyResult<Bound<'py, PyModule>> {
    module.add_function(wrap_pyfunction!(verify_batch, &module)?)?;
    module.add_function(wrap_pyfunction!(find_invalid, &module)?)?;
    Ok(module)
}
