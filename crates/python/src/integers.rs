//! Field elements as Python's integers.

use proofmill::{
    circom::PublicSignals,
    field::{Fp, Prime},
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    intern,
    prelude::*,
    types::{PyBytes, PyString, PyTuple},
};
use std::path::PathBuf;

/// The integer of a field element.
pub(crate) fn integer<'py, P: Prime>(py: Python<'py>, value: Fp<P>) -> PyResult<Bound<'py, PyAny>> {
    let bytes = PyBytes::new(py, &value.to_bytes_le());
    py.get_type::<pyo3::types::PyInt>()
        .call_method1(intern!(py, "from_bytes"), (bytes, intern!(py, "little")))
}

/// The integers of field elements.
pub(crate) fn integers<'py, P: Prime>(py: Python<'py>, values: &[Fp<P>]) -> PyResult<Bound<'py, PyTuple>> {
    let values: PyResult<Vec<_>> = values.iter().map(|value| integer(py, *value)).collect();
    PyTuple::new(py, values?)
}

/// The element of an integer, or of a string of decimal digits as in snarkjs's files.
pub(crate) fn element<P: Prime>(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Fp<P>> {
    let py = object.py();
    let digits = if object.is_instance_of::<PyString>() {
        object.clone()
    } else {
        let index = py.import("operator")?.call_method1(intern!(py, "index"), (object,)).map_err(|_| {
            PyTypeError::new_err(format!("{name}: expected an integer or a string of decimal digits"))
        })?;
        index.str()?.into_any()
    };
    let value = digits.extract::<String>()?.parse();
    value.map_err(|_| {
        PyValueError::new_err(format!("{name}: expected an integer from 0 to the field's modulus - 1"))
    })
}

/// The elements of a sequence.
pub(crate) fn elements_of<P: Prime>(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<Fp<P>>> {
    let values = object
        .try_iter()
        .map_err(|_| PyTypeError::new_err(format!("{name}: expected a sequence of integers")))?;
    values.enumerate().map(|(index, value)| element(&format!("{name}[{index}]"), &value?)).collect()
}

/// Public signals as an argument.
pub(crate) enum Public {
    /// The signals as values.
    Values(PublicSignals),
    /// The path of a `public.json` file.
    File(PathBuf),
}

impl Public {
    /// A path, or a sequence of integers or of strings of decimal digits.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(path) = object.extract() {
            return Ok(Self::File(path));
        }
        Ok(Self::Values(elements_of("public", object)?.into()))
    }

    pub(crate) fn open(self) -> proofmill::Result<PublicSignals> {
        match self {
            Self::Values(values) => Ok(values),
            Self::File(path) => PublicSignals::open(path),
        }
    }
}
