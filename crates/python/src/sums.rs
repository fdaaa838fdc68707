//! A Groth16 proof in parts, for several machines: added to `proofmill.groth16`.

use crate::{
    arrays::{Array, WordValue, decode, elements, encode, matrix},
    error::Fault,
    source::Source,
    systems::groth16::Proof,
    work::{BackgroundJob, ThreadsAndLevel, compute},
};
use numpy::{IntoPyArray, PyArray2, PyArray3, PyArray4, PyArrayMethods};
use proofmill::{
    circom::Witness,
    field::Fr,
    groth16::{self as lower, ProvingKey},
};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use std::ops::Range;
use zeroize::Zeroizing;

/// The quotient of keys over BN254.
type Steps = lower::DividedQuotient;

/// Sums of points of a key over some of its wires, and over some points of its domain: parts of a proof, which ``+`` adds in any order.
/// They are not blinded: whoever knows them can test guesses of the witness.
#[pyclass(frozen, module = "proofmill.groth16")]
pub(crate) struct Sums(lower::Sums);

/// The sums of `values`, which are integers below the modulus.
fn sums(
    key: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    choice: ThreadsAndLevel,
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
        sums(key, values, ThreadsAndLevel::new(threads, level)?, |key, values| key.sum_wires(first, values))
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
        sums(key, values, ThreadsAndLevel::new(threads, level)?, |key, values| {
            key.sum_quotient(first, values)
        })
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
    let words = ThreadsAndLevel::new(threads, level)?
        .compute(py, || Ok::<_, Fault>(encode(&key.open()?.quotient(&*witness.open()?)?)))?;
    matrix(py, words, Fr::WORDS)
}

/// The values of A and B times the witness on the domain, with which a ``DividedQuotient`` begins: a new array of uint64 with shape
/// (2, rows, columns, 4), or (2, domain, 1, 4) for a domain that cannot be divided. They are secret, and in the form of
/// ``DividedQuotient``.
///
/// Arguments and exceptions are those of ``quotient``.
#[pyfunction]
#[pyo3(signature = (key, witness, *, threads=None, level=None))]
fn constraints<'py>(
    py: Python<'py>,
    key: &Bound<'py, PyAny>,
    witness: &Bound<'py, PyAny>,
    threads: Option<usize>,
    level: Option<&str>,
) -> PyResult<Bound<'py, PyArray4<u64>>> {
    let (key, witness) =
        (Source::<ProvingKey>::new("key", key)?, Source::<Witness>::new("witness", witness)?);
    let (words, points) = ThreadsAndLevel::new(threads, level)?.compute(py, || {
        let key = key.open()?;
        let values = key.constraints(&*witness.open()?)?;
        Ok::<_, Fault>((raw(&values), key.domain_size() as usize))
    })?;
    let [rows, columns] = Steps::new(points).map_or([points, 1], |steps| [steps.rows(), steps.columns()]);
    words.into_pyarray(py).reshape([2, rows, columns, Fr::WORDS])
}

/// The quotient, divided among machines in three steps of each, between which all send values to all.
///
/// points: of the domain. It is a matrix of ``rows`` times ``columns``. A machine has a range of the columns and one of the rows, whose
/// bounds are multiples of ``LANES``. It begins with its columns of ``constraints``. Each step yields an array, of which each machine is
/// sent its rows, ``[:, start:end]``, and joins such pieces with ``numpy.concatenate(pieces, axis=2)`` for its next step. After the last
/// step, each is sent its rows, ``[start:end]``, joins them with ``axis=1``, and has a range of the ``quotient``.
///
/// Between the steps, values are in a form of their own, as uint64 with least significant words first. All are secret.
///
/// Raises ValueError for a domain that is no power of two, of less than 64 points or larger than the field allows.
#[pyclass(frozen, module = "proofmill.groth16")]
pub(crate) struct DividedQuotient(Steps);

#[pymethods]
impl DividedQuotient {
    /// What divides the bounds of ranges.
    #[classattr]
    const LANES: usize = Steps::LANES;

    #[new]
    fn new(points: usize) -> PyResult<Self> {
        let problem = || {
            PyValueError::new_err(format!("points: expected a power of two from 64 to 2^27, found {points}"))
        };
        Steps::new(points).map(Self).ok_or_else(problem)
    }

    /// The number of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// The number of columns.
    #[getter]
    fn columns(&self) -> usize {
        self.0.columns()
    }

    /// Step 1: from columns of the constraints, of shape (2, rows, n, 4), the first of which is ``first``, to (3, rows, n, 4).
    ///
    /// Runs without the GIL. Raises TypeError, and ValueError for values and ranges that are not as described.
    #[pyo3(signature = (first, values, *, threads=None, level=None))]
    fn interpolate<'py>(
        &self,
        first: usize,
        values: &Bound<'py, PyAny>,
        threads: Option<usize>,
        level: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray4<u64>>> {
        let (rows, columns) = (self.rows(), self.columns());
        let (array, range) = part(values, "(2, rows, n, 4)", [Some(2), Some(rows), None], (first, columns))?;
        let (width, words) = (range.len(), array.data());
        let words = ThreadsAndLevel::new(threads, level)?
            .compute(values.py(), || Ok::<_, Fault>(raw(&self.0.interpolate(range, matrices(words)?))))?;
        words.into_pyarray(values.py()).reshape([3, rows, width, Fr::WORDS])
    }

