//! `proofmill.merkle`: Merkle trees over the rows of a matrix.

use crate::{
    arrays::{Array, matrix},
    error::Fault,
    work::{ThreadsAndLevel, compute},
};
use numpy::PyArray2;
use proofmill::merkle::{self as lower, Digest, Hash, Rows};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBytes, PyTuple},
};
use std::path::PathBuf;

/// The hash of this name.
pub(crate) fn hash_of(name: &str) -> PyResult<Hash> {
    name.parse().map_err(|error| PyValueError::new_err(format!("hash: {error}")))
}

/// A matrix as an argument.
fn rows_of<'py>(rows: &Bound<'py, PyAny>) -> PyResult<(Array<'py, u64>, usize)> {
    let rows = Array::<u64>::borrow("rows", rows)?;
    let [count, columns] = rows.axes("(rows, columns)")?;
    if count == 0 || columns == 0 {
        return Err(rows.refuse("(rows, columns) without a 0"));
    }
    Ok((rows, columns))
}

/// The root of a tree, with the tree's hash and shape. A verifier of openings must know them from a source that it trusts. digest: 64
/// hexadecimal digits, or 32 bytes as ``bytes(root)`` returns them.
///
/// Raises Malformed.
#[pyclass(frozen, eq, module = "proofmill.merkle")]
#[derive(PartialEq)]
pub(crate) struct Root {
    digest: Digest,
    rows: u64,
    columns: u64,
}

#[pymethods]
impl Root {
    #[new]
    #[pyo3(signature = (digest, *, hash, rows, columns))]
    fn new(digest: &Bound<'_, PyAny>, hash: &str, rows: u64, columns: u64) -> PyResult<Self> {
        let hash = hash_of(hash)?;
        let digest = if let Ok(bytes) = digest.cast::<PyBytes>() {
            let Ok(bytes) = bytes.as_bytes().try_into() else {
                return Err(PyValueError::new_err("digest: expected 32 bytes"));
            };
            Digest::from_bytes(hash, bytes)
        } else {
            let text: String = digest
                .extract()
                .map_err(|_| PyTypeError::new_err("digest: expected bytes or hexadecimal digits"))?;
            Digest::from_hex(hash, &text)
        };
        Ok(Self { digest: digest.map_err(Fault::from)?, rows, columns })
    }

    /// The name of the hash.
    #[getter]
    fn hash(&self) -> &'static str {
        self.digest.hash().name()
    }

    /// The number of rows of the tree.
    #[getter]
    fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of words of a row.
    #[getter]
    fn columns(&self) -> u64 {
        self.columns
    }

    /// 64 hexadecimal digits: bytes in order; for a hash over a field its elements in order, each with its most significant digit first.
    fn hex(&self) -> String {
        self.digest.to_string()
    }

    /// 32 bytes; for a hash over a field, little-endian elements.
    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.digest.to_bytes())
    }

    fn __hash__(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.digest.to_bytes();
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    fn __repr__(&self) -> String {
        let Self { digest, rows, columns } = self;
        format!("proofmill.merkle.Root('{digest}', hash='{}', rows={rows}, columns={columns})", digest.hash())
    }
}

/// A Merkle tree over the rows of an array of uint64 with shape (rows, columns), of a power of two of rows.
///
/// hash: "poseidon", "poseidon2", "poseidon2-8", "poseidon2-12-8" and "poseidon-bn254" take values below 2^64 - 2^32 + 1, "keccak" and
/// "sha256" take any. The tree has its nodes, and a reference to the array, which must not change while the tree is used: nothing is
/// copied.
///
/// Raises TypeError, ValueError, and Malformed for another number of rows, or a value that is too large, with its position.
#[pyclass(frozen, module = "proofmill.merkle")]
pub(crate) struct Tree {
    tree: lower::Tree,
    rows: Py<PyAny>,
    root: Root,
}

