//! Exceptions of [`proofmill::Error`], by its kinds.

use proofmill::{Error, ErrorKind};
use pyo3::{
    create_exception,
    exceptions::{
        PyException, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyUserWarning,
        PyValueError,
    },
    prelude::*,
};
use std::io;

create_exception!(
    proofmill,
    ProofmillError,
    PyException,
    "The base of all exceptions of this package but OSError."
);
create_exception!(
    proofmill,
    Rejected,
    ProofmillError,
    "Well-formed but invalid: a wrong proof, signature or opening."
);
create_exception!(
    proofmill,
    Unsatisfied,
    ProofmillError,
    "A witness or a trace that does not satisfy its circuit."
);
create_exception!(proofmill, Malformed, ProofmillError, "Malformed bytes or values.");
create_exception!(
    proofmill,
    Mismatch,
    ProofmillError,
    "Inputs that are valid, but not together: a witness of another circuit, a wrong number of public signals."
);
create_exception!(
    proofmill,
    InsecureSetup,
    ProofmillError,
    "A key for which anyone can forge proofs, such as one to which nobody contributed."
);
create_exception!(
    proofmill,
    InsecureSetupWarning,
    PyUserWarning,
    "A key for which anyone can forge proofs was used, as allow_insecure_setup=True permits."
);

/// Why work ended without a result.
#[derive(Debug)]
pub(crate) enum Fault {
    /// An error of the library.
    Of(Error),
    /// An argument that this layer refuses.
    Value(String),
    /// There is no memory for a result of this many bytes.
    Memory(usize),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Of(error)
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Of(error) => exception(&error),
            Fault::Value(problem) => PyValueError::new_err(problem),
            Fault::Memory(bytes) => {
                PyMemoryError::new_err(format!("no memory for a result of {bytes} bytes"))
            }
        }
    }
}

/// The exception of an error. Files are `OSError`, with the subclass of the system's error number if it is known.
fn exception(error: &Error) -> PyErr {
    let text = error.to_string();
    match error.kind() {
        ErrorKind::Rejected => Rejected::new_err(text),
        ErrorKind::Unsatisfied => Unsatisfied::new_err(text),
        ErrorKind::Malformed => Malformed::new_err(text),
        ErrorKind::Mismatch => Mismatch::new_err(text),
        ErrorKind::InsecureSetup => InsecureSetup::new_err(text),
        ErrorKind::Io => match error.io_error().and_then(io::Error::raw_os_error) {
            Some(number) => PyOSError::new_err((number, text)),
            None => PyOSError::new_err(text),
        },
        ErrorKind::System => PyOSError::new_err(text),
        ErrorKind::Cancelled => PyKeyboardInterrupt::new_err(text),
    }
}

/// The exception of a panic: a bug of the library.
pub(crate) fn panicked(payload: &(dyn std::any::Any + Send)) -> PyErr {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
    PyRuntimeError::new_err(format!("internal error, please report it: {text}"))
}

/// Adds all exceptions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let error = py.get_type::<ProofmillError>();
    // `Error` is Rust's name of another type.
    error.setattr("__name__", "Error")?;
    error.setattr("__qualname__", "Error")?;
    module.add("Error", error)?;
    module.add("Rejected", py.get_type::<Rejected>())?;
    module.add("Unsatisfied", py.get_type::<Unsatisfied>())?;
    module.add("Malformed", py.get_type::<Malformed>())?;
    module.add("Mismatch", py.get_type::<Mismatch>())?;
    module.add("InsecureSetup", py.get_type::<InsecureSetup>())?;
    module.add("InsecureSetupWarning", py.get_type::<InsecureSetupWarning>())
}
