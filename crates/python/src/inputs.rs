//! A circuit's inputs, from Python's values to the JSON that circom's tools read.

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use proofmill::{
    Result,
    circom::{CircuitCache, Witness, WitnessCalculator},
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBool, PyBytes, PyDict, PyInt, PyList, PyString, PyTuple},
};
use std::{fs, path::PathBuf};
use zeroize::Zeroizing;

/// Inputs as an argument.
pub(crate) enum Inputs {
    /// JSON.
    Text(Zeroizing<Vec<u8>>),
    /// A file of JSON.
    File(PathBuf),
}

impl Inputs {
    /// A dict of integers and of nested lists, tuples and arrays of them; JSON as `str` or `bytes`; or a path that is not a `str`.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(inputs) = object.cast::<PyDict>() {
            let mut text = Zeroizing::new(Vec::new());
            dict(inputs, &mut text)?;
            return Ok(Self::Text(text));
        }
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Self::Text(Zeroizing::new(text.extract::<String>()?.into_bytes())));
        }
        if let Ok(text) = object.cast::<PyBytes>() {
            return Ok(Self::Text(Zeroizing::new(text.as_bytes().to_vec())));
        }
        object
            .extract()
            .map(Self::File)
            .map_err(|_| PyTypeError::new_err("inputs: expected a dict, JSON text or a pathlib.Path"))
    }

    /// Compiles the circuit of these inputs into the user's cache, if it is not there.
    pub(crate) fn keep(&self, circuit: &[u8]) {
        let cache = CircuitCache::of_user();
        match self {
            Self::Text(text) => cache.keep(circuit, text),
            Self::File(path) => {
                if let Ok(text) = fs::read(path) {
                    cache.keep(circuit, &Zeroizing::new(text));
                }
            }
        }
    }

    pub(crate) fn calculate(&self, circuit: &WitnessCalculator) -> Result<Witness> {
        match self {
            Self::Text(text) => circuit.calculate(text),
            Self::File(path) => circuit.calculate_file(path),
        }
    }
}

fn dict(inputs: &Bound<'_, PyDict>, text: &mut Vec<u8>) -> PyResult<()> {
    text.push(b'{');
    for (index, (name, value)) in inputs.iter().enumerate() {
        let name: String =
            name.extract().map_err(|_| PyTypeError::new_err("inputs: expected names of signals as keys"))?;
        if index > 0 {
            text.push(b',');
        }
        quote(&name, text);
        text.push(b':');
        write(&name, &value, 0, text)?;
    }
    text.push(b'}');
    Ok(())
}

fn quote(string: &str, text: &mut Vec<u8>) {
    text.extend(serde_json::Value::from(string).to_string().bytes());
}

/// The signals of circuits have few dimensions; lists that contain themselves end here.
const DEEPEST: usize = 64;

fn write(name: &str, value: &Bound<'_, PyAny>, depth: usize, text: &mut Vec<u8>) -> PyResult<()> {
    if depth > DEEPEST {
        return Err(PyValueError::new_err(format!(
            "inputs[{name:?}]: expected at most {DEEPEST} dimensions"
        )));
    }
    if let Ok(value) = value.cast::<PyBool>() {
        text.push(if value.is_true() { b'1' } else { b'0' });
    } else if let Ok(value) = value.cast::<PyString>() {
        quote(
            value.extract::<&str>().map(str::to_owned).or_else(|_| value.extract::<String>())?.as_str(),
            text,
        );
    } else if value.is_instance_of::<PyInt>() {
        // In quotes, because JSON's numbers are read as 64 bits.
        quote(&value.str()?.extract::<String>()?, text);
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        text.push(b'[');
        for (index, value) in value.try_iter()?.enumerate() {
            if index > 0 {
                text.push(b',');
            }
            write(name, &value?, depth + 1, text)?;
        }
        text.push(b']');
    } else if let Ok(array) = value.cast::<PyUntypedArray>() {
        if !matches!(array.dtype().kind(), b'u' | b'i' | b'b' | b'O') {
            return Err(refuse(name, &format!("an array of {}", array.dtype())));
        }
        write(name, &value.call_method0("tolist")?, depth + 1, text)?;
    } else if let Ok(index) = value.call_method0("__index__") {
        write(name, &index, depth + 1, text)?;
    } else {
        return Err(refuse(name, &value.get_type().name()?.to_string()));
    }
    Ok(())
}

fn refuse(name: &str, found: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "inputs[{name:?}]: expected integers, strings of digits, lists or arrays of them, found {found}"
    ))
}
