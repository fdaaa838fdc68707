//! Errors.

use proofmill_circom::{CircomError, SectionName, UNPREPARED, shown_name};
use proofmill_files::FileError;
use proofmill_groth16::Groth16Error;
use proofmill_run::{Classified, ErrorKind, Subject};
use std::{io, path::PathBuf};

/// Why a contribution was not made or not accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CeremonyError {
    /// A file that cannot be read or written, or is malformed.
    #[error(transparent)]
    File(#[from] CircomError),
    /// A key that cannot be compared with another.
    #[error(transparent)]
    Key(#[from] Groth16Error),
    /// The key has no list of contributions.
    #[error(
        "the key has no list of contributions, as keys that were imported from JSON: contribute to the original"
    )]
    NoList,
    /// A contribution does not follow from those before it.
    #[error("contribution {number}{}: {problem}", .name.as_ref().map(|name| format!(" ({})", shown_name(name))).unwrap_or_default())]
    Contribution {
        /// Its place, counted from 1.
        number: usize,
        /// Its author's name.
        name: Option<String>,
        /// The fault.
        problem: &'static str,
    },
    /// delta is not that of the last contribution.
    #[error("delta is not that of the last contribution")]
    Delta,
    /// A part of the key does not follow from setup and contributions.
    #[error("it is not the circuit's key: it differs in {0}")]
    Differs(&'static str),
    /// The key from which the ceremony began is not one without contributions.
    #[error("the initial key has {0} contributions, expected one that setup has just made")]
    NotInitial(usize),
    /// Powers of tau to which only beacons contributed.
    #[error("only beacons contributed to these powers: everyone can compute tau from them")]
    OnlyBeacons,
    /// Powers of tau to which nobody contributed.
    #[error("nobody contributed to these powers: everyone knows tau")]
    NoContributions,
    /// A section of powers of tau does not follow from the contributions.
    #[error("{section}: {problem}")]
    Powers {
        /// The section.
        section: SectionName,
        /// The fault, with the index of a wrong point if one is known.
        problem: String,
    },
    /// The powers are not those whose hash is in the last contribution.
    #[error("the hash of the powers is not the next challenge that the last contribution states")]
    Challenge,
    /// Powers that are a part of a ceremony's.
    #[error("these are 2^{power} of the ceremony's 2^{ceremony_power} powers: take the whole file")]
    Reduced {
        /// The file's power.
        power: u32,
        /// The ceremony's power.
        ceremony_power: u32,
    },
    /// Parameters of bellman that do not continue a key.
    #[error("the parameters do not continue the key: {0}")]
    OtherKey(&'static str),
    /// A response to another challenge.
    #[error("the response is not to the challenge of these powers")]
    OtherChallenge,
    /// Powers without Lagrange polynomials.
    #[error("{}", UNPREPARED)]
    Unprepared,
    /// A temporary file could not be created or mapped.
    #[error("{}: cannot keep points in a temporary file: {source}", folder.display())]
    Scratch {
        /// The folder for temporary files.
        folder: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A name or a beacon's seed has no room in the file.
    #[error("a contribution's name and a beacon's seed have at most 255 bytes")]
    TooLong,
    /// A beacon that cannot be used.
    #[error("the beacon: {0}")]
    Beacon(String),
    /// The operating system has no randomness.
    #[error("the operating system's random generator: {0}")]
    Randomness(String),
}

impl From<FileError> for CeremonyError {
    fn from(error: FileError) -> Self {
        CircomError::Io(error).into()
    }
}

impl Classified for CeremonyError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::File(error) => error.kind(),
            Self::Key(error) => error.kind(),
            Self::Contribution { .. }
            | Self::Delta
            | Self::Differs(_)
            | Self::OnlyBeacons
            | Self::NoContributions
            | Self::Powers { .. }
            | Self::Challenge => ErrorKind::Rejected,
            Self::NotInitial(_)
            | Self::OtherKey(_)
            | Self::Reduced { .. }
            | Self::OtherChallenge
            | Self::Unprepared => ErrorKind::Mismatch,
            Self::NoList | Self::TooLong | Self::Beacon(_) => ErrorKind::Malformed,
            Self::Scratch { .. } => ErrorKind::Io,
            Self::Randomness(_) => ErrorKind::System,
        }
    }

    fn subject(&self) -> Option<Subject> {
        match self {
            Self::Key(error) => error.subject(),
            Self::File(_) | Self::NotInitial(_) | Self::Scratch { .. } | Self::Randomness(_) => None,
            _ => Some(Subject::Key),
        }
    }
}
