//! Errors.

use crate::{
    proof::encoding::DecodeError,
    security::{InvalidConfiguration, Parameters},
};
use proofmill_merkle::MerkleError;
use proofmill_run::{Classified, ErrorKind, Subject};
use std::{io, path::PathBuf};

/// Why a proof could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StarkError {
    /// An AIR is not well-formed.
    #[error("AIR: {0}")]
    Air(String),
    /// Parameters that prove nothing or that no machine can use.
    #[error("parameters: {0}")]
    Parameters(#[from] InvalidConfiguration),
    /// Proofs of these traces would prove less than the configuration demands.
    #[error(transparent)]
    TooWeak(#[from] TooWeak),
    /// The number of values is not the number of columns times a power of two, or there are too many rows.
    #[error(
        "{what}: expected rows of {columns} values, a power of two of at most 2^{most} rows; found {found} values"
    )]
    Shape {
        /// The matrix: trace or preprocessed columns.
        what: &'static str,
        /// The number of columns of the AIR.
        columns: usize,
        /// The base-2 logarithm of the largest number of rows that the parameters allow.
        most: u32,
        /// The number of values.
        found: usize,
    },
    /// There are not as many public values as the AIR has.
    #[error("expected {expected} public values, found {found}")]
    PublicValues {
        /// The number that the AIR has.
        expected: usize,
        /// The number that was given.
        found: usize,
    },
    /// The preprocessed columns are not those of the AIR, have another number of rows than the trace, or were committed to with another
    /// hash.
    #[error("preprocessed columns: expected {expected}, found {found}")]
    Preprocessed {
        /// The columns, or the commitment, that the statement needs.
        expected: String,
        /// The columns, or the commitment, that were given.
        found: String,
    },
    /// The trace has too few rows for the parameters.
    #[error("a trace of 2^{found} rows: the parameters need more than 2^{more_than}")]
    TooFewRows {
        /// The base-2 logarithm of the number of rows.
        found: u32,
        /// The base-2 logarithm of the number of rows that must be exceeded.
        more_than: u32,
    },
    /// A list does not have one item for each table.
    #[error("expected {expected} {what}, one for each table; found {found}")]
    Tables {
        /// The items of the list.
        what: &'static str,
        /// The number of tables.
        expected: usize,
        /// The number of items that were given.
        found: usize,
    },
    /// One of several tables cannot be proved.
    #[error("table {table}: {source}")]
    Table {
        /// The index of the table.
        table: usize,
        /// The reason.
        source: Box<StarkError>,
    },
    /// A message is not offered as often as it is looked up.
    #[error("message {message:?} of {} is {}", bus_name(bus), difference(*count, *offered))]
    Unbalanced {
        /// The name of the bus; empty for lookups that are balanced by themselves.
        bus: String,
        /// The values of the message.
        message: Vec<u64>,
        /// The number of lookups of the message less the number of its offers, modulo p.
        count: u64,
        /// The number of offers of the message less the number of its lookups, modulo p.
        offered: u64,
    },
    /// The trace does not satisfy a constraint.
    #[error("constraint {constraint} does not hold in row {row}")]
    Unsatisfied {
        /// The index of the constraint.
        constraint: usize,
        /// The first row in which a constraint does not hold.
        row: usize,
    },
    /// The operating system gives no random bytes for the blinding.
    #[error("no randomness: {0}")]
    Randomness(String),
    /// A part of the trace could not be read.
    #[error("trace: {0}")]
    Trace(MerkleError),
    /// A trace cannot be [divided](crate::Trace::Divided).
    #[error("the trace cannot be divided: {0}")]
    Indivisible(&'static str),
    /// Nobody answers questions about the extension of a divided trace.
    #[error("the extended trace: {0}")]
    Ask(Box<dyn std::error::Error + Send + Sync>),
    /// An answer about the extension of a divided trace is wrong.
    #[error("the extended trace: {0}")]
    Answer(String),
    /// A question about a coset does not fit this trace.
    #[error("coset {0}: no question about this trace")]
    Question(usize),
    /// A temporary file could not be created, read or written.
    #[error("{}: cannot keep the trace in a temporary file: {source}", folder.display())]
    Scratch {
        /// The folder for temporary files.
        folder: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Why a proof was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The proof does not have the shape that the AIR and the parameters give it.
    #[error("malformed proof: {what}: expected {expected}, found {found}")]
    Malformed {
        /// The part of the proof.
        what: &'static str,
        /// The number that the verifier computes.
        expected: usize,
        /// The number in the proof.
        found: usize,
    },
    /// The bytes are no proof with the verifier's hash and extension.
    #[error(transparent)]
    Encoding(#[from] DecodeError),
    /// The statement itself is not well-formed: the caller's parameters, or the number of public values.
    #[error("{0}")]
    Statement(String),
    /// The proof is valid, and proves less than the configuration demands.
    #[error(transparent)]
    TooWeak(#[from] TooWeak),
    /// The proof is well-formed and proves nothing.
    #[error("rejected: {0}")]
    Rejected(&'static str),
}

impl VerifyError {
    /// Checks that a proof is blinded if the parameters say so, by the commitment to random polynomials.
    pub(crate) fn check_blinding<D>(parameters: &Parameters, random: &[D]) -> Result<(), Self> {
        if random.is_empty() != parameters.is_blinded() {
            return Ok(());
        }
        Err(Self::Rejected(
            "a proof that is blinded where the parameters say that it is not, or the opposite",
        ))
    }

    /// Checks the length of a part of a proof.
    ///
    /// # Errors
    /// [`VerifyError::Malformed`] if the length is not the expected one.
    pub fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), Self> {
        if expected == found { Ok(()) } else { Err(Self::Malformed { what, expected, found }) }
    }
}

fn bus_name(bus: &str) -> String {
    if bus.is_empty() { "a lookup without a bus".into() } else { format!("bus \"{}\"", bus.escape_debug()) }
}

/// The smaller of two differences that are opposite modulo p, in words.
fn difference(count: u64, offered: u64) -> String {
    let times = |count: u64| if count == 1 { "once".into() } else { format!("{count} times") };
    if count < offered {
        format!("looked up {} more than it is offered", times(count))
    } else {
        format!("offered {} more than it is looked up", times(offered))
    }
}

/// Panics on a tree's error about rows whose shape was checked.
pub(crate) fn unreachable_tree(error: &MerkleError) -> ! {
    unreachable!("the tree of a checked matrix: {error}")
}

/// The error of a trace that has other values when it is read again.
pub(crate) fn changed() -> StarkError {
    StarkError::Trace(io::Error::other("it changed while it was proven").into())
}

/// Panics on a verifier's error about a proof whose trace satisfies all constraints.
pub(crate) fn unreachable_refusal(error: &VerifyError) -> ! {
    unreachable!("a proof of what holds was not accepted: {error}")
}

/// Why a configuration refuses proofs of a shape: they prove less than it demands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TooWeak {
    /// A trace has fewer rows than [`Config::least_rows`](crate::Config::least_rows).
    #[error("expected traces of at least {expected} rows, found 2^{found}")]
    Rows {
        /// The number of rows that is demanded.
        expected: u64,
        /// The base-2 logarithm of the number of rows of the shortest trace.
        found: u32,
    },
    /// Fewer bits are proven than [`Config::bits`](crate::Config::bits).
    #[error("a trace of 2^{log_rows} rows proves {found} bits, and {expected} are demanded: {}", remedy(*enough))]
    Bits {
        /// The bits that are demanded.
        expected: u32,
        /// The bits that are proven, rounded down.
        found: u32,
        /// The base-2 logarithm of the number of rows of the shortest trace.
        log_rows: u32,
        /// The base-2 logarithm of the least number of rows of every trace for which the parameters prove the bits.
        enough: Option<u32>,
    },
    /// A parameter, or a number of the shape, is out of its range, so that no bits are known.
    #[error("no security is proven, and some is demanded: {0}")]
    Unknown(InvalidConfiguration),
}

fn remedy(enough: Option<u32>) -> String {
    match enough {
        Some(log_rows) => format!("pad it to 2^{log_rows} rows, take more queries, or demand fewer bits"),
        None => "take parameters that prove more, or demand fewer bits".into(),
    }
}

impl Classified for StarkError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Air(_) | Self::Parameters(_) | Self::Question(_) => ErrorKind::Malformed,
            Self::TooWeak(_)
            | Self::Shape { .. }
            | Self::PublicValues { .. }
            | Self::Preprocessed { .. }
            | Self::TooFewRows { .. }
            | Self::Tables { .. }
            | Self::Indivisible(_) => ErrorKind::Mismatch,
            Self::Table { source, .. } => source.kind(),
            Self::Unbalanced { .. } | Self::Unsatisfied { .. } => ErrorKind::Unsatisfied,
            Self::Answer(_) => ErrorKind::Rejected,
            Self::Trace(error) => error.kind(),
            Self::Scratch { .. } => ErrorKind::Io,
            Self::Randomness(_) | Self::Ask(_) => ErrorKind::System,
        }
    }

    fn subject(&self) -> Option<Subject> {
        match self {
            Self::Air(_) | Self::Preprocessed { .. } => Some(Subject::Circuit),
            Self::PublicValues { .. } => Some(Subject::Public),
            Self::TooWeak(_)
            | Self::Shape { .. }
            | Self::TooFewRows { .. }
            | Self::Tables { .. }
            | Self::Table { .. }
            | Self::Unbalanced { .. }
            | Self::Unsatisfied { .. }
            | Self::Trace(_) => Some(Subject::Witness),
            Self::Parameters(_)
            | Self::Indivisible(_)
            | Self::Ask(_)
            | Self::Answer(_)
            | Self::Question(_)
            | Self::Scratch { .. }
            | Self::Randomness(_) => None,
        }
    }
}

impl Classified for VerifyError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Encoding(error) => error.kind(),
            Self::Malformed { .. } => ErrorKind::Malformed,
            Self::Statement(_) => ErrorKind::Mismatch,
            Self::TooWeak(_) | Self::Rejected(_) => ErrorKind::Rejected,
        }
    }

    fn subject(&self) -> Option<Subject> {
        match self {
            Self::Statement(_) => None,
            Self::Encoding(_) | Self::Malformed { .. } | Self::TooWeak(_) | Self::Rejected(_) => {
                Some(Subject::Proof)
            }
        }
    }
}