    /// Step 2: from rows of step 1's results, of shape (3, n, columns, 4), the first of which is ``first``, to (3, columns, n, 4).
    ///
    /// The rest is as for ``interpolate``.
    #[pyo3(signature = (first, values, *, threads=None, level=None))]
    fn extend<'py>(
        &self,
        first: usize,
        values: &Bound<'py, PyAny>,
        threads: Option<usize>,
        level: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray4<u64>>> {
        let (rows, columns) = (self.rows(), self.columns());
        let (array, range) =
            part(values, "(3, n, columns, 4)", [Some(3), None, Some(columns)], (first, rows))?;
        let (width, words) = (range.len(), array.data());
        let words = ThreadsAndLevel::new(threads, level)?
            .compute(values.py(), || Ok::<_, Fault>(raw(&self.0.extend(range, matrices(words)?))))?;
        words.into_pyarray(values.py()).reshape([3, columns, width, Fr::WORDS])
    }

    /// Step 3: from rows of step 2's results, of shape (3, n, rows, 4), to the columns of the quotient from ``first`` on, of shape
    /// (rows, n, 4): integers below the modulus.
    ///
    /// The rest is as for ``interpolate``.
    #[pyo3(signature = (first, values, *, threads=None, level=None))]
    fn finish<'py>(
        &self,
        first: usize,
        values: &Bound<'py, PyAny>,
        threads: Option<usize>,
        level: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray3<u64>>> {
        let (rows, columns) = (self.rows(), self.columns());
        let (array, range) = part(values, "(3, n, rows, 4)", [Some(3), None, Some(rows)], (first, columns))?;
        let (width, words) = (range.len(), array.data());
        let words = ThreadsAndLevel::new(threads, level)?
            .compute(values.py(), || Ok::<_, Fault>(encode(&self.0.finish(range, matrices(words)?))))?;
        words.into_pyarray(values.py()).reshape([rows, width, Fr::WORDS])
    }

    fn __repr__(&self) -> String {
        format!("proofmill.groth16.DividedQuotient of {} times {} points", self.rows(), self.columns())
    }
}

/// Borrows the matrices that a step takes, whose first three axes have these lengths; the one without a length is the number of rows or
/// columns that this machine has, from `first` of `end` on. Returns their range, too.
fn part<'py>(
    values: &Bound<'py, PyAny>,
    shape: &str,
    lengths: [Option<usize>; 3],
    (first, end): (usize, usize),
) -> PyResult<(Array<'py, u64>, Range<usize>)> {
    let array = Array::borrow("values", values)?;
    let [a, b, c, Fr::WORDS] = array.axes(shape)? else { return Err(array.refuse(shape)) };
    let mut count = 0;
    for (expected, found) in lengths.into_iter().zip([a, b, c]) {
        match expected {
            None => count = found,
            Some(expected) if expected != found => return Err(array.refuse(shape)),
            Some(_) => (),
        }
    }
    let lanes = Steps::LANES;
    let last = first.checked_add(count).filter(|last| *last <= end && count > 0);
    let last = last.filter(|last| first.is_multiple_of(lanes) && last.is_multiple_of(lanes));
    let problem = || {
        PyValueError::new_err(format!(
            "first: expected a range below {end} with bounds that {lanes} divides, found {count} from {first} on"
        ))
    };
    Ok((array, first..last.ok_or_else(problem)?))
}

/// The elements of N matrices.
fn matrices<const N: usize>(words: &[u64]) -> Result<[Zeroizing<Vec<Fr>>; N], Fault> {
    let read = |words: &[u64]| Fr::from_montgomery(words.try_into().ok()?);
    let mut matrices = std::array::from_fn(|_| Zeroizing::default());
    for (matrix, words) in matrices.iter_mut().zip(words.chunks_exact((words.len() / N).max(1))) {
        *matrix = Zeroizing::new(decode("values", words, Fr::WORDS, "results of the step before", read)?);
    }
    Ok(matrices)
}

/// The words of matrices in the form of the steps.
fn raw(matrices: &[Zeroizing<Vec<Fr>>]) -> Vec<u64> {
    let mut words = Vec::with_capacity(matrices.iter().map(|values| values.len() * Fr::WORDS).sum());
    for value in matrices.iter().flat_map(|values| values.iter()) {
        words.extend_from_slice(&value.to_montgomery());
    }
    words
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
    BackgroundJob::new(py).allow_insecure_setup(allow_insecure_setup).run(move || {
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
    module.add_class::<DividedQuotient>()?;
    module.add_function(wrap_pyfunction!(constraints, &module)?)?;
    module.add_function(wrap_pyfunction!(quotient, &module)?)?;
    module.add_function(wrap_pyfunction!(assemble, &module)?)?;
    module.add_function(wrap_pyfunction!(shape, &module)?)?;
    module.add_function(wrap_pyfunction!(slice, &module)?)?;
    Ok(module)
}
