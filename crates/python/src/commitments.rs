//! PLONK and fflonk with commitments that other machines make: added to `proofmill.plonk` and `proofmill.fflonk`.

use crate::{
    arrays::{Array, WordValue, elements, encode, matrix, vector},
    callback::Callback,
    error::Fault,
    source::Source,
    work::{BackgroundJob, ThreadsAndLevel, compute},
};
use numpy::PyArray1;
use proofmill::{
    circom::Witness,
    curve::{Affine, bn254::G1},
    field::{Fr, bn254::Fq},
    plonk::Commit,
    srs,
};
use pyo3::{exceptions::PyValueError, prelude::*};
use std::sync::Arc;
use zeroize::Zeroizing;

/// Words of a point.
const POINT: usize = 2 * Fq::WORDS;

/// Consecutive powers of tau in G1, from the range of a key's bytes that ``powers`` returns: points of 64 bytes.
///
/// Raises Malformed.
#[pyclass(frozen, module = "proofmill.plonk")]
struct Powers(srs::Powers);

#[pymethods]
impl Powers {
    /// Bytes of a power.
    #[classattr]
    const BYTES: usize = srs::Powers::BYTES;

    #[new]
    fn new(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        compute(py, || Ok(Self(srs::Powers::from_bytes(bytes)?)))
    }

    /// The sum of coefficients times the powers from index ``first`` of these on: uint64 of shape (n, 4), integers below the modulus, to a
    /// point of shape (8,), as for ``msm.bn254_g1``.
    ///
    /// Runs without the GIL. Raises Mismatch for more coefficients than powers, TypeError, ValueError.
    #[pyo3(signature = (first, values, *, threads=None, level=None))]
    fn sum<'py>(
        &self,
        first: usize,
        values: &Bound<'py, PyAny>,
        threads: Option<usize>,
        level: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let py = values.py();
        let values = Array::<u64>::borrow("values", values)?;
        let [_, Fr::WORDS] = values.axes("(n, 4)")? else { return Err(values.refuse("(n, 4)")) };
        let words = values.data();
        let point = ThreadsAndLevel::new(threads, level)?.compute(py, || {
            let values: Zeroizing<Vec<Fr>> = Zeroizing::new(elements("values", words)?);
            let point = self.0.sum(first, &values)?;
            Ok::<_, Fault>(encode(&[point.x, point.y]))
        })?;
        Ok(vector(py, point))
    }

    fn __repr__(&self) -> &'static str {
        "proofmill.plonk.Powers"
    }
}

/// The point that a function of Python returns for coefficients.
fn commit(function: &Bound<'_, PyAny>, coefficients: &[Fr]) -> PyResult<Affine<G1>> {
    let point = function.call1((matrix(function.py(), encode(coefficients), Fr::WORDS)?,))?;
    let point = Array::<u64>::borrow("commitment", &point)?;
    let [POINT] = point.axes("(8,)")? else { return Err(point.refuse("(8,)")) };
    let (x, y) = point.data().split_at(Fq::WORDS);
    let found = WordValue::read(x).zip(WordValue::read(y)).map(|(x, y)| Affine::<G1> { x, y });
    let found = found.filter(Affine::is_on_curve);
    found.ok_or_else(|| PyValueError::new_err("commitment: expected a point of BN254's G1"))
}

/// The functions of a proof system.
macro_rules! system {
    ($system:ident) => {
        pub(crate) mod $system {
            use super::*;
            use crate::systems::$system::Proof;
            use proofmill::$system as lower;

            /// The place of the powers of tau in a key's bytes: the first byte and the one after the last, as a pair. ``Powers`` reads them.
            ///
            /// key: a path, bytes or a ProvingKey.
            #[pyfunction]
            fn powers(py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<(usize, usize)> {
                let key = Source::<lower::ProvingKey>::new("key", key)?;
                compute(py, || {
                    let range = key.open()?.powers();
                    Ok((range.start, range.end))
                })
            }

            /// Proves with commitments that a function makes, such as with several machines.
            ///
            /// commit: a function of coefficients, uint64 of shape (n, 4), which returns the sum of these times the key's powers of tau, from
            /// the first on, as ``Powers.sum`` does. It is called on another thread. Coefficients are as secret as the witness. The rest
            /// is as for ``ProvingKey.prove``.
            ///
            /// Raises what ``ProvingKey.prove`` and the function raise; Unsatisfied also for a commitment that is wrong.
            #[pyfunction]
            #[pyo3(signature = (key, witness, commit, *, threads=None, level=None, progress=None, allow_insecure_setup=false))]
            #[expect(clippy::too_many_arguments, reason = "most are optional, by name")]
            fn prove_with_commitments(
                py: Python<'_>,
                key: &Bound<'_, PyAny>,
                witness: &Bound<'_, PyAny>,
                commit: Py<PyAny>,
                threads: Option<usize>,
                level: Option<&str>,
                progress: Option<&Bound<'_, PyAny>>,
                allow_insecure_setup: bool,
            ) -> PyResult<Proof> {
                let (key, witness) =
                    (Source::<lower::ProvingKey>::new("key", key)?, Source::<Witness>::new("witness", witness)?);
                let callback = Arc::new(Callback::new(commit));
                let job = BackgroundJob::new(py).with(threads, level, progress)?.allow_insecure_setup(allow_insecure_setup);
                let shared = callback.clone();
                let proof = job.run(move || {
                    let (key, witness) = (key.open()?, witness.open()?);
                    let commit: Commit<'_> =
                        &|coefficients| shared.call(|function| super::commit(function, coefficients));
                    Ok(Proof::new(key.prove_with_commitments(&witness, commit)?, &key))
                });
                callback.end(proof)
            }

            /// Adds the class and the functions to the module of the proof system.
            pub(crate) fn add<'py>(module: Bound<'py, PyModule>) -> PyResult<Bound<'py, PyModule>> {
                module.add_class::<Powers>()?;
                module.add_function(wrap_pyfunction!(powers, &module)?)?;
                module.add_function(wrap_pyfunction!(prove_with_commitments, &module)?)?;
                Ok(module)
            }
        }
    };
}

system!(plonk);
system!(fflonk);
