//! Why there is no witness.

use proofmill_run::{Classified, ErrorKind, Subject};
use std::fmt;

/// Why a circuit or its inputs gave no witness. `{}` shows no value of a signal; `{:#}` does where it explains the error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WitnessError {
    /// The inputs are not JSON of the expected form.
    #[error("{0}")]
    Input(String),
    /// The inputs are well-formed, but not those of this circuit.
    #[error("{0}")]
    Signals(String),
    /// Inputs are missing. Their names are known only if
    /// [`Program::with_symbols`](crate::Program::with_symbols) gave them.
    #[error("{0}")]
    Missing(String),
    /// The program is not one of circom's.
    #[error("{0}")]
    Program(String),
    /// The circuit is over another field.
    #[error(
        "expected a circuit over {expected}, found the modulus 0x{found}: compile it with circom's --prime"
    )]
    Prime {
        /// The name of the field that was expected.
        expected: &'static str,
        /// The circuit's modulus, hexadecimal.
        found: String,
    },
    /// The inputs violate a constraint or an assertion of the circuit.
    #[error(fmt = unsatisfied)]
    Unsatisfied {
        /// The constraint or assertion that fails, and its place.
        problem: String,
        /// The values that violate it, which are secret, if they are known.
        values: Option<String>,
    },
    /// The program needs more than its [`Limits`](crate::Limits).
    #[error("{0}")]
    Limit(String),
}

impl WitnessError {
    pub(crate) fn too_many_steps() -> Self {
        Self::Limit("the circuit's WASM takes more steps than it may".to_owned())
    }
}

fn unsatisfied(problem: &str, values: &Option<String>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match values {
        Some(values) if f.alternate() => write!(f, "{problem}: {values}"),
        _ => f.write_str(problem),
    }
}

impl Classified for WitnessError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Input(_) | Self::Program(_) | Self::Prime { .. } | Self::Limit(_) => ErrorKind::Malformed,
            Self::Signals(_) | Self::Missing(_) => ErrorKind::Mismatch,
            Self::Unsatisfied { .. } => ErrorKind::Unsatisfied,
        }
    }

    fn subject(&self) -> Option<Subject> {
        match self {
            Self::Input(_) | Self::Signals(_) | Self::Missing(_) | Self::Unsatisfied { .. } => {
                Some(Subject::Witness)
            }
            Self::Program(_) | Self::Prime { .. } | Self::Limit(_) => Some(Subject::Circuit),
        }
    }
}
