//! Errors, by kind.

use proofmill_bls::BlsError;
use proofmill_circom::CircomError;
use proofmill_files::{FileError, FileName};
use proofmill_merkle::MerkleError;
use proofmill_run::{Classified, ErrorKind, Subject, io_error};
use proofmill_srs::SrsError;
use std::{error, fmt, io, path::Path};

/// [`std::result::Result`] with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

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
    /// Work that [`Cancellation`](crate::Cancellation) ended.
    #[error(transparent)]
    Cancelled(Cause),
}

/// The cause of an [`Error`].
#[derive(Debug)]
pub struct Cause {
    about: Option<FileName>,
    error: Box<dyn error::Error + Send + Sync>,
}

impl Cause {
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
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'a> {
    pub(crate) key: Option<&'a FileName>,
    pub(crate) witness: Option<&'a FileName>,
    pub(crate) public: Option<&'a FileName>,
    pub(crate) proof: Option<&'a FileName>,
    pub(crate) circuit: Option<&'a FileName>,
    pub(crate) powers: Option<&'a FileName>,
}

impl Names<'_> {
    /// The error of an operation, with the name of the input that it is about.
    pub(crate) fn of(&self, error: impl Classified) -> Error {
        let Self { key, witness, public, proof, circuit, powers } = *self;
        // A key that is being made is known by what it is made from.
        let about = error.subject().and_then(|subject| match subject {
            Subject::Key => key.or(circuit).or(powers),
            Subject::Witness => witness,
            Subject::Public => public,
            Subject::Proof => proof,
            Subject::Circuit => circuit.or(key),
            Subject::Powers => powers.or(key),
        });
        Error::new(error.kind(), about, error)
    }

    pub(crate) fn mismatch(name: Option<&FileName>, problem: impl Into<String>) -> Error {
        Error::new(ErrorKind::Mismatch, name, problem.into())
    }
}

impl Error {
    /// An error of this kind, about the file of this name.
    pub(crate) fn new(
        kind: ErrorKind,
        name: Option<&FileName>,
        error: impl Into<Box<dyn error::Error + Send + Sync>>,
    ) -> Self {
        let cause = Cause { about: name.cloned(), error: error.into() };
        match kind {
            ErrorKind::Rejected => Self::Rejected(cause),
            ErrorKind::Unsatisfied => Self::Unsatisfied(cause),
            ErrorKind::Malformed => Self::Malformed(cause),
            ErrorKind::Mismatch => Self::Mismatch(cause),
            ErrorKind::InsecureSetup => Self::InsecureSetup(cause),
            ErrorKind::Io => Self::Io(cause),
            ErrorKind::System => Self::System(cause),
            ErrorKind::Cancelled => Self::Cancelled(cause),
        }
    }

    /// The kind, as a value.
    pub fn kind(&self) -> ErrorKind {
        Classified::kind(self)
    }

    /// The operating system's error behind this one, if there is one.
    pub fn io_error(&self) -> Option<&io::Error> {
        io_error(self.cause().get())
    }

    /// The cause, of any kind.
    pub fn cause(&self) -> &Cause {
        match self {
            Self::Rejected(cause)
            | Self::Unsatisfied(cause)
            | Self::Malformed(cause)
            | Self::Mismatch(cause)
            | Self::InsecureSetup(cause)
            | Self::Io(cause)
            | Self::System(cause)
            | Self::Cancelled(cause) => cause,
        }
    }

    /// An error about the content of a file.
    pub(crate) fn malformed(name: Option<&FileName>, problem: impl Into<String>) -> Self {
        Self::new(ErrorKind::Malformed, name, problem.into())
    }

    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        FileError::at(path, error).into()
    }

    pub(crate) fn merkle(name: Option<&FileName>, error: MerkleError) -> Self {
        Self::new(error.kind(), name, error)
    }
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Rejected(_) => ErrorKind::Rejected,
            Self::Unsatisfied(_) => ErrorKind::Unsatisfied,
            Self::Malformed(_) => ErrorKind::Malformed,
            Self::Mismatch(_) => ErrorKind::Mismatch,
            Self::InsecureSetup(_) => ErrorKind::InsecureSetup,
            Self::Io(_) => ErrorKind::Io,
            Self::System(_) => ErrorKind::System,
            Self::Cancelled(_) => ErrorKind::Cancelled,
        }
    }
}

/// Errors whose messages name their file, or that are about none.
macro_rules! from {
    ($($error:ty),+) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Names::default().of(error)
            }
        })+
    };
}

from!(FileError, CircomError, SrsError, BlsError);
