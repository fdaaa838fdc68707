//! The extension module of the Python package `proofmill`: a thin layer over the crate `proofmill`.
//!
//! Arrays are borrowed, never copied: [`arrays`]. Work runs without the GIL; what takes long runs on threads of its own, while the
//! calling thread looks for signals: [`work`]. Errors become exceptions: [`error`]. The proof systems share one macro: [`systems`].
//!
//! Every submodule is a function that makes a Python module. It is registered in `sys.modules`, so that `import proofmill.groth16`
//! works though all of them lie in one file.
#![forbid(unsafe_code)]
#![cfg(feature = "extension")]

mod arrays;
mod batches;
mod bls;
mod callback;
mod circom;
mod commitments;
mod cosets;
mod error;
mod goldilocks;
mod hash;
mod inputs;
mod integers;
mod merkle;
mod msm;
mod progress;
mod sha256;
mod source;
mod stark;
mod sums;
mod systems;
mod work;

use pyo3::{prelude::*, types::PyList};

/// Zero-knowledge proofs and their mathematics, with kernels chosen at run time by the CPU's features.
#[pymodule(gil_used = false)]
fn _proofmill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    error::add(module)?;
    module.add_function(wrap_pyfunction!(work::levels, module)?)?;
    let loaded = py.import("sys")?.getattr("modules")?;
    let submodules = [
        bls::module(py)?,
        circom::module(py)?,
        commitments::fflonk::add(systems::fflonk::module(py)?)?,
        goldilocks::module(py)?,
        batches::add(sums::add(systems::groth16::module(py)?)?)?,
        hash::module(py)?,
        merkle::module(py)?,
        msm::module(py)?,
        commitments::plonk::add(systems::plonk::module(py)?)?,
        sha256::module(py)?,
        cosets::add(stark::module(py)?)?,
    ];
    for submodule in submodules {
        let name = submodule.name()?;
        let short = name.to_str()?.rsplit('.').next().unwrap_or_default().to_owned();
        // All public names: modules begin with few of Python's own, which begin with underscores.
        let public = submodule.dict().keys().iter().filter(|name| !name.to_string().starts_with('_'));
        let public = PyList::new(py, public.collect::<Vec<_>>())?;
        public.sort()?;
        submodule.add("__all__", public)?;
        loaded.set_item(&name, &submodule)?;
        module.add(short.as_str(), submodule)?;
    }
    Ok(())
}
