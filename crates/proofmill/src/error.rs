//! Errors, by kind.

use proofmill_bls::BlsError;
use proofmill_circom::CircomError;
use proofmill_files::{FileError, FileName};
use proofmill_groth16::Groth16Error;
use proofmill_merkle::MerkleError;
use proofmill_plonk::{MalformedError, PlonkError, VerifyError};
use proofmill_srs::SrsError;
use proofmill_stark::StarkError;
use proofmill_witness::WitnessError;
use std::{error, fmt, path::Path};

/// [`std::result::Result`] with this crate's error.
pub type Result<T> = std::result::Result<T, Error>;

/// An error by kind, with a message of one line that names the file and the position in it.
///
/// Only `Ok(())` of a verifier means valid. `{}` prints no values of a witness; `{:#}` does where they explain the error.
///
/// ```
/// use proofmill::{Error, bls::{SecretKey, Signature}};
///
/// # fn main() -> proofmill::Result<()> {
/// let key = SecretKey::from_bytes(&[7; 32])?;
/// let signature = key.sign(b"message");
/// assert!(matches!(key.public_key().verify(b"massage", &signature), Err(Error::Rejected(_))));
/// assert!(matches!(Signature::from_bytes(&[0; 96]), Err(Error::Malformed(_))));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Well-formed but invalid: a wrong proof, signature, opening or reference string.
    #[error(transparent)]
    Rejected(Cause),
    /// A witness that does not satisfy its circuit.
    #[error(transparent)]
    Unsatisfied(Cause),
    /// Malformed bytes or values.
    #[error(transparent)]
    Malformed(Cause),
    /// Inputs that are valid, but not together: a witness of another circuit, a wrong number of public signals, a reference
    /// string that is too short.
    #[error(transparent)]
    Mismatch(Cause),
    /// A key for which anyone can forge proofs, such as one to which nobody contributed. [`MachineBuilder::allow_insecure_setup`]
    /// permits its use in tests.
    ///
    /// [`MachineBuilder::allow_insecure_setup`]: crate::MachineBuilder::allow_insecure_setup
    #[error(transparent)]
    InsecureSetup(Cause),
    /// A file that cannot be read or written.
    #[error(transparent)]
    Io(Cause),
    /// The operating system provides no threads or no randomness.
    #[error(transparent)]
    System(Cause),
}

/// The cause of an [`Error`].
#[derive(Debug)]
pub struct Cause {
    about: Option<FileName>,
    error: Box<dyn error::Error + Send + Sync>,
}

impl Cause {
    pub(crate) fn new(error: impl Into<Box<dyn error::Error + Send + Sync>>) -> Self {
        Self { about: None, error: error.into() }
    }

    fn about(name: Option<&FileName>, error: impl Into<Box<dyn error::Error + Send + Sync>>) -> Self {
        Self { about: name.cloned(), error: error.into() }
    }

    /// The original error, such as `proofmill_plonk::PlonkError`, for downcasting.
    pub fn get(&self) -> &(dyn error::Error + Send + Sync + 'static) {
        &*self.error
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.about {
            Some(name) => write!(f, "{name}: ").and_then(|()| self.error.fmt(f)),
            None => self.error.fmt(f),
        }
    }
}

impl error::Error for Cause {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.error.source()
    }
}

/// The file names of an operation's inputs, as far as known.
#[derive(Clone, Copy, Default)]
pub(crate) struct Names<'a> {
    pub(crate) key: Option<&'a FileName>,
    pub(crate) witness: Option<&'a FileName>,
    pub(crate) public: Option<&'a FileName>,
    pub(crate) proof: Option<&'a FileName>,
    pub(crate) circuit: Option<&'a FileName>,
    pub(crate) powers: Option<&'a FileName>,
}

