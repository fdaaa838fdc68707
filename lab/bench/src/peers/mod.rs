//! Peers: other libraries. For each, a small program in `lab/peers`, its runner, does the same work on
//! the same input as a kernel of Proofmill and speaks a line protocol (`lab/peers/README.md`).
//!
//! [`Peers`] is the list. [`Peer::build`] builds a runner from sources with locked versions. A [`Runner`] is
//! a running one.

mod runner;

pub use runner::{Assignment, Runner, RunnerLimits};

use crate::{BenchError, process};
use serde::Deserialize;
use std::{
    collections::BTreeSet,
    env, fs,
    path::{Component, Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

/// The folder of runners in a checkout of Proofmill.
const DEFAULT_FOLDER: &str = "lab/peers";

/// The list's file name in that folder.
const LIST: &str = "peers.toml";

/// Time limit of a build; the longest takes some minutes on two cores.
const BUILD_LIMIT: Duration = Duration::from_secs(1800);

/// The peers listed in a folder.
#[derive(Clone, Debug)]
pub struct Peers {
    peers: Vec<Peer>,
}

/// A library and the program that runs its kernels.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// The library's name, which is the implementation in its rows.
    pub name: String,
    /// Working directory of its commands, relative to the list's folder.
    folder: PathBuf,
    /// The tool that builds or runs it: `cargo`.
    needs: String,
    /// What to install if the tool is missing.
    remedy: String,
    /// The build command with its arguments; fast if nothing has changed.
    build: Vec<String>,
    /// The command that starts it, without the protocol's arguments.
    run: Vec<String>,
    /// Kernels that it runs on any number of threads.
    #[serde(default)]
    parallel: BTreeSet<String>,
    /// Kernels that it runs on one thread only.
    #[serde(default)]
    serial: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(rename = "peer")]
    peers: Vec<Peer>,
}

/// The result of building a runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Build {
    /// The runner can be started.
    Done,
    /// The tool that builds or runs it is not installed.
    Absent {
        /// What to install.
        remedy: String,
    },
}

impl Peers {
    /// Reads `peers.toml` in `folder`.
    ///
    /// # Errors
    /// A file that is missing or invalid.
    pub fn read(folder: &Path) -> Result<Self, BenchError> {
        let path = folder.join(LIST);
        let io = |path: &Path, source| BenchError::Io { path: path.to_owned(), source };
        let text = fs::read_to_string(&path).map_err(|source| io(&path, source))?;
        let folder = folder.canonicalize().map_err(|source| io(folder, source))?;
        let malformed = |problem: String| BenchError::Malformed { path: path.clone(), problem };
        let mut peers = toml::from_str::<List>(&text)
            .map_err(|error| malformed(error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")))?
            .peers;
        let mut names = BTreeSet::new();
        for peer in &mut peers {
            peer.check().map_err(|problem| malformed(format!("peer {}: {problem}", peer.name)))?;
            if !names.insert(peer.name.clone()) {
                return Err(malformed(format!("expected each name once, found {} again", peer.name)));
            }
            peer.folder = folder.join(&peer.folder);
        }
        Ok(Self { peers })
    }

    /// Reads the list in `folder`. If `None`, in the nearest checkout of Proofmill that contains the working
    /// directory or this program.
    ///
    /// # Errors
    /// The errors of [`Peers::read`]. Without a checkout, a sentence that says what to do.
    pub fn find(folder: Option<&Path>) -> Result<Self, BenchError> {
        if let Some(folder) = folder {
            return Self::read(folder);
        }
        let program = env::current_exe().and_then(|path| path.canonicalize());
        let starts = [env::current_dir(), program].into_iter().flatten();
        let found = starts.collect::<Vec<_>>().iter().find_map(|start| around(start));
        let folder = found.ok_or_else(|| BenchError::Workload {
            name: "peers".to_owned(),
            problem: format!(
                "their runners are built from Proofmill's sources, and neither this folder nor the program lies in a checkout: \
                 clone its repository and give --peers-dir CHECKOUT/{DEFAULT_FOLDER}"
            ),
        })?;
        Self::read(&folder)
    }

    /// All peers.
    #[must_use]
    pub fn all(&self) -> &[Peer] {
        &self.peers
    }

    /// The peers that run `kernel` (`family/benchmark`) on `threads` threads.
    pub fn of(&self, kernel: &str, threads: u32) -> impl Iterator<Item = &Peer> {
        self.peers.iter().filter(move |peer| peer.runs(kernel, threads))
    }

    /// The peer with this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Peer> {
        self.peers.iter().find(|peer| peer.name == name)
    }
}

impl Peer {
    /// Whether it runs `kernel` (`family/benchmark`) on `threads` threads.
    #[must_use]
    pub fn runs(&self, kernel: &str, threads: u32) -> bool {
        self.parallel.contains(kernel) || threads == 1 && self.serial.contains(kernel)
    }

