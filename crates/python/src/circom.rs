//! `proofmill.circom`: circuits, witnesses, and programs that calculate witnesses.

use crate::{
    arrays::{Array, WordValue, elements, encode, matrix},
    inputs::Inputs,
    integers::{elements_of, integer},
    source::{Source, opens},
    work::{BackgroundJob, compute},
};
use numpy::PyArray2;
use proofmill::{
    circom::{self as lower, Limits, Symbols},
    field::Fr,
};
use pyo3::{exceptions::PyIndexError, prelude::*, types::PyBytes};
use std::{path::PathBuf, sync::Arc};

/// The constraints of a circuit: the path or the content of an ``.r1cs`` file.
///
/// Raises OSError, and Malformed for anything but constraints over BN254's scalar field.
#[pyclass(frozen, module = "proofmill.circom")]
pub(crate) struct R1cs(pub(crate) Arc<lower::R1cs>);

opens!(lower::R1cs, R1cs, |bytes| Self::from_bytes(bytes));

#[pymethods]
impl R1cs {
    #[new]
    fn new(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Self> {
        let source = Source::<lower::R1cs>::new("source", source)?;
        compute(py, || Ok(Self(source.open()?)))
    }

    /// The number of constraints.
    #[getter]
    fn constraints(&self) -> u32 {
        self.0.constraints()
    }

    /// The number of wires, including the constant 1: the length of a witness.
    #[getter]
    fn wires(&self) -> u32 {
        self.0.wires()
    }

    /// The number of public signals: outputs and public inputs.
    #[getter]
    fn public_signals(&self) -> u32 {
        self.0.public_signals()
    }

    /// Checks that a witness (a path, bytes or a Witness) satisfies every constraint. symbols: the path of a ``.sym`` file, from which
    /// the message names the signals of the constraint that fails, never their values.
    ///
    /// Raises Unsatisfied with the first constraint that does not hold, Mismatch for a witness of another length.
    #[pyo3(signature = (witness, symbols=None))]
    fn check(&self, py: Python<'_>, witness: &Bound<'_, PyAny>, symbols: Option<PathBuf>) -> PyResult<()> {
        let witness = Source::<lower::Witness>::new("witness", witness)?;
        compute(py, || {
            let symbols = symbols.map(Symbols::open).transpose()?;
            Ok(self.0.check_named(&*witness.open()?, symbols.as_ref())?)
        })
    }

    /// Writes an ``.r1cs`` file, completely or not at all, in which the wires are their own labels.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        compute(py, || Ok(self.0.save(path)?))
    }

    /// The bytes of such a file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &compute(py, || Ok(self.0.to_bytes()))?))
    }

    fn __repr__(&self) -> String {
        format!("proofmill.circom.R1cs of {} constraints and {} wires", self.0.constraints(), self.0.wires())
    }
}

/// The value of every wire of a circuit: the path or the content of a ``.wtns`` file. The values are the prover's secret. They are
/// wiped from memory when the object is freed; those that ``to_numpy`` or indexing hands out are not.
///
/// Raises OSError, and Malformed for anything but a witness over BN254's scalar field.
#[pyclass(frozen, name = "Witness", module = "proofmill.circom")]
pub(crate) struct Witness(pub(crate) Arc<lower::Witness>);

opens!(lower::Witness, Witness, |bytes| Self::from_bytes(bytes));

#[pymethods]
impl Witness {
    #[new]
    fn new(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Self> {
        let source = Source::<lower::Witness>::new("source", source)?;
        compute(py, || Ok(Self(source.open()?)))
    }

    /// The witness of an array of uint64 with shape (wires, 4): integers below the modulus, each with its least significant word first. For
    /// a circuit of circom's the first value must be 1.
    ///
    /// Raises TypeError, ValueError.
    #[staticmethod]
    fn from_numpy(py: Python<'_>, values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let values = Array::<u64>::borrow("values", values)?;
        let [_, Fr::WORDS] = values.axes("(wires, 4)")? else { return Err(values.refuse("(wires, 4)")) };
        let words = values.data();
        compute(py, || Ok(Self(Arc::new(lower::Witness::from_values(elements("values", words)?)))))
    }

    /// The witness of a sequence of integers below the modulus.
    #[staticmethod]
    fn from_values(values: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(Arc::new(lower::Witness::from_values(elements_of("values", values)?))))
    }

