//! `proofmill.hash`: algebraic hashes of rows.

use crate::{
    arrays::{Array, WordValue, elements, encode, matrix, shaped},
    error::Fault,
    integers::{elements_of, integer},
    merkle::hash_of,
    work::ThreadsAndLevel,
};
use numpy::{PyArray2, PyUntypedArray};
use proofmill::{
    field::{Fr, Goldilocks},
    hash::{self as lower, RowHash},
};
use pyo3::{exceptions::PyValueError, prelude::*};
use rayon::prelude::*;

/// The most elements that the Poseidon of circom's circuits takes.
const MOST_INPUTS: usize = 16;

/// The digests of rows of words; those of hashes over a field are checked.
fn digests(hash: RowHash, words: &[u64], columns: usize) -> Result<Vec<[u8; 32]>, Fault> {
    /// Rows that are worth another thread.
    const PIECE: usize = 1 << 10;
    if !matches!(hash, RowHash::Sha256 | RowHash::Keccak)
        && let Err(index) = Goldilocks::from_words(words)
    {
        let problem = "expected integers below 2^64 - 2^32 + 1";
        return Err(Fault::Value(format!("a: {problem}, found {} at row {}", words[index], index / columns)));
    }
    if words.len() <= PIECE * columns {
        return Ok(lower::rows(hash, words, columns));
    }
    Ok(words.par_chunks(PIECE * columns).flat_map_iter(|words| lower::rows(hash, words, columns)).collect())
}

/// The digests of Goldilocks rows as elements.
fn goldilocks<'py>(
    hash: RowHash,
    a: &Bound<'py, PyAny>,
    choice: ThreadsAndLevel,
) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    let array = Array::<u64>::borrow("a", a)?;
    let (columns, single) = match *array.shape() {
        [columns] if columns > 0 => (columns, true),
        [_, columns] if columns > 0 => (columns, false),
        _ => return Err(array.refuse("(columns,) or (rows, columns) with at least one column")),
    };
    let data = array.data();
    let words = choice.compute(py, || {
        let digests = digests(hash, data, columns)?;
        Ok(digests.as_flattened().as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
    })?;
    shaped(py, words, if single { None } else { Some(4) })
}

/// Poseidon of width 12 over Goldilocks, as Polygon and plonky2 use it, of rows of elements.
///
/// a: uint64 of shape (rows, columns), or (columns,) for one row; values below 2^64 - 2^32 + 1. Returns uint64 of shape (rows, 4) or (4,).
///
/// Digests are collision-resistant only among rows of one length: the length is not hashed.
///
/// Raises TypeError, ValueError.
#[pyfunction]
#[pyo3(signature = (a, *, threads=None, level=None))]
fn poseidon<'py>(
    a: &Bound<'py, PyAny>,
    threads: Option<usize>,
    level: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    goldilocks(RowHash::Poseidon, a, ThreadsAndLevel::new(threads, level)?)
}

/// Poseidon2 of width 12 over Goldilocks, with Plonky3's constants; otherwise as ``poseidon``.
#[pyfunction]
#[pyo3(signature = (a, *, threads=None, level=None))]
fn poseidon2<'py>(
    a: &Bound<'py, PyAny>,
    threads: Option<usize>,
    level: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    goldilocks(RowHash::Poseidon2, a, ThreadsAndLevel::new(threads, level)?)
}

/// The digests of rows by any hash of Merkle trees: the leaves of ``merkle.Tree``.
///
/// a: uint64 of shape (rows, columns). Returns uint8 of shape (rows, 32); elements of a field are little-endian.
///
/// Raises TypeError, ValueError.
#[pyfunction]
#[pyo3(signature = (a, hash, *, threads=None, level=None))]
fn rows<'py>(
    a: &Bound<'py, PyAny>,
    hash: &str,
    threads: Option<usize>,
    level: Option<&str>,
) -> PyResult<Bound<'py, PyArray2<u8>>> {
    let (py, hash) = (a.py(), hash_of(hash)?);
    let array = Array::<u64>::borrow("a", a)?;
    let [_, columns] = array.axes("(rows, columns)")?;
    if columns == 0 {
        return Err(array.refuse("(rows, columns) with at least one column"));
    }
    let data = array.data();
    let bytes = ThreadsAndLevel::new(threads, level)?
        .compute(py, || Ok(digests(hash, data, columns)?.into_flattened()))?;
    matrix(py, bytes, 32)
}

/// circomlib's Poseidon over BN254's scalar field, of 1 to 16 elements.
///
/// a: a sequence of integers; or uint64 of shape (columns, 4), or (rows, columns, 4) for many hashes: integers below the field's modulus,
/// each with its least significant word first. Returns an integer; or uint64 of shape (4,), or (rows, 4).
///
/// Raises TypeError, ValueError.
#[pyfunction]
#[pyo3(signature = (a, *, threads=None, level=None))]
fn poseidon_bn254<'py>(
    a: &Bound<'py, PyAny>,
    threads: Option<usize>,
    level: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, choice) = (a.py(), ThreadsAndLevel::new(threads, level)?);
    if a.cast::<PyUntypedArray>().is_err() {
        let inputs = elements_of::<_>("a", a)?;
        if !(1..=MOST_INPUTS).contains(&inputs.len()) {
            return Err(PyValueError::new_err(format!(
                "a: expected 1 to 16 integers, found {}",
                inputs.len()
            )));
        }
        return integer(py, choice.compute(py, || Ok(lower::poseidon(&inputs)))?);
    }
    let array = Array::<u64>::borrow("a", a)?;
    let (columns, single) = match *array.shape() {
        [columns, Fr::WORDS] => (columns, true),
        [_, columns, Fr::WORDS] => (columns, false),
        _ => (0, false),
    };
    if !(1..=MOST_INPUTS).contains(&columns) {
        return Err(array.refuse("(columns, 4) or (rows, columns, 4) with 1 to 16 columns"));
    }
    let data = array.data();
    let words = choice.compute(py, || {
        let inputs: Vec<Fr> = elements("a", data)?;
        Ok(encode(&if single {
            vec![lower::poseidon(&inputs)]
        } else {
            lower::poseidon_many(columns, &inputs)
        }))
    })?;
    shaped(py, words, if single { None } else { Some(Fr::WORDS) })
}

pub(crate) fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let module = PyModule::new(py, "proofmill.hash")?;
    module.setattr("__doc__", "Algebraic hashes of rows: Poseidon and Poseidon2 over Goldilocks, Poseidon over BN254's scalar field.")?;
    module.add_function(wrap_pyfunction!(poseidon, &module)?)?;
    module.add_function(wrap_pyfunction!(poseidon2, &module)?)?;
    module.add_function(wrap_pyfunction!(rows, &module)?)?;
    module.add_function(wrap_pyfunction!(poseidon_bn254, &module)?)?;
    Ok(module)
}
