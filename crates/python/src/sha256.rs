//! `proofmill.sha256`.

use crate::{
    arrays::{Array, matrix},
    work::ThreadsAndLevel,
    work::compute,
};
use numpy::PyArray2;
use proofmill::hash;
use pyo3::{prelude::*, types::PyBytes};
use rayon::prelude::*;

/// The digest of a message: bytes, or an array of uint8 of any shape, in C order. Returns 32 bytes.
///
/// Raises TypeError, ValueError.
#[pyfunction]
fn digest<'py>(message: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let py = message.py();
    let digest = if let Ok(bytes) = message.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        compute(py, || Ok(hash::sha256(bytes)))?
    } else {
        let array = Array::<u8>::borrow("message", message)?;
        let bytes = array.data();
        compute(py, || Ok(hash::sha256(bytes)))?
    };
    Ok(PyBytes::new(py, &digest))
}

/// The digests of many messages of 64 bytes, such as pairs of nodes of a tree.
///
/// a: uint8 of shape (n, 64). Returns uint8 of shape (n, 32). Runs on all threads, without the GIL.
///
/// Raises TypeError, ValueError.
#[pyfunction]
#[pyo3(signature = (a, *, threads=None, level=None))]
fn pairs<'py>(
    a: &Bound<'py, PyAny>,
    threads: Option<usize>,
    level: Option<&str>,
) -> PyResult<Bound<'py, PyArray2<u8>>> {
    /// Pairs that are worth another thread.
    const PIECE: usize = 1 << 12;
    let py = a.py();
    let array = Array::<u8>::borrow("a", a)?;
    let [_, 64] = array.axes("(n, 64)")? else { return Err(array.refuse("(n, 64)")) };
    let pairs = array.data().as_chunks().0;
    let digests: Vec<[u8; 32]> = ThreadsAndLevel::new(threads, level)?.compute(py, || {
        if pairs.len() <= PIECE {
            return Ok(hash::sha256_pairs(pairs));
        }
        Ok(pairs.par_chunks(PIECE).flat_map_iter(hash::sha256_pairs).collect())
    })?;
    matrix(py, digests.into_flattened(), 32)
}

pub(crate) fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let module = PyModule::new(py, "proofmill.sha256")?;
    module.setattr("__doc__", "SHA-256, of one message and of many at once.")?;
    module.add_function(wrap_pyfunction!(digest, &module)?)?;
    module.add_function(wrap_pyfunction!(pairs, &module)?)?;
    Ok(module)
}
