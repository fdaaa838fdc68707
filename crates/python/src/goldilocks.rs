//! `proofmill.goldilocks`: transforms over the field of p = 2^64 - 2^32 + 1.

use crate::{
    arrays::{Array, shaped},
    error::Fault,
    work::ThreadsAndLevel,
};
use proofmill::{
    field::{Field, Goldilocks},
    ntt::{GoldilocksDomain, Order},
};
use pyo3::{exceptions::PyValueError, prelude::*};

/// p.
const MODULUS: u64 = 0xffff_ffff_0000_0001;

/// A matrix, or a vector as a matrix of one column, with the domain of its rows.
struct Matrix<'py> {
    array: Array<'py, u64>,
    rows: usize,
    /// `None` for a vector.
    columns: Option<usize>,
    domain: GoldilocksDomain,
}

impl<'py> Matrix<'py> {
    fn new(a: &Bound<'py, PyAny>) -> PyResult<Self> {
        const SHAPE: &str = "(rows,) or (rows, columns) with a power of two of rows, at most 2^32";
        let array = Array::<u64>::borrow("a", a)?;
        let (rows, columns) = match *array.shape() {
            [rows] => (rows, None),
            [rows, columns] => (rows, Some(columns)),
            _ => return Err(array.refuse(SHAPE)),
        };
        let log_rows = if rows.is_power_of_two() { Some(rows.ilog2()) } else { None };
        let Some(domain) = log_rows.and_then(GoldilocksDomain::new) else { return Err(array.refuse(SHAPE)) };
        Ok(Self { array, rows, columns, domain })
    }
}

/// The words as elements; a check, no copy.
fn elements(words: &[u64]) -> Result<&[Goldilocks], Fault> {
    Goldilocks::from_words(words).map_err(|index| {
        Fault::Value(format!(
            "a: expected integers below 2^64 - 2^32 + 1, found {} at index {index}",
            words[index]
        ))
    })
}

/// The elements as words. The memory is reused: both types have one size.
fn words(elements: Vec<Goldilocks>) -> Vec<u64> {
    elements.into_iter().map(Goldilocks::to_canonical).collect()
}

fn shift_of(shift: u64) -> PyResult<Goldilocks> {
    match Goldilocks::from_canonical(shift) {
        Some(element) if shift != 0 => Ok(element),
        _ => Err(PyValueError::new_err("shift: expected an integer from 1 to 2^64 - 2^32")),
    }
}

/// Transforms a copy of the array.
fn transformed<'py>(
    a: &Bound<'py, PyAny>,
    choice: ThreadsAndLevel,
    transform: impl FnOnce(&GoldilocksDomain, &mut [Goldilocks]) + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    let Matrix { array, columns, domain, .. } = Matrix::new(a)?;
    let data = array.data();
    let result = choice.compute(py, || {
        let mut values = reserved(data.len())?;
        values.extend_from_slice(elements(data)?);
        if !values.is_empty() {
            transform(&domain, &mut values);
        }
        Ok(words(values))
    })?;
    shaped(py, result, columns)
}

/// An empty vector with memory for `count` elements.
fn reserved(count: usize) -> Result<Vec<Goldilocks>, Fault> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| Fault::Memory(count.saturating_mul(8)))?;
    Ok(values)
}

/// Coefficients to values: row i of the result is the value at ``shift * w^i``, where w is the root of unity of order rows.
///
/// a: uint64 of shape (rows,), or (rows, columns) with a polynomial in each column; a power of two of rows, values below p. Returns a new
/// array of the same shape. Runs on all threads, without the GIL.
///
/// Raises TypeError, ValueError.
#[pyfunction]
#[pyo3(signature = (a, *, shift=1, threads=None, level=None))]
fn ntt<'py>(
    a: &Bound<'py, PyAny>,
    shift: u64,
    threads: Option<usize>,
    level: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let shift = shift_of(shift)?;
    transformed(a, ThreadsAndLevel::new(threads, level)?, |domain, values| {
        if shift == Goldilocks::ONE {
            domain.ntt(values, Order::Natural);
        } else {
            domain.coset_ntt(values, shift, Order::Natural);
        }
    })
}

/// Values to coefficients: the inverse of ``ntt`` with the same arguments.
#[pyfunction]
#[pyo3(signature = (a, *, shift=1, threads=None, level=None))]
fn intt<'py>(
    a: &Bound<'py, PyAny>,
    shift: u64,
    threads: Option<usize>,
    level: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let shift = shift_of(shift)?;
    transformed(a, ThreadsAndLevel::new(threads, level)?, |domain, values| {
        if shift == Goldilocks::ONE {
            domain.intt(values, Order::Natural);
        } else {
            domain.coset_intt(values, shift);
        }
    })
}

/// Low-degree extension: from values on the subgroup of order rows to values of the same polynomials at ``shift * w^i``, where w is the
/// root of unity of order ``blowup * rows``.
///
/// a: as for ``ntt``, with values instead of coefficients. blowup: a power of two. shift: by default 7, a generator of the field's group.
/// Returns a new array of shape (blowup * rows,) or (blowup * rows, columns).
///
/// Raises TypeError, ValueError, MemoryError.
#[pyfunction]
#[pyo3(signature = (a, blowup, *, shift=7, threads=None, level=None))]
fn lde<'py>(
    a: &Bound<'py, PyAny>,
    blowup: u64,
    shift: u64,
    threads: Option<usize>,
    level: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, shift) = (a.py(), shift_of(shift)?);
    let Matrix { array, rows, columns, domain } = Matrix::new(a)?;
    let data = array.data();
    let extended = usize::try_from(blowup).ok().filter(|blowup| blowup.is_power_of_two());
    let extended = extended.and_then(|blowup| rows.checked_mul(blowup)).filter(|rows| rows.ilog2() <= 32);
    let count = extended.and_then(|rows| rows.checked_mul(columns.unwrap_or(1)));
    let Some(count) = count else {
        return Err(PyValueError::new_err(
            "blowup: expected a power of two, and at most 2^32 rows of the result",
        ));
    };
    let result = ThreadsAndLevel::new(threads, level)?.compute(py, || {
        let values = elements(data)?;
        let mut extension = reserved(count)?;
        extension.resize(count, Goldilocks::ZERO);
        if count > 0 {
            domain.low_degree_extension(values, shift, &mut extension, Order::Natural);
        }
        Ok(words(extension))
    })?;
    shaped(py, result, columns)
}

/// The root of unity w of order rows, a power of two up to 2^32, that ``ntt`` evaluates at. Raises ValueError.
#[pyfunction]
fn root_of_unity(rows: u64) -> PyResult<u64> {
    let log_rows = if rows.is_power_of_two() { Some(rows.ilog2()) } else { None };
    let root = log_rows.and_then(Goldilocks::root_of_unity);
    Ok(root
        .ok_or_else(|| PyValueError::new_err("rows: expected a power of two, at most 2^32"))?
        .to_canonical())
}

pub(crate) fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let module = PyModule::new(py, "proofmill.goldilocks")?;
    module.setattr(
        "__doc__",
        "Number-theoretic transforms over the Goldilocks field, of p = 2^64 - 2^32 + 1.",
    )?;
    module.add("MODULUS", MODULUS)?;
    module.add_function(wrap_pyfunction!(ntt, &module)?)?;
    module.add_function(wrap_pyfunction!(intt, &module)?)?;
    module.add_function(wrap_pyfunction!(lde, &module)?)?;
    module.add_function(wrap_pyfunction!(root_of_unity, &module)?)?;
    Ok(module)
}