    /// The values as a new array of uint64 with shape (wires, 4): integers below the modulus, each with its least significant word
    /// first.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        matrix(py, compute(py, || Ok(encode(self.0.values())))?, Fr::WORDS)
    }

    /// Writes a ``.wtns`` file, completely or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        compute(py, || Ok(self.0.save(path)?))
    }

    /// The bytes of a ``.wtns`` file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &compute(py, || Ok(self.0.to_bytes()))?))
    }

    fn __len__(&self) -> usize {
        self.0.values().len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        let values = self.0.values();
        let at = if index < 0 { values.len().checked_add_signed(index) } else { usize::try_from(index).ok() };
        let value = at.and_then(|at| values.get(at));
        integer(py, *value.ok_or_else(|| PyIndexError::new_err("wire out of range"))?)
    }

    fn __repr__(&self) -> String {
        format!("proofmill.circom.Witness of {} wires", self.0.values().len())
    }
}

/// A circuit that calculates witnesses from its inputs: the path or the content of the WASM that ``circom --wasm`` writes, of what
/// ``proofmill wtns compile`` makes of it, or of a graph of
/// circom-witnesscalc, which checks no assertions.
///
/// symbols: the path of a ``.sym`` file, from which messages name signals. max_steps: the most steps of the WASM, of which
/// each takes up to a few nanoseconds; without a limit a hostile program may run for ever.
///
/// Raises OSError, and Malformed for anything but a circuit of circom's.
#[pyclass(frozen, module = "proofmill.circom")]
pub(crate) struct WitnessCalculator(pub(crate) Arc<lower::WitnessCalculator>);

opens!(lower::WitnessCalculator, WitnessCalculator, |bytes| Self::from_bytes(&bytes));

#[pymethods]
impl WitnessCalculator {
    #[new]
    #[pyo3(signature = (source, *, symbols=None, max_steps=None))]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        symbols: Option<PathBuf>,
        max_steps: Option<u64>,
    ) -> PyResult<Self> {
        let source = Source::<lower::WitnessCalculator>::new("source", source)?;
        let limits = Limits { steps: max_steps, ..Limits::default() };
        compute(py, || {
            let circuit = match source {
                Source::Path(path) => lower::WitnessCalculator::open_with_limits(path, limits)?,
                Source::Bytes(bytes) => lower::WitnessCalculator::with_limits(&bytes, limits)?,
                Source::Object(circuit) => return Ok(Self(circuit)),
            };
            let circuit = match symbols {
                Some(symbols) => circuit.with_symbols(Symbols::open(symbols)?),
                None => circuit,
            };
            Ok(Self(Arc::new(circuit)))
        })
    }

    /// Calculates the witness of inputs, which are as for ``groth16.fullprove``. Ctrl-C raises KeyboardInterrupt at once; a program that
    /// does not end goes on in the background until the process ends, unless there is a limit of its steps.
    ///
    /// Raises Malformed for inputs of another form and for a program that does not work, Mismatch for inputs that are not the circuit's,
    /// Unsatisfied for an assertion that fails.
    fn calculate(&self, py: Python<'_>, inputs: &Bound<'_, PyAny>) -> PyResult<Witness> {
        let (circuit, inputs) = (self.0.clone(), Inputs::new(inputs)?);
        BackgroundJob::new(py).run(move || Ok(Witness(Arc::new(inputs.calculate(&circuit)?))))
    }
}

pub(crate) fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let module = PyModule::new(py, "proofmill.circom")?;
    module.setattr(
        "__doc__",
        "Files of circom and snarkjs: circuits, witnesses, programs that calculate witnesses.",
    )?;
    module.add_class::<R1cs>()?;
    module.add_class::<Witness>()?;
    module.add_class::<WitnessCalculator>()?;
    Ok(module)
}
