//! A Groth16 proof in parts, for several machines: added to `proofmill.groth16`.

use crate::{
    arrays::{Array, Words, elements, encode, matrix},
    error::Fault,
    source::Source,
    systems::groth16::Proof,
    work::{Choice, Job, compute},
};
use numpy::PyArray2;
use proofmill::{
    circom::Witness,
    field::Fr,
    groth16::{self as lower, ProvingKey},
};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use std::ops::Range;
use zeroize::Zeroizing;

/// Sums of points of a key over some of its wires, and over some points of its domain: parts of a proof, which ``+`` adds in any order.
/// They are not blinded: whoever knows them can test guesses of the witness.
#[pyclass(frozen, module = "proofmill.groth16")]
pub(crate) struct Sums(lower::Sums);

/// The sums of `values`, which are integers below the modulus.
fn sums(
    key: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    choice: Choice,
    sum: impl FnOnce(&ProvingKey, &[Fr]) -> proofmill::Result<lower::Sums> + Send,
) -> PyResult<Sums> {
    let (py, key) = (key.py(), Source::<ProvingKey>::new("key", key)?);
    let values = Array::<u64>::borrow("values", values)?;
    let [_, Fr::WORDS] = values.axes("(n, 4)")? else { return Err(values.refuse("(n, 4)")) };
    let words = values.data();
    choice.compute(py, || {
        let values = Zeroizing::new(elements("values", words)?);
        Ok(Sums(sum(&*key.open()?, &values)?))
    })
}

#[pymethods]
impl Sums {
    /// The sums of the wires from index ``first`` on that have these values: rows of ``Witness.to_numpy``.
    ///
    /// key: a path, bytes or a ProvingKey; of a file only what ``slice`` lists is read. Runs without the GIL.
    ///
    /// Raises Mismatch for more values than the key has wires, Malformed, OSError, TypeError, ValueError.
    #[staticmethod]
    #[pyo3(signature = (key, first, values, *, threads=None, level=None))]
    fn of_wires(
        key: &Bound<'_, PyAny>,
        first: usize,
        values: &Bound<'_, PyAny>,
        threads: Option<usize>,
        level: Option<&str>,
    ) -> PyResult<Self> {
        sums(key, values, Choice::new(threads, level)?, |key, values| key.sum_wires(first, values))
    }

    /// The sum of the quotient's values from index ``first`` on: rows of ``quotient``. The rest is as for ``of_wires``.
    #[staticmethod]
    #[pyo3(signature = (key, first, values, *, threads=None, level=None))]
    fn of_quotient(
        key: &Bound<'_, PyAny>,
        first: usize,
        values: &Bound<'_, PyAny>,
        threads: Option<usize>,
        level: Option<&str>,
    ) -> PyResult<Self> {
        sums(key, values, Choice::new(threads, level)?, |key, values| key.sum_quotient(first, values))
    }

    /// Decodes ``to_bytes``. Raises ValueError for anything but points of their groups.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        const BYTES: usize = lower::Sums::BYTES;
        let found = bytes.len();
        let bytes = bytes
            .try_into()
            .map_err(|_| PyValueError::new_err(format!("bytes: expected {BYTES} bytes, found {found}")))?;
        let sums = lower::Sums::from_bytes(bytes);
        sums.map(Self).map_err(|error| PyValueError::new_err(format!("bytes: {error}")))
    }

    /// The points A, B1, B2 and C in the encodings of Ethereum's precompiled contracts: 320 bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    fn __add__(&self, other: &Self) -> Self {
        Self(self.0 + other.0)
    }

    fn __repr__(&self) -> &'static str {
        "proofmill.groth16.Sums"
    }
}

/// The scalars of the points H: a new array of uint64 with shape (domain, 4), integers below the modulus, each with its least significant
/// word first. They are as secret as the witness.
///
/// key, witness: a path, bytes or an object. Runs without the GIL. Raises Mismatch for a witness of another circuit, Malformed, OSError.
#[pyfunction]
#[pyo3(signature = (key, witness, *, threads=None, level=None))]
fn quotient<'py>(
    py: Python<'py>,
    key: &Bound<'py, PyAny>,
    witness: &Bound<'py, PyAny>,
    threads: Option<usize>,
    level: Option<&str>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (key, witness) =
        (Source::<ProvingKey>::new("key", key)?, Source::<Witness>::new("witness", witness)?);
    let words = Choice::new(threads, level)?
        .compute(py, || Ok::<_, Fault>(encode(&key.open()?.quotient(&*witness.open()?)?)))?;
    matrix(py, words, Fr::WORDS)
}

/// The proof, from the sums over all wires and the whole quotient. It is verified before it is returned.
///
/// Raises what ``ProvingKey.prove`` raises; Unsatisfied also for sums that are wrong or not complete.
#[pyfunction]
#[pyo3(signature = (key, witness, sums, *, allow_insecure_setup=false))]
fn assemble(
    py: Python<'_>,
    key: &Bound<'_, PyAny>,
    witness: &Bound<'_, PyAny>,
    sums: &Sums,
    allow_insecure_setup: bool,
) -> PyResult<Proof> {
    let (key, witness) =
        (Source::<ProvingKey>::new("key", key)?, Source::<Witness>::new("witness", witness)?);
    let sums = sums.0;
    Job::new(py).allow_insecure_setup(allow_insecure_setup).run(move || {
        let key = key.open()?;
        Ok(Proof::new(key.assemble(&*witness.open()?, &sums)?, &key))
    })
}

/// The number of wires of a key, and of points of its domain: the lengths of witness and quotient.
#[pyfunction]
fn shape(py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<(u32, u32)> {
    let key = Source::<ProvingKey>::new("key", key)?;
    compute(py, || {
        let key = key.open()?;
        Ok((key.wires(), key.domain_size()))
    })
}

/// The bytes of a key that the sums of the wires in [wires[0], wires[1]) and of the quotient's values in [domain[0], domain[1]) read:
/// ascending ranges of the file, as pairs. A file of the key's length with these bytes, and holes elsewhere, opens as a key for these sums.
#[pyfunction]
fn slice(
    py: Python<'_>,
    key: &Bound<'_, PyAny>,
    wires: (usize, usize),
    domain: (usize, usize),
) -> PyResult<Vec<(usize, usize)>> {
    let key = Source::<ProvingKey>::new("key", key)?;
    let range = |(start, end): (usize, usize)| start..end;
    compute(py, || {
        let slice: Vec<Range<usize>> = key.open()?.slice(range(wires), range(domain));
        Ok(slice.into_iter().map(|range| (range.start, range.end)).collect())
    })
}

/// Adds the class and the functions to the module of the proof system.
pub(crate) fn add<'py>(module: Bound<'py, PyModule>) -> PyResult<Bound<'py, PyModule>> {
    module.add_class::<Sums>()?;
    module.add_function(wrap_pyfunction!(quotient, &module)?)?;
    module.add_function(wrap_pyfunction!(assemble, &module)?)?;
    module.add_function(wrap_pyfunction!(shape, &module)?)?;
    module.add_function(wrap_pyfunction!(slice, &module)?)?;
    Ok(module)
}
