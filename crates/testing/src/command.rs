//! Runs a program in a temporary folder.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tempfile::TempDir;

/// The result of a run.
#[derive(Debug)]
pub struct Run {
    /// The arguments, for messages.
    pub arguments: String,
    /// The exit status; `None` if a signal ended the program.
    pub status: Option<i32>,
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
}

impl Run {
    /// Checks for exit status 0 and nothing on standard error.
    ///
    /// # Panics
    /// If not.
    #[track_caller]
    pub fn succeeded(self) -> Self {
        assert_eq!((self.status, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        self
    }

    /// Checks for exit status 0 and warnings on standard error, one line each, and returns them.
    ///
    /// # Panics
    /// If not.
    #[track_caller]
    pub fn warned(self) -> String {
        assert_eq!(self.status, Some(0), "{self:?}");
        assert!(!self.stderr.is_empty(), "{self:?}");
        assert!(self.stderr.lines().all(|line| line.starts_with("warning: ")), "{self:?}");
        self.stderr
    }

    /// Checks for this exit status and one line on standard error, which it returns.
    ///
    /// # Panics
    /// If not.
    #[track_caller]
    pub fn failed(self, status: i32) -> String {
        assert_eq!(self.status, Some(status), "{self:?}");
        assert!(self.stderr.starts_with("error: ") && self.stderr.ends_with('\n'), "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        self.stderr
    }
}

/// A temporary folder in which a program runs.
pub struct Folder {
    folder: TempDir,
    program: PathBuf,
}

impl Folder {
    /// An empty folder for the program at this path.
    ///
    /// # Panics
    /// If it cannot be created. All functions of this type panic on errors.
    pub fn empty(program: impl Into<PathBuf>) -> Self {
        Self { folder: TempDir::new().unwrap(), program: program.into() }
    }

    /// A folder with the files of `examples/membership-small`.
    pub fn with_example(program: impl Into<PathBuf>) -> Self {
        let folder = Self::empty(program);
        for entry in fs::read_dir(examples().join("membership-small")).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), folder.path(entry.file_name().to_str().unwrap())).unwrap();
        }
        folder
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The bytes of a file.
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The text of a file.
    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// The names of all files, sorted.
    pub fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A command that is not started yet, for tests that set more than arguments.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments.split_whitespace()).current_dir(self.folder.path());
        for variable in ["PROOFMILL_LEVEL", "PROOFMILL_SHA256", "PROOFMILL_ALLOW_INSECURE_SETUP"] {
            command.env_remove(variable);
        }
        // Not the user's.
        command.env("PROOFMILL_CIRCUIT_CACHE", "off");
        command.stdin(Stdio::null());
        command
    }

    /// Runs the program with arguments separated by spaces.
    pub fn run(&self, arguments: &str) -> Run {
        let output = self.command(arguments).output().unwrap();
        Run {
            arguments: arguments.to_owned(),
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The repository's folder of examples.
pub fn examples() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"))
}
