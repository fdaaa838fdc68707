//! The classification of errors.

use proofmill_files::FileError;
use std::{error::Error, io};

/// The kind of an error, on which a caller acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Well-formed but invalid: a wrong proof, signature, opening or reference string.
    Rejected,
    /// A witness or a trace that does not satisfy its circuit.
    Unsatisfied,
    /// Malformed bytes or values.
    Malformed,
    /// Inputs that are valid, but not together.
    Mismatch,
    /// A key for which anyone can forge proofs.
    InsecureSetup,
    /// A file that cannot be read or written.
    Io,
    /// The operating system provides no threads or no randomness, or another program gives no answer.
    System,
    /// Cancelled work.
    Cancelled,
}

/// The input of an operation that an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A proving or verifying key.
    Key,
    /// A witness, what it is calculated from, or a trace.
    Witness,
    /// Public signals or values.
    Public,
    /// A proof.
    Proof,
    /// A circuit or an AIR.
    Circuit,
    /// Powers of tau.
    Powers,
}

/// An error of the engine, which says its kind.
pub trait Classified: Error + Send + Sync + 'static {
    /// The kind.
    fn kind(&self) -> ErrorKind;

    /// The input that the error is about; `None` if the message names the file, or if it is about none.
    fn subject(&self) -> Option<Subject> {
        None
    }
}

impl Classified for FileError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Io
    }
}

/// The operating system's error behind an error, if there is one.
pub fn io_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a io::Error> {
    error.downcast_ref().or_else(|| error.source().and_then(io_error))
}
