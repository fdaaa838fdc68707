//! Runs the binary in a folder of its own that holds the small example's files.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tempfile::TempDir;

pub(crate) const SYSTEMS: [&str; 2] = ["groth16", "plonk"];

/// Goldilocks's modulus.
pub(crate) const MODULUS: u64 = 0xffff_ffff_0000_0001;

/// What a run of the binary left behind.
#[derive(Debug)]
#[allow(dead_code, reason = "the arguments are for messages")]
pub(crate) struct Run {
    arguments: String,
    /// `None` if a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Exit status 0, and silence where nobody watches.
    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!((self.status, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        self
    }

    /// This exit status and one line on standard error; the line.
    #[track_caller]
    pub(crate) fn failed(self, status: i32) -> String {
        assert_eq!(self.status, Some(status), "{self:?}");
        assert!(self.stderr.starts_with("error: ") && self.stderr.ends_with('\n'), "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        self.stderr
    }
}

/// A folder with the files of `examples/membership-small`, in which commands run.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        for entry in fs::read_dir(examples().join("membership-small")).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), folder.path(entry.file_name().to_str().unwrap())).unwrap();
        }
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// Names of all files, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The command to come, for those who set more than arguments.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proofmill"));
        command.args(arguments.split_whitespace()).current_dir(self.0.path());
        command.env_remove("PROOFMILL_LEVEL").env_remove("PROOFMILL_SHA256").stdin(Stdio::null());
        command
    }

    /// Runs the binary with arguments that spaces separate.
    pub(crate) fn run(&self, arguments: &str) -> Run {
        let output = self.command(arguments).output().unwrap();
        Run {
            arguments: arguments.to_owned(),
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

pub(crate) fn examples() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"))
}

/// Writes words of a known answer's generator.
pub(crate) fn write_words(folder: &Folder, name: &str, count: u64, mut state: u64) {
    let mut bytes = Vec::new();
    for _ in 0..count {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend((state % MODULUS).to_le_bytes());
    }
    folder.write(name, bytes);
}

/// Exit status 2, a line that has these words, and no output.
#[track_caller]
pub(crate) fn refused(folder: &Folder, command: &str, words: &[&str]) {
    let before = folder.names();
    let error = folder.run(command).failed(2);
    for word in words {
        assert!(error.contains(word), "{command}: {error}: not {word}");
    }
    assert_eq!(folder.names(), before);
}