    /// Its kernels, sorted.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.parallel.union(&self.serial).map(String::as_str)
    }

    /// Builds its runner, if the tool for it is installed.
    ///
    /// # Errors
    /// A build that fails, with the end of its output, or that exceeds the time limit.
    pub fn build(&self) -> Result<Build, BenchError> {
        let path = env::var_os("PATH").unwrap_or_default();
        if process::find(&self.needs, &path).is_none() {
            return Ok(Build::Absent { remedy: self.remedy.clone() });
        }
        let mut command = self.command(&self.build);
        // `run` expects the build results in the default folder.
        command.env_remove("CARGO_TARGET_DIR").env_remove("CARGO_BUILD_TARGET_DIR").stdin(Stdio::null());
        match process::output(command, BUILD_LIMIT) {
            Ok(_) => Ok(Build::Done),
            Err(failure) => {
                let words = self.build.join(" ");
                Err(self.error(format!("{words} in {} {failure}", self.folder.display())))
            }
        }
    }

    fn error(&self, problem: String) -> BenchError {
        BenchError::Workload { name: format!("peer {}", self.name), problem }
    }

    fn check(&self) -> Result<(), String> {
        let inside = |path: &Path| path.components().all(|part| !matches!(part, Component::ParentDir));
        if self.name.is_empty() || self.needs.is_empty() {
            return Err("expected a name and the tool that it needs".to_owned());
        }
        if self.build.is_empty() || self.run.is_empty() {
            return Err("expected the words of two commands, build and run".to_owned());
        }
        if self.folder.is_absolute() || !inside(&self.folder) {
            return Err(format!("expected a folder within the list's, found {}", self.folder.display()));
        }
        match self.parallel.intersection(&self.serial).next() {
            Some(kernel) => Err(format!("expected {kernel} in parallel or in serial, found it in both")),
            None => Ok(()),
        }
    }

    /// A command that runs in the peer's folder. A program name with a slash is relative to that folder.
    fn command(&self, words: &[String]) -> Command {
        let (program, arguments) = words.split_first().expect("checked when read");
        let program = if program.contains('/') { self.folder.join(program) } else { PathBuf::from(program) };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder);
        command
    }
}

/// The folder of runners of the checkout that contains `start`.
fn around(start: &Path) -> Option<PathBuf> {
    let folders = start.ancestors().map(|folder| folder.join(DEFAULT_FOLDER));
    folders.into_iter().find(|folder| folder.join(LIST).is_file())
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT_FOLDER, LIST, around};
    use std::fs;

    #[test]
    fn the_innermost_enclosing_checkout_is_found() {
        let outside = tempfile::tempdir().unwrap();
        let outer = outside.path().join("outer");
        let inner = outer.join("some/inner");
        for checkout in [&outer, &inner] {
            fs::create_dir_all(checkout.join(DEFAULT_FOLDER)).unwrap();
            fs::write(checkout.join(DEFAULT_FOLDER).join(LIST), "").unwrap();
        }
        // A folder with the right name but without a list is ignored.
        fs::create_dir_all(inner.join("crates").join(DEFAULT_FOLDER)).unwrap();
        assert_eq!(around(&inner.join("lab/bench")), Some(inner.join(DEFAULT_FOLDER)));
        assert_eq!(around(&inner), Some(inner.join(DEFAULT_FOLDER)));
        assert_eq!(around(&outer.join("target/release/proofmill")), Some(outer.join(DEFAULT_FOLDER)));
        assert_eq!(around(outside.path()), None);
    }
}