impl Names<'_> {
    pub(crate) fn groth16(&self, error: Groth16Error) -> Error {
        match error {
            Groth16Error::File(error) => error.into(),
            Groth16Error::WitnessLength { .. } | Groth16Error::Range { .. } => {
                Error::Mismatch(Cause::about(self.witness, error))
            }
            Groth16Error::Unsatisfied => Error::Unsatisfied(Cause::about(self.witness, error)),
            Groth16Error::PublicLength { .. } => Error::Mismatch(Cause::about(self.public, error)),
            Groth16Error::Rejected => Error::Rejected(Cause::about(self.proof, error)),
            Groth16Error::Unprepared | Groth16Error::TooFewPowers { .. } => {
                Error::Mismatch(Cause::about(self.powers, error))
            }
            Groth16Error::TooManyCoefficients { .. } => Error::Malformed(Cause::about(self.circuit, error)),
            Groth16Error::MalformedProof(_) => Error::Malformed(Cause::about(self.proof, error)),
            Groth16Error::Randomness(_) => Error::System(Cause::new(error)),
            _ => Error::Malformed(Cause::about(self.key.or(self.powers), error)),
        }
    }

    pub(crate) fn plonk(&self, error: PlonkError) -> Error {
        match error {
            PlonkError::File(error) => error.into(),
            PlonkError::Srs(error) => error.into(),
            PlonkError::Key(error) => self.malformed(error),
            PlonkError::WitnessLength { .. } => Error::Mismatch(Cause::about(self.witness, error)),
            PlonkError::Unsatisfied(_) | PlonkError::NotProven => {
                Error::Unsatisfied(Cause::about(self.witness, error))
            }
            PlonkError::Unprepared | PlonkError::TooFewPowers { .. } | PlonkError::ShortReference { .. } => {
                Error::Mismatch(Cause::about(self.powers.or(self.key), error))
            }
            PlonkError::Randomness(_) | PlonkError::Commitment(_) => Error::System(Cause::new(error)),
            PlonkError::Scratch { .. } => Error::Io(Cause::new(error)),
            _ => Error::Malformed(Cause::about(self.key.or(self.circuit), error)),
        }
    }

    pub(crate) fn stark(&self, error: StarkError) -> Error {
        match error {
            StarkError::Unsatisfied { .. } | StarkError::Unbalanced { .. } => {
                Error::Unsatisfied(Cause::about(self.witness, error))
            }
            StarkError::Table { ref source, .. } if matches!(**source, StarkError::Unsatisfied { .. }) => {
                Error::Unsatisfied(Cause::about(self.witness, error))
            }
            StarkError::Table { .. } | StarkError::Tables { .. } => {
                Error::Mismatch(Cause::about(self.witness, error))
            }
            StarkError::Shape { .. } | StarkError::TooFewRows { .. } | StarkError::TooWeak(_) => {
                Error::Mismatch(Cause::about(self.witness, error))
            }
            StarkError::PublicValues { .. } => Error::Mismatch(Cause::about(self.public, error)),
            StarkError::Preprocessed { .. } => Error::Mismatch(Cause::about(self.circuit, error)),
            StarkError::Indivisible(_) => Error::Mismatch(Cause::new(error)),
            StarkError::Parameters(_) => Error::Malformed(Cause::new(error)),
            StarkError::Randomness(_) | StarkError::Ask(_) => Error::System(Cause::new(error)),
            StarkError::Answer(_) => Error::Rejected(Cause::new(error)),
            StarkError::Question(_) => Error::Malformed(Cause::new(error)),
            StarkError::Scratch { .. } => Error::Io(Cause::new(error)),
            // The facade's own.
            StarkError::Trace(source) => {
                source.downcast().unwrap_or_else(|source| Error::Io(Cause::about(self.witness, source)))
            }
            _ => Error::Malformed(Cause::about(self.circuit, error)),
        }
    }

    pub(crate) fn stark_verdict(&self, error: proofmill_stark::VerifyError) -> Error {
        use proofmill_stark::{DecodeError, VerifyError};
        match error {
            VerifyError::Encoding(DecodeError::Hash { .. } | DecodeError::Degree { .. }) => {
                Error::Mismatch(Cause::about(self.proof, error))
            }
            VerifyError::Encoding(error) => Error::Malformed(Cause::about(self.proof, error)),
            VerifyError::Malformed { .. } => Error::Malformed(Cause::about(self.proof, error)),
            VerifyError::Statement(_) => Error::Mismatch(Cause::new(error)),
            _ => Error::Rejected(Cause::about(self.proof, error)),
        }
    }

    pub(crate) fn verdict(&self, error: VerifyError) -> Error {
        match error {
            VerifyError::Malformed(error) => self.malformed(error),
            _ => Error::Rejected(Cause::about(self.proof, error)),
        }
    }

    pub(crate) fn malformed(&self, error: MalformedError) -> Error {
        match error {
            MalformedError::PublicInputs { .. } => Error::Mismatch(Cause::about(self.public, error)),
            MalformedError::Proof { .. } => Error::Malformed(Cause::about(self.proof, error)),
            // The points of a proof were checked before; of a key's points, that of G2 was not.
            _ => Error::Malformed(Cause::about(self.key, error)),
        }
    }

    pub(crate) fn mismatch(name: Option<&FileName>, problem: impl Into<String>) -> Error {
        Error::Mismatch(Cause::about(name, problem.into()))
    }
}

