//! Errors of the bench.

use proofmill_console::Failure;
use proofmill_cost::price::PriceError;
use std::{io, path::PathBuf};

/// An error in measuring, storing or showing, as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// An invalid definition.
    #[error("benchmark definition {name}: {problem}")]
    Definition {
        /// Its family's name.
        name: String,
        /// The problem and what was expected.
        problem: String,
    },
    /// A result that differs from the definition's. Its time is not recorded.
    #[error("{benchmark} by {implementation}: expected the answer {expected}, found {found}")]
    Answer {
        /// Family, benchmark and size.
        benchmark: String,
        /// A level or a peer.
        implementation: String,
        /// The digest in the definition, or the first implementation's.
        expected: String,
        /// This implementation's digest.
        found: String,
    },
    /// A workload that cannot be prepared or run.
    #[error("{name}: {problem}")]
    Workload {
        /// Its name.
        name: String,
        /// The reason.
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
    /// A file with invalid contents.
    #[error("{}: {problem}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What was expected, what was found and where.
        problem: String,
    },
    /// A power source that is missing, may not be read or gives impossible readings.
    #[error("power: {problem}")]
    Power {
        /// The problem and what to do about it.
        problem: String,
    },
    /// An unknown or impossible price.
    #[error(transparent)]
    Price(#[from] PriceError),
    /// A question that the model cannot answer.
    #[error("model: {problem}")]
    Model {
        /// The problem and what to do about it.
        problem: String,
    },
}

impl From<BenchError> for Failure {
    /// A wrong answer is a rejection; everything else is bad input.
    fn from(error: BenchError) -> Self {
        match error {
            BenchError::Answer { .. } => Self::Rejected(error.to_string()),
            _ => Self::Input(error.to_string()),
        }
    }
}
