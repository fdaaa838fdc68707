//! What can be wrong with a file, and where.

use crate::file_kind::FileKind;
use std::{
    fmt::{self, Write},
    io,
    path::Path,
};

/// A file's path as messages show it: on one line whatever the path holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileName(String);

impl FileName {
    /// Control characters become `?`.
    pub fn new(path: &Path) -> Self {
        Self(path.to_string_lossy().chars().map(|c| if c.is_control() { '?' } else { c }).collect())
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A section of a container by number and content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SectionName {
    /// The number in the file.
    pub id: u32,
    /// What it holds, in a few words.
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
    /// The operating system refused.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: FileName,
        /// What it said.
        source: io::Error,
    },
    /// The first bytes are not those of the expected kind of file.
    #[error("{file}: expected {expected}, found {found}")]
    Kind {
        /// The file.
        file: FileName,
        /// What was asked for.
        expected: String,
        /// What the first bytes say.
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
        /// The newest supported.
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
    /// A section that this kind of file must have is absent.
    #[error("{file}: {section} is missing")]
    MissingSection {
        /// The file.
        file: FileName,
        /// The section.
        section: SectionName,
    },
    /// A section is there more than once.
    #[error("{file}: {section} is there twice, again at offset {offset}")]
    DuplicateSection {
        /// The file.
        file: FileName,
        /// The section.
        section: SectionName,
        /// Of the second one, from the beginning of the file.
        offset: u64,
    },
    /// The file is of a curve other than BN254.
    #[error("{place}: expected curve bn254, found {found}")]
    Curve {
        /// Where the modulus is.
        place: Place,
        /// Name of the curve or its modulus.
        found: String,
    },
    /// The file is of another proof system.
    #[error("{file}: expected protocol {expected}, found {found}")]
    Protocol {
        /// The file.
        file: FileName,
        /// What was asked for.
        expected: &'static str,
        /// What the file says.
        found: String,
    },
    /// A value, count or length that cannot be.
    #[error("{place}: {problem}")]
    Malformed {
        /// Where.
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
    /// JSON of the right shape with a value that cannot be.
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
    pub(crate) fn io(file: &FileName, source: io::Error) -> Self {
        Self::Io { file: file.clone(), source }
    }

    pub(crate) fn json_value(file: &FileName, key: &str, problem: impl fmt::Display) -> Self {
        Self::JsonValue { file: file.clone(), key: key.to_owned(), problem: problem.to_string() }
    }
}

/// Bytes that should have been text, for a message: printable ASCII as it is, the rest as `\xNN`.
pub(crate) fn show_bytes(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = match byte {
            b' '..=b'~' => write!(text, "{}", char::from(*byte)),
            _ => write!(text, "\\x{byte:02x}"),
        };
    }
    text
}