impl Error {
    /// An error about the content of a file.
    pub(crate) fn malformed(name: Option<&FileName>, problem: impl Into<String>) -> Self {
        Self::Malformed(Cause::about(name, problem.into()))
    }

    pub(crate) fn rejected(
        name: Option<&FileName>,
        error: impl Into<Box<dyn error::Error + Send + Sync>>,
    ) -> Self {
        Self::Rejected(Cause::about(name, error))
    }

    pub(crate) fn unsatisfied(name: Option<&FileName>, problem: impl Into<String>) -> Self {
        Self::Unsatisfied(Cause::about(name, problem.into()))
    }

    pub(crate) fn insecure_setup(name: Option<&FileName>, problem: String) -> Self {
        Self::InsecureSetup(Cause::about(name, problem))
    }

    /// An error of calculating a witness with the program `circuit` from the file `inputs`.
    pub(crate) fn witness(
        circuit: Option<&FileName>,
        inputs: Option<&FileName>,
        error: WitnessError,
    ) -> Self {
        match error {
            WitnessError::Input(_) => Self::Malformed(Cause::about(inputs, error)),
            WitnessError::Signals(_) | WitnessError::Missing(_) => {
                Self::Mismatch(Cause::about(inputs, error))
            }
            WitnessError::Unsatisfied { .. } => Self::Unsatisfied(Cause::about(inputs, error)),
            _ => Self::Malformed(Cause::about(circuit, error)),
        }
    }

    pub(crate) fn io(path: &Path, error: std::io::Error) -> Self {
        FileError::at(path, error).into()
    }

    pub(crate) fn merkle(name: Option<&FileName>, error: MerkleError) -> Self {
        let kind = match &error {
            MerkleError::Rejected => Self::Rejected,
            MerkleError::Io(_) => Self::Io,
            MerkleError::Shape { .. } | MerkleError::WrongHash { .. } => Self::Mismatch,
            _ => Self::Malformed,
        };
        kind(Cause::about(name, error))
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Self {
        Self::Io(Cause::new(error))
    }
}

impl From<CircomError> for Error {
    fn from(error: CircomError) -> Self {
        match error {
            CircomError::Io(error) => error.into(),
            error => Self::Malformed(Cause::new(error)),
        }
    }
}

impl From<SrsError> for Error {
    fn from(error: SrsError) -> Self {
        let kind = match error {
            SrsError::File(error) => return error.into(),
            SrsError::Io(error) => return error.into(),
            SrsError::TooFew { .. } => Self::Mismatch,
            SrsError::Inconsistent { .. } => Self::Rejected,
            SrsError::Randomness(_) => Self::System,
            _ => Self::Malformed,
        };
        kind(Cause::new(error))
    }
}

impl From<BlsError> for Error {
    fn from(error: BlsError) -> Self {
        let kind = match error {
            BlsError::Rejected => Self::Rejected,
            BlsError::Counts { .. } => Self::Mismatch,
            BlsError::Randomness(_) => Self::System,
            _ => Self::Malformed,
        };
        kind(Cause::new(error))
    }
}