#[pymethods]
impl Tree {
    #[new]
    #[pyo3(signature = (rows, hash="poseidon2", *, threads=None, level=None))]
    fn new(
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        hash: &str,
        threads: Option<usize>,
        level: Option<&str>,
    ) -> PyResult<Self> {
        let hash = hash_of(hash)?;
        let (array, columns) = rows_of(rows)?;
        let words = array.data();
        let tree = ThreadsAndLevel::new(threads, level)?
            .compute(py, || Ok(lower::Tree::build(hash, &Rows::new(words, columns)?)?))?;
        let root =
            Root { digest: tree.root(), rows: (words.len() / columns) as u64, columns: columns as u64 };
        Ok(Self { tree, rows: rows.clone().unbind(), root })
    }

    /// The root.
    #[getter]
    fn root(&self) -> Root {
        let Root { digest, rows, columns } = self.root;
        Root { digest, rows, columns }
    }

    /// Opens the rows of ascending indices.
    ///
    /// Raises Malformed for indices that are out of range, not ascending, or empty.
    fn open(&self, py: Python<'_>, indices: Vec<usize>) -> PyResult<Opening> {
        let (array, columns) = rows_of(self.rows.bind(py))?;
        let words = array.data();
        compute(py, || Ok(Opening(self.tree.open(&Rows::new(words, columns)?, &indices)?)))
    }

    fn __repr__(&self) -> String {
        format!("proofmill.merkle.Tree of {} rows with root {}", self.root.rows, self.root.digest)
    }
}

/// Rows of a tree, with the nodes that authenticate them against the root. ``Tree.open`` makes one.
#[pyclass(frozen, module = "proofmill.merkle")]
pub(crate) struct Opening(lower::Opening);

#[pymethods]
impl Opening {
    /// Parses an opening's JSON. Raises Malformed.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        compute(py, || Ok(Self(lower::Opening::from_json(text)?)))
    }

    /// Verifies that the rows are in the tree with this root, which must come from a source that the caller trusts. Returns None for a
    /// valid opening only: every other outcome is an exception.
    ///
    /// Raises Rejected if the rows do not lead to the root, Mismatch for an opening of another shape or hash, Malformed.
    fn verify(&self, py: Python<'_>, root: &Root) -> PyResult<()> {
        compute(py, || Ok(self.0.verify(root.rows, root.columns, &root.digest)?))
    }

    /// The indices of the opened rows: a tuple.
    #[getter]
    fn indices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.indices())
    }

    /// The opened rows: a new array of uint64 with shape (indices, columns).
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let rows = (0..self.0.indices().len()).flat_map(|position| self.0.row(position));
        matrix(py, rows.copied().collect(), self.0.columns() as usize)
    }

    /// The JSON text.
    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// Writes a JSON file, completely or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        compute(py, || Ok(self.0.save(path)?))
    }

    fn __repr__(&self) -> String {
        format!("proofmill.merkle.Opening of {} rows of {}", self.0.indices().len(), self.0.rows())
    }
}

/// The root of the tree over the rows, without keeping its nodes. The arguments are those of Tree.
#[pyfunction]
#[pyo3(signature = (rows, hash="poseidon2", *, threads=None, level=None))]
fn root(
    py: Python<'_>,
    rows: &Bound<'_, PyAny>,
    hash: &str,
    threads: Option<usize>,
    level: Option<&str>,
) -> PyResult<Root> {
    let hash = hash_of(hash)?;
    let (array, columns) = rows_of(rows)?;
    let words = array.data();
    let digest = ThreadsAndLevel::new(threads, level)?
        .compute(py, || Ok(lower::root(hash, &Rows::new(words, columns)?)?))?;
    Ok(Root { digest, rows: (words.len() / columns) as u64, columns: columns as u64 })
}

pub(crate) fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let module = PyModule::new(py, "proofmill.merkle")?;
    module.setattr("__doc__", "Merkle trees over the rows of a matrix of 64-bit words.")?;
    module.add_class::<Root>()?;
    module.add_class::<Tree>()?;
    module.add_class::<Opening>()?;
    module.add_function(wrap_pyfunction!(root, &module)?)?;
    Ok(module)
}
