//! What can be wrong with a reference string.

use proofmill_circom::{CircomError, FileName};
use std::{fmt, io};

/// Why there is no string, or not the part of it that was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SrsError {
    /// A `.ptau` could not be read or written.
    #[error(transparent)]
    File(#[from] CircomError),
    /// The operating system refused.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: FileName,
        /// What it said.
        source: io::Error,
    },
    /// The first bytes are those of no format that holds powers.
    #[error("{file}: expected a ptau file or an Ignition transcript, found {found}")]
    Kind {
        /// The file.
        file: FileName,
        /// What the first bytes say.
        found: String,
    },
    /// A value, count or length of a transcript that cannot be.
    #[error("{file}: offset {offset}: {problem}")]
    Malformed {
        /// The file.
        file: FileName,
        /// Bytes from the beginning of the file.
        offset: u64,
        /// What was expected and found.
        problem: String,
    },
    /// More powers were asked for than there are.
    #[error("{file}: expected at least {needed} powers of tau, found {found}: take a larger file")]
    TooFew {
        /// The file.
        file: FileName,
        /// As many as were asked for.
        needed: usize,
        /// As many as there are.
        found: usize,
    },
    /// The values are well-formed, and not the powers of one tau.
    #[error("{file}: {problem}")]
    Inconsistent {
        /// The file.
        file: FileName,
        /// What does not fit what.
        problem: String,
    },
    /// The operating system gives no randomness.
    #[error("no randomness from the operating system: {0}")]
    Randomness(String),
}

impl SrsError {
    pub(crate) fn io(file: &FileName, source: io::Error) -> Self {
        Self::Io { file: file.clone(), source }
    }

    pub(crate) fn malformed(file: &FileName, offset: u64, problem: impl fmt::Display) -> Self {
        Self::Malformed { file: file.clone(), offset, problem: problem.to_string() }
    }

    pub(crate) fn inconsistent(file: &FileName, problem: impl fmt::Display) -> Self {
        Self::Inconsistent { file: file.clone(), problem: problem.to_string() }
    }
}
