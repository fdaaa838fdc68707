//! The proof systems of circom's circuits. Their modules have the same classes, which one macro writes.

use crate::{
    inputs::Inputs,
    integers::{Public, integers},
    source::{Source, opens},
    work::{BackgroundJob, compute},
};
use proofmill::{
    ProofSystem,
    circom::{CircuitCache, Witness, WitnessCalculator},
};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyBytes, PyTuple},
};
use std::{fs, path::PathBuf, sync::Arc};

/// The classes and functions of a proof system, in a module of its name.
macro_rules! system {
    ($system:ident, $System:ident, $module:literal, $doc:literal) => {
        pub(crate) mod $system {
            use super::*;
            use proofmill::$system as lower;

            /// A proving key: the path or the content of a ``.zkey`` file. A file is mapped, not read.
            ///
            /// Raises OSError, and Malformed for anything but a key of this proof system over BN254.
            #[pyclass(frozen, module = $module)]
            pub(crate) struct ProvingKey(Arc<lower::ProvingKey>);

            opens!(lower::ProvingKey, ProvingKey, |bytes| Self::from_bytes(bytes));

            #[pymethods]
            impl ProvingKey {
                #[new]
                fn new(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Self> {
                    let source = Source::<lower::ProvingKey>::new("source", source)?;
                    compute(py, || Ok(Self(source.open()?)))
                }

                /// Makes the key of a circuit: the bytes of snarkjs's ``setup``.
                ///
                /// circuit: a path, bytes or an R1cs. powers: the path of a ``.ptau`` file that is prepared for phase 2.
                ///
                /// Nobody has contributed to a Groth16 key that was just made: anyone can forge proofs for it. Save it and
                /// contribute to it before use.
                ///
                /// Raises OSError, Malformed, and Mismatch for too few powers of tau.
                #[staticmethod]
                #[pyo3(signature = (circuit, powers, *, threads=None, level=None, progress=None))]
                fn setup(
                    py: Python<'_>,
                    circuit: &Bound<'_, PyAny>,
                    powers: PathBuf,
                    threads: Option<usize>,
                    level: Option<&str>,
                    progress: Option<&Bound<'_, PyAny>>,
                ) -> PyResult<Self> {
                    let circuit = Source::<proofmill::circom::R1cs>::new("circuit", circuit)?;
                    BackgroundJob::new(py).with(threads, level, progress)?.run(move || {
                        let circuit = circuit.open()?;
                        let powers = <lower::$System as ProofSystem>::Powers::open(&powers)?;
                        Ok(Self(Arc::new(lower::ProvingKey::setup(&circuit, &powers)?)))
                    })
                }

                /// Proves that a witness satisfies the circuit. The proof is verified before it is returned.
                ///
                /// witness: a path, bytes or a Witness. threads: one per core by default. level: the CPU features, one of
                /// ``proofmill.levels()``, the best by default. progress: a function that is called with the name of each
                /// phase, or True for a bar of tqdm. allow_insecure_setup: prove with a key for which anyone can forge proofs,
                /// and warn of it.
                ///
                /// The GIL is released. Ctrl-C raises KeyboardInterrupt at once; the current phase ends in the background.
                ///
                /// Raises Unsatisfied for a witness that does not satisfy the circuit, Mismatch for one of another circuit,
                /// InsecureSetup, Malformed, OSError.
                #[pyo3(signature = (witness, *, threads=None, level=None, progress=None, allow_insecure_setup=false))]
                fn prove(
                    &self,
                    py: Python<'_>,
                    witness: &Bound<'_, PyAny>,
                    threads: Option<usize>,
                    level: Option<&str>,
                    progress: Option<&Bound<'_, PyAny>>,
                    allow_insecure_setup: bool,
                ) -> PyResult<Proof> {
                    let (key, witness) = (self.0.clone(), Source::<Witness>::new("witness", witness)?);
                    let job = BackgroundJob::new(py).with(threads, level, progress)?.allow_insecure_setup(allow_insecure_setup);
                    job.run(move || {
                        Ok(Proof::new(key.prove(&*witness.open()?)?, &key))
                    })
                }

                /// The verifying key.
                #[getter]
                fn verifying_key(&self) -> VerifyingKey {
                    VerifyingKey(Arc::new(self.0.verifying_key()))
                }

                /// The number of public signals of a proof.
                #[getter]
                fn public_signals(&self) -> usize {
                    self.0.public_signals()
                }

                /// Writes the file, completely or not at all.
                fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
                    compute(py, || Ok(self.0.save(path)?))
                }

                /// The bytes of the file.
                fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                    PyBytes::new(py, self.0.as_bytes())
                }

                fn __repr__(&self) -> String {
                    format!(concat!($module, ".ProvingKey of {} public signals"), self.0.public_signals())
                }
            }

            /// A verifying key: the path or the content of a ``verification_key.json``, or of a proving key.
            ///
            /// Raises OSError, and Malformed for anything else.
            #[pyclass(frozen, eq, module = $module)]
            #[derive(PartialEq)]
            pub(crate) struct VerifyingKey(Arc<lower::VerifyingKey>);

            opens!(lower::VerifyingKey, VerifyingKey, |bytes| Self::from_bytes(bytes));

            /// A verifying key as an argument, or a proving key, which has one.
            pub(crate) fn key_of(object: &Bound<'_, PyAny>) -> PyResult<Source<lower::VerifyingKey>> {
                match object.cast::<ProvingKey>() {
                    Ok(key) => Ok(Source::Object(Arc::new(key.get().0.verifying_key()))),
                    Err(_) => Source::new("key", object),
                }
            }

            #[pymethods]
            impl VerifyingKey {
                #[new]
                fn new(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Self> {
                    let source = Source::<lower::VerifyingKey>::new("source", source)?;
                    compute(py, || Ok(Self(source.open()?)))
                }

                /// Parses the text of a ``verification_key.json``. Raises Malformed.
                #[staticmethod]
                fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
                    compute(py, || Ok(Self(Arc::new(lower::VerifyingKey::from_json(text)?))))
                }

                /// The text of a ``verification_key.json``, as snarkjs writes it.
                fn to_json(&self, py: Python<'_>) -> PyResult<String> {
                    compute(py, || Ok(self.0.to_json()))
                }

                /// Writes a ``verification_key.json``, completely or not at all. Raises OSError, InsecureSetup.
                #[pyo3(signature = (path, *, allow_insecure_setup=false))]
                fn save(&self, py: Python<'_>, path: PathBuf, allow_insecure_setup: bool) -> PyResult<()> {
                    let key = self.0.clone();
                    BackgroundJob::new(py).allow_insecure_setup(allow_insecure_setup).run(move || Ok(key.save(path)?))
                }

                /// The number of public signals of a proof.
                #[getter]
                fn public_signals(&self) -> usize {
                    self.0.public_signals()
                }

                /// Why anyone can forge proofs for this key, as far as the key shows it. None does not mean that nobody can: the
                /// secrets of a setup leave no trace.
                #[getter]
                fn insecurity(&self) -> Option<&'static str> {
                    self.0.insecurity()
                }

                /// A Solidity contract that verifies this key's proofs. Raises InsecureSetup, Malformed.
                #[pyo3(signature = (*, allow_insecure_setup=false))]
                fn solidity_verifier(&self, py: Python<'_>, allow_insecure_setup: bool) -> PyResult<String> {
                    let key = self.0.clone();
                    BackgroundJob::new(py).allow_insecure_setup(allow_insecure_setup).run(move || Ok(key.solidity_verifier()?))
                }

                fn __repr__(&self) -> String {
                    format!(concat!($module, ".VerifyingKey of {} public signals"), self.0.public_signals())
                }
            }

            /// A proof and its public signals. ``ProvingKey.prove`` makes one.
            #[pyclass(frozen, module = $module)]
            pub(crate) struct Proof {
                pub(crate) proof: Arc<lower::Proof>,
                /// The verifying key of the proving key that made it.
                key: Option<Arc<lower::VerifyingKey>>,
            }

            impl Proof {
                /// A proof that was made with this key.
                pub(crate) fn new(proof: lower::Proof, key: &lower::ProvingKey) -> Self {
                    Self { proof: Arc::new(proof), key: Some(Arc::new(key.verifying_key())) }
                }
            }

            #[pymethods]
            impl Proof {
                /// Opens a ``proof.json``, as a proof for these public signals: a sequence of integers or of strings of decimal
                /// digits, or the path of a ``public.json``.
                ///
                /// Raises OSError, and Malformed for anything but a proof of this proof system over BN254.
                #[staticmethod]
                fn open(py: Python<'_>, path: PathBuf, public: &Bound<'_, PyAny>) -> PyResult<Self> {
                    let public = Public::new(public)?;
                    compute(py, || {
                        let proof = lower::Proof::open(path, public.open()?)?;
                        Ok(Self { proof: Arc::new(proof), key: None })
                    })
                }

                /// Parses the text of a ``proof.json``, as a proof for these public signals, which are as for ``open``.
                ///
                /// Raises Malformed.
                #[staticmethod]
                fn from_json(py: Python<'_>, text: &str, public: &Bound<'_, PyAny>) -> PyResult<Self> {
                    let public = Public::new(public)?;
                    compute(py, || {
                        let proof = lower::Proof::from_json(text, public.open()?)?;
                        Ok(Self { proof: Arc::new(proof), key: None })
                    })
                }

                /// Verifies the proof. Returns None for a valid proof only: every other outcome is an exception.
                ///
                /// key: a VerifyingKey, a ProvingKey, a path or bytes; by default the key that made this proof. public: the
                /// expected signals, as for ``open``; by default those that came with the proof. Whoever made a proof chose its
                /// signals: compare ``public`` with the expected ones, or pass these.
                ///
                /// Raises Rejected for a wrong proof, Malformed for points outside their groups, Mismatch for another number of
                /// public signals than the key's, InsecureSetup; ValueError without a key.
                #[pyo3(signature = (key=None, public=None, *, allow_insecure_setup=false))]
                fn verify(
                    &self,
                    py: Python<'_>,
                    key: Option<&Bound<'_, PyAny>>,
                    public: Option<&Bound<'_, PyAny>>,
                    allow_insecure_setup: bool,
                ) -> PyResult<()> {
                    let key = match (key, &self.key) {
                        (Some(key), _) => key_of(key)?,
                        (None, Some(key)) => Source::Object(key.clone()),
                        (None, None) => {
                            return Err(PyValueError::new_err("key: expected one, because this proof was not made here"));
                        }
                    };
                    let (proof, public) = (self.proof.clone(), public.map(Public::new).transpose()?);
                    let work = move || {
                        let key = key.open()?;
                        Ok(match public {
                            Some(public) => key.verify(&public.open()?, &proof)?,
                            None => proof.verify(&key)?,
                        })
                    };
                    if allow_insecure_setup {
                        BackgroundJob::new(py).allow_insecure_setup(true).run(work)
                    } else {
                        compute(py, work)
                    }
                }

                /// The public signals, outputs first: a tuple of integers.
                #[getter]
                fn public<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                    integers(py, self.proof.public())
                }

                /// The text of a ``proof.json``, as snarkjs writes it; without the public signals.
                fn to_json(&self) -> String {
                    self.proof.to_json()
                }

                /// The text of a ``public.json``, as snarkjs writes it.
                fn public_json(&self) -> String {
                    self.proof.public().to_json()
                }

                /// Writes a ``proof.json`` and a ``public.json``, both or neither. Raises OSError.
                fn save(&self, py: Python<'_>, proof: PathBuf, public: PathBuf) -> PyResult<()> {
                    compute(py, || Ok(self.proof.save(proof, public)?))
                }

                /// The arguments of ``verifyProof`` in the contract of ``VerifyingKey.solidity_verifier``.
                fn solidity_calldata(&self) -> String {
                    self.proof.solidity_calldata()
                }

                fn __repr__(&self) -> String {
                    format!(concat!($module, ".Proof for {} public signals"), self.proof.public().len())
                }
            }

            /// Calculates the witness of inputs, and proves.
            ///
            /// inputs: a dict of integers and of nested lists, tuples and arrays of them, by names of signals; JSON as str or bytes;
            /// or the path of a JSON file as a pathlib.Path. Negative and large integers are reduced modulo the field's prime.
            /// circuit: circom's WASM, compiled or not, or a graph of circom-witnesscalc: a path, bytes or a WitnessCalculator. key: a path, bytes or a
            /// ProvingKey. The rest is as for ``ProvingKey.prove``.
            ///
            /// Raises Mismatch for inputs that are not the circuit's, Unsatisfied for an assertion that fails, and what
            /// ``ProvingKey.prove`` raises.
            #[pyfunction]
            #[pyo3(signature = (inputs, circuit, key, *, threads=None, level=None, progress=None, allow_insecure_setup=false))]
            #[expect(clippy::too_many_arguments, reason = "most are optional, by name")]
            fn fullprove(
                py: Python<'_>,
                inputs: &Bound<'_, PyAny>,
                circuit: &Bound<'_, PyAny>,
                key: &Bound<'_, PyAny>,
                threads: Option<usize>,
                level: Option<&str>,
                progress: Option<&Bound<'_, PyAny>>,
                allow_insecure_setup: bool,
            ) -> PyResult<Proof> {
                let inputs = Inputs::new(inputs)?;
                let circuit = Source::<WitnessCalculator>::new("circuit", circuit)?;
                let key = Source::<lower::ProvingKey>::new("key", key)?;
                let job = BackgroundJob::new(py).with(threads, level, progress)?.allow_insecure_setup(allow_insecure_setup);
                job.run(move || {
                    let key = key.open()?;
                    let cache = CircuitCache::of_user();
                    let (calculator, bytes) = match circuit {
                        Source::Object(calculator) => (calculator, None),
                        Source::Path(path) => (Arc::new(cache.open(&path)?), fs::read(path).ok()),
                        Source::Bytes(bytes) => (Arc::new(cache.decode(bytes.clone())?), Some(bytes)),
                    };
                    let witness = inputs.calculate(&calculator)?;
                    drop(calculator);
                    let proof = Proof::new(key.prove(&witness)?, &key);
                    if let Some(bytes) = bytes {
                        inputs.keep(&bytes);
                    }
                    Ok(proof)
                })
            }

            pub(crate) fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
                let module = PyModule::new(py, $module)?;
                module.setattr("__doc__", $doc)?;
                module.add_class::<ProvingKey>()?;
                module.add_class::<VerifyingKey>()?;
                module.add_class::<Proof>()?;
                module.add_function(wrap_pyfunction!(fullprove, &module)?)?;
                Ok(module)
            }
        }
    };
}

system!(
    groth16,
    Groth16,
    "proofmill.groth16",
    "Groth16 (eprint 2016/260) over BN254, with the files of circom and snarkjs."
);
system!(
    plonk,
    Plonk,
    "proofmill.plonk",
    "PLONK (eprint 2019/953) over BN254, with the files of circom and snarkjs, and keys of Proofmill's wider arithmetisations."
);
system!(
    fflonk,
    Fflonk,
    "proofmill.fflonk",
    "fflonk (eprint 2021/1167) over BN254, with the files of circom and snarkjs."
);
