//! What can go wrong.

use proofmill_console::Failure;
use std::{io, path::PathBuf};

/// Why something could not be measured, stored or shown, on one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A definition that cannot be what was meant.
    #[error("benchmark definition {name}: {problem}")]
    Definition {
        /// Its family's name.
        name: String,
        /// What is wrong with it and what was expected.
        problem: String,
    },
    /// A result other than the definition's: the time of a wrong answer is worth nothing.
    #[error("{benchmark} by {implementation}: expected the answer {expected}, found {found}")]
    Answer {
        /// Family, benchmark and size.
        benchmark: String,
        /// A level or a peer.
        implementation: String,
        /// The digest that the definition names, or the first implementation's.
        expected: String,
        /// The digest of this implementation's result.
        found: String,
    },
    /// A workload that cannot be prepared or run.
    #[error("{name}: {problem}")]
    Workload {
        /// Its name.
        name: String,
        /// Why not.
        problem: String,
    },
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file whose contents cannot be what they should.
    #[error("{}: {problem}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What was expected, what was found and where.
        problem: String,
    },
    /// An instrument for power that is not there, may not be read or says what cannot be.
    #[error("power: {problem}")]
    Power {
        /// What was found and what to do about it.
        problem: String,
    },
    /// A price that is not known or cannot be.
    #[error("price: {problem}")]
    Price {
        /// What was found and what to do about it.
        problem: String,
    },
    /// A what-if that cannot be answered.
    #[error("model: {problem}")]
    Model {
        /// What is missing or cannot be, and what to do about it.
        problem: String,
    },
}

impl From<BenchError> for Failure {
    /// A wrong answer is a rejection, everything else input that is none.
    fn from(error: BenchError) -> Self {
        match error {
            BenchError::Answer { .. } => Self::Rejected(error.to_string()),
            _ => Self::Input(error.to_string()),
        }
    }
}
