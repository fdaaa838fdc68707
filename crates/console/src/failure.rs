//! How a command ends when it does not do what was asked.

use proofmill_circom::CircomError;
use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Why a command failed, on one line.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Well-formed input that is not valid: a wrong proof, a witness that does not satisfy its circuit.
    #[error("{0}")]
    Rejected(String),
    /// A file that cannot be what was asked for, or an argument.
    #[error("{0}")]
    Input(String),
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file of circom's or snarkjs's formats.
    #[error(transparent)]
    File(#[from] CircomError),
}

impl From<proofmill::Error> for Failure {
    /// What is not valid; every other error is bad input.
    fn from(error: proofmill::Error) -> Self {
        match error {
            proofmill::Error::Rejected(cause) => Self::Rejected(cause.to_string()),
            error => Self::Input(error.to_string()),
        }
    }
}

impl Failure {
    /// A file that cannot be read or written.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// What is wrong with a file that could be read.
    pub fn about(path: &Path, problem: impl std::fmt::Display) -> Self {
        Self::Input(format!("{}: {problem}", path.display()))
    }

    /// 1 for what was checked and found wrong, 2 for what could not be checked.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Rejected(_) => ExitCode::from(1),
            Self::Input(_) | Self::Io { .. } | Self::File(_) => ExitCode::from(2),
        }
    }
}
