//! The errors of commands.

use proofmill_circom::CircomError;
use proofmill_files::FileError;
use std::{fmt, io, path::Path, process::ExitCode};

/// What a message about an insecure setup ends with.
pub const PERMIT: &str = "--allow-insecure-setup permits it in tests";

/// Why a command failed. Messages have one line.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Well-formed but invalid input: a wrong proof, a witness that does not satisfy its circuit.
    #[error("{0}")]
    Rejected(String),
    /// A witness that does not satisfy its circuit. `{:#}` also prints values of it, if they explain the error.
    #[error(fmt = unsatisfied)]
    Unsatisfied(proofmill::Error),
    /// Another failure, and an option or a command that tells more.
    #[error(fmt = advised)]
    Advised {
        /// The failure.
        failure: Box<Failure>,
        /// What to do, as part of a sentence.
        advice: &'static str,
    },
    /// A malformed file or argument.
    #[error("{0}")]
    Input(String),
    /// A key for which anyone can forge proofs.
    #[error("{0}; {permit}", permit = PERMIT)]
    InsecureSetup(String),
    /// Some of the things that a command does one after another.
    #[error("{summary}")]
    Several {
        /// Why each of those failed; not empty.
        failures: Vec<Failure>,
        /// How many of how many.
        summary: String,
    },
    /// A file that cannot be read or written.
    #[error(transparent)]
    Io(#[from] FileError),
    /// An error of a file in one of circom's or snarkjs's formats.
    #[error(transparent)]
    File(#[from] CircomError),
}

impl From<proofmill::Error> for Failure {
    /// Maps invalid proofs and witnesses to `Rejected` and `Unsatisfied`, insecure keys to `InsecureSetup`, and every other error to `Input`.
    fn from(error: proofmill::Error) -> Self {
        match error {
            proofmill::Error::Rejected(cause) => Self::Rejected(cause.to_string()),
            error @ proofmill::Error::Unsatisfied(_) => Self::Unsatisfied(error),
            proofmill::Error::InsecureSetup(cause) => Self::InsecureSetup(cause.to_string()),
            error => Self::Input(error.to_string()),
        }
    }
}

fn unsatisfied(error: &proofmill::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if f.alternate() {
        return write!(f, "{error:#}");
    }
    let has_values = format!("{error:#}") != error.to_string();
    write!(
        f,
        "{error}{}",
        if has_values { "; --show-values prints the values, which are secret" } else { "" }
    )
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
        FileError::at(path, source).into()
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
            Self::Rejected(_) | Self::Unsatisfied(_) => true,
            Self::Advised { failure, .. } => failure.is_rejection(),
            Self::Several { failures, .. } => failures.iter().all(Self::is_rejection),
            Self::Input(_) | Self::InsecureSetup(_) | Self::Io(_) | Self::File(_) => false,
        }
    }
}
