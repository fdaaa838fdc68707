//! Errors.

use crate::circuit::unsatisfied::Unsatisfied;
use proofmill_circom::{CircomError, PtauPoints, UNPREPARED};
use proofmill_run::{Classified, ErrorKind, Subject, UnknownName};
use std::{fmt, io, path::PathBuf};

/// Why a key or a proof could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlonkError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] CircomError),
    /// The verification key is malformed.
    #[error(transparent)]
    Key(#[from] MalformedError),
    /// The reference string is damaged.
    #[error(transparent)]
    Srs(#[from] proofmill_srs::SrsError),
    /// The circuit has no constraint, so there is nothing to prove.
    #[error("expected a circuit with constraints, found none")]
    NoConstraints,
    /// The circuit has more rows than the largest domain.
    #[error("expected a circuit of at most 2^26 rows, found more")]
    TooLarge,
    /// The powers of tau do not have the Lagrange polynomials that setup needs.
    #[error("{}", UNPREPARED)]
    Unprepared,
    /// The reference string is too short.
    #[error("the circuit's {gates} gates need powers of tau of 2^{needed}, found 2^{found}")]
    TooFewPowers {
        /// Gates of the circuit.
        gates: usize,
        /// Logarithm of the domain's size.
        needed: u32,
        /// Logarithm of the number of powers found.
        found: u32,
    },
    /// The proving key's domain has no room for the blinding or no extension by 4 in the scalar field.
    #[error("proving key: expected a domain of 2^3 to 2^26, found 2^{log_n}")]
    Domain {
        /// Logarithm of the domain's size.
        log_n: u32,
    },
    /// The witness does not have one value for each wire of the circuit.
    #[error("expected a witness of {expected} values, found {found}")]
    WitnessLength {
        /// The number of wires of the circuit.
        expected: usize,
        /// The number of values of the witness.
        found: usize,
    },
    /// The witness does not satisfy the circuit; the first unsatisfied row. `{:#}` also prints values.
    #[error(fmt = unsatisfied)]
    Unsatisfied(Unsatisfied),
    /// The permutation in the proving key does not agree with its wire maps.
    #[error("proving key: the permutation does not connect the wires of gate {gate} as the wire maps do")]
    CopyConstraint {
        /// The first gate where they differ.
        gate: usize,
    },
    /// The reference string has too few powers.
    #[error(
        "the circuit needs {needed} powers of tau, found {found}: a file of power {} has enough",
        PtauPoints::TauG1.power_with(*needed)
    )]
    ShortReference {
        /// The number of powers that the key needs.
        needed: usize,
        /// The number of powers found.
        found: usize,
    },
    /// The new proof does not verify: the witness was not checked and does not satisfy the circuit, or the
    /// proving key is inconsistent.
    #[error("the proof does not verify: the witness is wrong or the proving key contradicts itself")]
    NotProven,
    /// A temporary file could not be created or mapped.
    #[error("{}: cannot keep vectors in a temporary file: {source}", folder.display())]
    Scratch {
        /// The folder for temporary files.
        folder: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The operating system's random generator failed.
    #[error("no randomness from the operating system: {0}")]
    Randomness(String),
    /// A commitment could not be made elsewhere.
    #[error("no commitment: {0}")]
    Commitment(Box<dyn std::error::Error + Send + Sync>),
}

/// Why names of gates, lookup arguments and fixed columns do not describe an arithmetisation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SystemError {
    /// There is no gate of this name.
    #[error("expected a gate, found {0:?}")]
    Gate(String),
    /// No arithmetisation with this number of wires has these gates in this order.
    #[error("expected the gates of an arithmetisation of {wires} wires, in order")]
    Gates {
        /// The number of wires of a row.
        wires: u32,
    },
    /// There is no lookup argument of this name.
    #[error(transparent)]
    Lookup(#[from] UnknownName),
    /// Arithmetisations with this number of wires have no lookups.
    #[error("expected no lookups in an arithmetisation of {wires} wires")]
    NoLookups {
        /// The number of wires of a row.
        wires: u32,
    },
    /// The gates have no fixed column of this name.
    #[error("expected a fixed column, found {0:?}")]
    Column(String),
    /// A fixed column is repeated or out of order.
    #[error("a fixed column appears twice or out of order")]
    Columns,
}

/// Why a proof is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The proof is well formed but wrong.
    #[error("the proof is not valid for these public inputs and this verification key")]
    Rejected,
    /// The proof, the key or the list of public inputs is malformed.
    #[error(transparent)]
    Malformed(#[from] MalformedError),
}

