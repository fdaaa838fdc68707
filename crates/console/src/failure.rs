//! The errors of commands.

use proofmill_files::FileError;
use proofmill_run::{Classified, ErrorKind};
use std::{fmt, io, path::Path, process::ExitCode};

/// The end of a message about an insecure setup.
pub const PERMIT: &str = "--allow-insecure-setup permits it in tests";

/// Why a command failed. Messages have one line.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Well-formed but invalid input: a wrong proof, a witness that does not satisfy its circuit.
    #[error("{0}")]
    Rejected(String),
    /// A witness that does not satisfy its circuit. `{:#}` also prints values of it, if they explain the error.
    #[error(fmt = unsatisfied)]
    Unsatisfied {
        /// The message without values.
        problem: String,
        /// The message with values.
        with_values: String,
    },
    /// Another failure, with an option or a command that tells more.
    #[error(fmt = advised)]
    Advised {
        /// The failure.
        failure: Box<Failure>,
        /// The advice, as part of a sentence.
        advice: &'static str,
    },
    /// A malformed file or argument.
    #[error("{0}")]
    Input(String),
    /// A key for which anyone can forge proofs.
    #[error("{0}; {permit}", permit = PERMIT)]
    InsecureSetup(String),
    /// Some of a command's jobs failed.
    #[error("{summary}")]
    Several {
        /// The failures; at least one.
        failures: Vec<Failure>,
        /// The numbers of failed jobs and of all jobs.
        summary: String,
    },
    /// A file that cannot be read or written.
    #[error(transparent)]
    Io(FileError),
}

impl<E: Classified> From<E> for Failure {
    /// Classifies an error by its kind: invalid after a check, insecure to use, or anything else.
    fn from(error: E) -> Self {
        match error.kind() {
            ErrorKind::Rejected => Self::Rejected(error.to_string()),
            ErrorKind::Unsatisfied => {
                Self::Unsatisfied { problem: error.to_string(), with_values: format!("{error:#}") }
            }
            ErrorKind::InsecureSetup => Self::InsecureSetup(error.to_string()),
            ErrorKind::Malformed
            | ErrorKind::Mismatch
            | ErrorKind::Io
            | ErrorKind::System
            | ErrorKind::Cancelled => Self::Input(error.to_string()),
        }
    }
}

fn unsatisfied(problem: &str, with_values: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match (f.alternate(), with_values == problem) {
        (true, _) => f.write_str(with_values),
        (false, true) => f.write_str(problem),
        (false, false) => write!(f, "{problem}; --show-values prints the values, which are secret"),
    }
}

fn advised(failure: &Failure, advice: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    fmt::Display::fmt(failure, f)?;
    write!(f, "; {advice}")
}

impl Failure {
    /// This failure with advice.
    pub fn with_advice(self, advice: &'static str) -> Self {
        Self::Advised { failure: Box::new(self), advice }
    }

    /// A file that cannot be read or written.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::Io(FileError::at(path, source))
    }

    /// An error about the content of a file.
    pub fn about(path: &Path, problem: impl std::fmt::Display) -> Self {
        Self::Input(format!("{}: {problem}", path.display()))
    }

    /// The failures of which this one is the summary.
    pub fn parts(&self) -> &[Self] {
        match self {
            Self::Several { failures, .. } => failures,
            _ => &[],
        }
    }

    /// 1 for input that was checked and is invalid, 2 for anything that could not be checked.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(if self.is_rejection() { 1 } else { 2 })
    }

    /// Whether all input was checked.
    fn is_rejection(&self) -> bool {
        match self {
            Self::Rejected(_) | Self::Unsatisfied { .. } => true,
            Self::Advised { failure, .. } => failure.is_rejection(),
            Self::Several { failures, .. } => failures.iter().all(Self::is_rejection),
            Self::Input(_) | Self::InsecureSetup(_) | Self::Io(_) => false,
        }
    }
}
