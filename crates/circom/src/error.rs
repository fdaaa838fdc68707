//! Errors of reading and writing files, with positions.

use crate::file_kind::FileKind;
use proofmill_files::{FileError, FileName};
use proofmill_run::{Classified, ErrorKind};
use std::fmt;

/// A section of a container by number and content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SectionName {
    /// The section's number.
    pub id: u32,
    /// Its content, in a few words.
    pub content: &'static str,
}

impl fmt::Display for SectionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "section {} ({})", self.id, self.content)
    }
}

/// A position in a section of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: FileName,
    /// The section.
    pub section: SectionName,
    /// Bytes from the beginning of the file.
    pub offset: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, offset {}", self.file, self.section, self.offset)
    }
}

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CircomError {
    /// An operating system error.
    #[error(transparent)]
    Io(FileError),
    /// The first bytes are not those of the expected kind of file.
    #[error("{file}: expected {expected}, found {found}")]
    Kind {
        /// The file.
        file: FileName,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// The format's version is newer than any known.
    #[error("{file}: version {found} of {kind} is not supported, the newest known is {newest}")]
    Version {
        /// The file.
        file: FileName,
        /// The file's kind.
        kind: FileKind,
        /// The version in the file.
        found: u32,
        /// The newest supported version.
        newest: u32,
    },
    /// The list of sections does not fit the file's length.
    #[error("{file}: offset {offset}: {problem}")]
    Container {
        /// The file.
        file: FileName,
        /// Bytes from the beginning of the file.
        offset: u64,
        /// What was expected and found.
        problem: String,
    },
    /// A required section is missing.
    #[error("{file}: {section} is missing")]
    MissingSection {
        /// The file.
        file: FileName,
        /// The section.
        section: SectionName,
    },
    /// A section occurs more than once.
    #[error("{file}: {section} occurs twice, again at offset {offset}")]
    DuplicateSection {
        /// The file.
        file: FileName,
        /// The section.
        section: SectionName,
        /// The second one's offset in bytes from the beginning of the file.
        offset: u64,
    },
    /// The file is of another curve.
    #[error("{place}: expected curve {expected}, found {found}")]
    Curve {
        /// The place of the modulus.
        place: Place,
        /// The name of the curve that was expected.
        expected: String,
        /// The curve's name, or its modulus.
        found: String,
    },
    /// The file is of another proof system.
    #[error("{file}: expected protocol {expected}, found {found}")]
    Protocol {
        /// The file.
        file: FileName,
        /// What was expected.
        expected: &'static str,
        /// The file's protocol.
        found: String,
    },
    /// An invalid value, count or length.
    #[error("{place}: {problem}")]
    Malformed {
        /// The position.
        place: Place,
        /// What was expected and found.
        problem: String,
    },
    /// Not JSON, or JSON of another shape.
    #[error("{file}: {source}")]
    JsonSyntax {
        /// The file.
        file: FileName,
        /// Line, column and expectation.
        source: serde_json::Error,
    },
    /// A line of a `.sym` that is not one of a signal.
    #[error("{file}: line {line}: {problem}")]
    Symbols {
        /// The file.
        file: FileName,
        /// The line, from 1.
        line: u64,
        /// What was expected.
        problem: String,
    },
    /// JSON of the right shape with an invalid value.
    #[error("{file}: {key}: {problem}")]
    JsonValue {
        /// The file.
        file: FileName,
        /// Path to the value, e.g. `pi_b[1][0]`.
        key: String,
        /// What was expected and found.
        problem: String,
    },
}

impl CircomError {
    pub(crate) fn json_value(file: &FileName, key: &str, problem: impl fmt::Display) -> Self {
        Self::JsonValue { file: file.clone(), key: key.to_owned(), problem: problem.to_string() }
    }
}

impl Classified for CircomError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Io(_) => ErrorKind::Io,
            Self::Kind { .. }
            | Self::Version { .. }
            | Self::Container { .. }
            | Self::MissingSection { .. }
            | Self::DuplicateSection { .. }
            | Self::Curve { .. }
            | Self::Protocol { .. }
            | Self::Malformed { .. }
            | Self::JsonSyntax { .. }
            | Self::Symbols { .. }
            | Self::JsonValue { .. } => ErrorKind::Malformed,
        }
    }
}
