//! Errors.

use proofmill_circom::{CircomError, UNPREPARED};
use proofmill_run::{Classified, ErrorKind, Subject};

/// Why there is no proof, or why a proof is not accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Groth16Error {
    /// An error of a file.
    #[error(transparent)]
    File(#[from] CircomError),
    /// The witness does not have one value for each wire of the key.
    #[error("the witness has {found} values, the circuit of the proving key has {expected} wires")]
    WitnessLength {
        /// The number of wires of the key.
        expected: u32,
        /// The number of values of the witness.
        found: usize,
    },
    /// A part of a sum goes beyond the points of the key.
    #[error("values {first} to {} of a sum over {points} points of the proving key", first.saturating_add(*count))]
    Range {
        /// The index of the first value.
        first: usize,
        /// The number of values.
        count: usize,
        /// The number of points.
        points: usize,
    },
    /// The witness does not satisfy the circuit: the proof did not verify.
    #[error(
        "the witness does not satisfy the circuit; give its .r1cs to learn the first constraint that fails"
    )]
    Unsatisfied,
    /// The number of public signals is not the key's.
    #[error("expected {expected} public signals, found {found}")]
    PublicLength {
        /// The number of the verification key.
        expected: usize,
        /// The given number.
        found: usize,
    },
    /// The proof is well-formed but wrong.
    #[error("the proof is not valid for these public signals and this verification key")]
    Rejected,
    /// The powers of tau do not have the Lagrange polynomials that setup needs.
    #[error("{}", UNPREPARED)]
    Unprepared,
    /// The reference string is too short.
    #[error(
        "the circuit's {rows} constraints and public signals need powers of tau of 2^{needed}, found 2^{found}"
    )]
    TooFewPowers {
        /// The number of constraints and public signals, plus one for the constant.
        rows: u64,
        /// The base-2 logarithm of the domain's size.
        needed: u32,
        /// The base-2 logarithm of the largest size that the powers allow.
        found: u32,
    },
    /// The file format cannot hold the number of coefficients.
    #[error("the circuit has {found} coefficients in A and B, a proving key holds less than 2^32")]
    TooManyCoefficients {
        /// The number: the circuit's, and one for each public signal and the constant.
        found: u64,
    },
    /// An invalid point in a key, or too few powers of tau.
    #[error("{0}")]
    Malformed(&'static str),
    /// An invalid point in the proof.
    #[error("{0}")]
    MalformedProof(&'static str),
    /// The operating system returned no randomness.
    #[error("no randomness from the operating system: {0}")]
    Randomness(String),
}

impl Classified for Groth16Error {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::File(error) => error.kind(),
            Self::WitnessLength { .. }
            | Self::Range { .. }
            | Self::PublicLength { .. }
            | Self::Unprepared
            | Self::TooFewPowers { .. } => ErrorKind::Mismatch,
            Self::Unsatisfied => ErrorKind::Unsatisfied,
            Self::Rejected => ErrorKind::Rejected,
            Self::TooManyCoefficients { .. } | Self::Malformed(_) | Self::MalformedProof(_) => {
                ErrorKind::Malformed
            }
            Self::Randomness(_) => ErrorKind::System,
        }
    }

    fn subject(&self) -> Option<Subject> {
        match self {
            Self::File(_) | Self::Randomness(_) => None,
            Self::WitnessLength { .. } | Self::Range { .. } | Self::Unsatisfied => Some(Subject::Witness),
            Self::PublicLength { .. } => Some(Subject::Public),
            Self::Rejected | Self::MalformedProof(_) => Some(Subject::Proof),
            Self::Unprepared | Self::TooFewPowers { .. } => Some(Subject::Powers),
            Self::TooManyCoefficients { .. } => Some(Subject::Circuit),
            Self::Malformed(_) => Some(Subject::Key),
        }
    }
}
