//! Names of files in messages, and the errors that have them.

use std::{fmt, io, path::Path};

/// A file's path for messages, always on one line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileName(String);

impl FileName {
    /// Replaces control characters by `?`.
    pub fn new(path: &Path) -> Self {
        Self(path.to_string_lossy().chars().map(|c| if c.is_control() { '?' } else { c }).collect())
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An error of the operating system about a file.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {source}")]
pub struct FileError {
    /// The file.
    pub file: FileName,
    /// The operating system's error.
    pub source: io::Error,
}

impl FileError {
    /// An error about the file of this name.
    pub fn new(file: &FileName, source: io::Error) -> Self {
        Self { file: file.clone(), source }
    }

    /// An error about the file at a path.
    pub fn at(path: &Path, source: io::Error) -> Self {
        Self { file: FileName::new(path), source }
    }
}
