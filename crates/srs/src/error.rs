//! Errors of reference strings.

use proofmill_circom::CircomError;
use proofmill_files::{FileError, FileName};
use proofmill_run::{Classified, ErrorKind};
use std::fmt;

/// Why a string, or a part of it, cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SrsError {
    /// A `.ptau` could not be read or written.
    #[error(transparent)]
    File(#[from] CircomError),
    /// An operating system error.
    #[error(transparent)]
    Io(#[from] FileError),
    /// The first bytes are those of no supported format.
    #[error("{file}: expected a ptau file or an Ignition transcript, found {found}")]
    Kind {
        /// The file.
        file: FileName,
        /// A description of the first bytes.
        found: String,
    },
    /// An invalid value, count or length in a transcript.
    #[error("{file}: offset {offset}: {problem}")]
    Malformed {
        /// The file.
        file: FileName,
        /// Bytes from the beginning of the file.
        offset: u64,
        /// The expected and the found value.
        problem: String,
    },
    /// More powers were requested than the string has.
    #[error("{file}: expected at least {needed} powers of tau, found {found}: take a larger file")]
    TooFew {
        /// The file.
        file: FileName,
        /// The requested number.
        needed: usize,
        /// The available number.
        found: usize,
    },
    /// The values are well-formed, but not the powers of one tau.
    #[error("{file}: {problem}")]
    Inconsistent {
        /// The file.
        file: FileName,
        /// The inconsistency.
        problem: String,
    },
    /// The operating system returned no randomness.
    #[error("no randomness from the operating system: {0}")]
    Randomness(String),
}

impl SrsError {
    pub(crate) fn malformed(file: &FileName, offset: u64, problem: impl fmt::Display) -> Self {
        Self::Malformed { file: file.clone(), offset, problem: problem.to_string() }
    }

    pub(crate) fn inconsistent(file: &FileName, problem: impl fmt::Display) -> Self {
        Self::Inconsistent { file: file.clone(), problem: problem.to_string() }
    }
}

impl Classified for SrsError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::File(error) => error.kind(),
            Self::Io(_) => ErrorKind::Io,
            Self::Kind { .. } | Self::Malformed { .. } => ErrorKind::Malformed,
            Self::TooFew { .. } => ErrorKind::Mismatch,
            Self::Inconsistent { .. } => ErrorKind::Rejected,
            Self::Randomness(_) => ErrorKind::System,
        }
    }
}