/// Why a proof, a key or a list of public inputs is malformed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MalformedError {
    /// A point is not on its curve or not in its subgroup.
    #[error("{name} is not on its curve, or not in its subgroup")]
    Point {
        /// The point's name.
        name: String,
    },
    /// The number of public inputs is not the key's.
    #[error("expected {expected} public inputs, found {found}")]
    PublicInputs {
        /// The number in the verification key.
        expected: u32,
        /// The number of public inputs given.
        found: usize,
    },
    /// The number of points or values of the proof is wrong.
    #[error("expected a proof of {} points and {} values, found {} and {}", expected.0, expected.1, found.0, found.1)]
    Proof {
        /// The numbers of points and values of the key's system.
        expected: (usize, usize),
        /// The numbers found in the proof.
        found: (usize, usize),
    },
    /// The key's names do not describe an arithmetisation.
    #[error("verification key: {0}")]
    System(SystemError),
    /// The secret of the key's reference string is zero; then every opening verifies.
    #[error("verification key: X_2 is infinity")]
    NoSecret,
    /// The labels of two wires are not disjoint.
    #[error("verification key: the multipliers of wires {} and {} put them on one coset", wires.0 + 1, wires.1 + 1)]
    Multipliers {
        /// The first two such wires, counted from 0.
        wires: (usize, usize),
    },
    /// No circuit has these sizes.
    #[error("verification key: {public} public inputs on a domain of 2^{log_n}")]
    Key {
        /// Logarithm of the domain's size.
        log_n: u32,
        /// The number of public inputs.
        public: u32,
    },
}

/// Passes on the formatter, which says whether to print values.
fn unsatisfied(unsatisfied: &Unsatisfied, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("the witness does not satisfy ")?;
    fmt::Display::fmt(unsatisfied, f)?;
    f.write_str(" (rows are counted from 0; public inputs come first)")
}

impl Classified for PlonkError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::File(error) => error.kind(),
            Self::Key(error) => error.kind(),
            Self::Srs(error) => error.kind(),
            Self::NoConstraints | Self::TooLarge | Self::Domain { .. } | Self::CopyConstraint { .. } => {
                ErrorKind::Malformed
            }
            Self::Unprepared
            | Self::TooFewPowers { .. }
            | Self::ShortReference { .. }
            | Self::WitnessLength { .. } => ErrorKind::Mismatch,
            Self::Unsatisfied(_) | Self::NotProven => ErrorKind::Unsatisfied,
            Self::Scratch { .. } => ErrorKind::Io,
            Self::Randomness(_) | Self::Commitment(_) => ErrorKind::System,
        }
    }

    fn subject(&self) -> Option<Subject> {
        match self {
            Self::Key(error) => error.subject(),
            Self::NoConstraints | Self::TooLarge => Some(Subject::Circuit),
            Self::Domain { .. } | Self::CopyConstraint { .. } => Some(Subject::Key),
            Self::Unprepared | Self::TooFewPowers { .. } | Self::ShortReference { .. } => {
                Some(Subject::Powers)
            }
            Self::WitnessLength { .. } | Self::Unsatisfied(_) | Self::NotProven => Some(Subject::Witness),
            Self::File(_)
            | Self::Srs(_)
            | Self::Scratch { .. }
            | Self::Randomness(_)
            | Self::Commitment(_) => None,
        }
    }
}

impl Classified for VerifyError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Rejected => ErrorKind::Rejected,
            Self::Malformed(error) => error.kind(),
        }
    }

    fn subject(&self) -> Option<Subject> {
        match self {
            Self::Rejected => Some(Subject::Proof),
            Self::Malformed(error) => error.subject(),
        }
    }
}

impl Classified for MalformedError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::PublicInputs { .. } => ErrorKind::Mismatch,
            Self::Point { .. }
            | Self::Proof { .. }
            | Self::System(_)
            | Self::NoSecret
            | Self::Multipliers { .. }
            | Self::Key { .. } => ErrorKind::Malformed,
        }
    }

    fn subject(&self) -> Option<Subject> {
        Some(match self {
            Self::PublicInputs { .. } => Subject::Public,
            Self::Proof { .. } => Subject::Proof,
            // The points of a proof were checked before; of a key's points, that of G2 was not.
            Self::Point { .. }
            | Self::System(_)
            | Self::NoSecret
            | Self::Multipliers { .. }
            | Self::Key { .. } => Subject::Key,
        })
    }
}
