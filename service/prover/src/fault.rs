//! Why a task fails, in words for the job's owner: without secret values, and with names of keys and inputs in place of paths.

use proofmill::{Error, ErrorKind};
use proofmill_files::FileName;
use proofmill_merkle::MerkleError;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why a task fails.
#[derive(Debug)]
pub(super) enum TaskFault {
    /// An error of the library.
    Library(Error),
    /// An input that is wrong, in one line.
    Input(String),
    /// A file that cannot be read or written, by its name in messages.
    Io(&'static str, io::Error),
    /// The task panicked.
    Panic,
}

impl From<Error> for TaskFault {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

/// The names of files in messages, by path.
#[derive(Debug, Default)]
pub(super) struct FileNames(Vec<(PathBuf, String)>);

impl FileNames {
    /// Calls a file by a name.
    pub(super) fn call(&mut self, path: &Path, name: impl Into<String>) {
        self.0.push((path.to_owned(), name.into()));
    }

    /// Replaces the paths in a message, the longest first: one can begin with another.
    fn apply(&self, mut message: String) -> String {
        let mut names: Vec<_> =
            self.0.iter().map(|(path, name)| (FileName::new(path).to_string(), name)).collect();
        names.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        for (path, name) in names.iter().filter(|(path, _)| !path.is_empty()) {
            message = message.replace(path, name);
        }
        message
    }
}

impl TaskFault {
    /// The answer to the supervisor.
    pub(super) fn failure(self, names: &FileNames) -> proofmill_job::TaskFailure {
        let transient = self.is_transient();
        let message = match self {
            Self::Library(error) => described(&error),
            Self::Input(problem) => problem,
            Self::Io(name, error) => format!("{name}: {error}"),
            Self::Panic => "the prover failed: its log says where".to_owned(),
        };
        let message = one_line(&names.apply(message));
        proofmill_job::TaskFailure { message, transient }
    }

    /// Whether the machine is at fault, and not the input.
    fn is_transient(&self) -> bool {
        match self {
            Self::Library(error) => match error.kind() {
                ErrorKind::Io => !error.io_error().is_some_and(is_about_content),
                ErrorKind::System | ErrorKind::Cancelled => true,
                ErrorKind::Rejected
                | ErrorKind::Unsatisfied
                | ErrorKind::Malformed
                | ErrorKind::Mismatch
                | ErrorKind::InsecureSetup => false,
            },
            Self::Io(_, error) => !is_about_content(error),
            Self::Panic => true,
            Self::Input(_) => false,
        }
    }
}

/// The message of an error, without secret values.
fn described(error: &Error) -> String {
    if let Error::Malformed(cause) = error
        && let Some(MerkleError::NotCanonical { row, column, modulus, .. }) = cause.get().downcast_ref()
    {
        // The usual message has the value.
        return format!(
            "trace: row {row}, column {column} (counted from 0): expected a value below {modulus}"
        );
    }
    error.to_string()
}

/// Whether an error of reading a file comes from the file's content.
fn is_about_content(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, InvalidData, UnexpectedEof};
    matches!(error.kind(), FileTooLarge | InvalidData | UnexpectedEof)
}

/// The longest message, in characters.
const LONGEST: usize = 1000;

/// A message on one line, of bounded length.
fn one_line(message: &str) -> String {
    let mut line: String =
        message.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if message.chars().nth(LONGEST).is_some() {
        line.push_str("...");
    }
    line
}
