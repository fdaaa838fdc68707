//! Peers: other people's libraries, each behind a small program of `benchmarks/peers` that does the same work on the same
//! input as a kernel of ours and speaks a protocol of lines (`benchmarks/peers/README.md`).
//!
//! [`Peers`] is the list, [`Peer::build`] makes a program from sources whose versions are locked, and a [`Runner`] is such
//! a program at work.

mod runner;

pub use runner::{Assignment, Limits, Runner};

use crate::{BenchError, process};
use serde::Deserialize;
use std::{
    collections::BTreeSet,
    env, fs,
    path::{Component, Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

/// Where the runners lie in a checkout of Proofmill.
const DEFAULT_FOLDER: &str = "benchmarks/peers";

/// The list's name in that folder.
const LIST: &str = "peers.toml";

/// How long a build may take: the longest is of some minutes, on two cores.
const BUILD_LIMIT: Duration = Duration::from_secs(1800);

/// The peers of a folder.
#[derive(Clone, Debug)]
pub struct Peers {
    peers: Vec<Peer>,
}

/// A library and the program that runs its kernels.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// The library's name: the implementation of its rows.
    pub name: String,
    /// Where its commands are run, from the list's folder.
    folder: PathBuf,
    /// The program that builds it, or runs it: `cargo`.
    needs: String,
    /// What to do where that is missing.
    remedy: String,
    /// Words of the command that builds it; quick where nothing is to be done.
    build: Vec<String>,
    /// Words of the command that runs it, before the protocol's.
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

/// What came of building a runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Build {
    /// It can be started.
    Done,
    /// What builds or runs it is not installed.
    Absent {
        /// What to do about it.
        remedy: String,
    },
}

impl Peers {
    /// Reads `peers.toml` in `folder`.
    ///
    /// # Errors
    /// A file that is missing, or is no such list.
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

    /// Reads the list in `folder`, or without one in the nearest checkout of Proofmill around the working directory or around
    /// this program.
    ///
    /// # Errors
    /// As of [`Peers::read`]; no checkout: then what to do.
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

    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[Peer] {
        &self.peers
    }

    /// Those that run `kernel` (`family/benchmark`) on `threads` threads.
    pub fn of(&self, kernel: &str, threads: u32) -> impl Iterator<Item = &Peer> {
        self.peers.iter().filter(move |peer| peer.runs(kernel, threads))
    }

    /// The peer of that name.
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

    /// Its kernels, in order.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.parallel.union(&self.serial).map(String::as_str)
    }

    /// Builds its runner, where the program that does it is installed.
    ///
    /// # Errors
    /// A build that fails: its last words; one that takes half an hour.
    pub fn build(&self) -> Result<Build, BenchError> {
        let path = env::var_os("PATH").unwrap_or_default();
        if process::find(&self.needs, &path).is_none() {
            return Ok(Build::Absent { remedy: self.remedy.clone() });
        }
        let mut command = self.command(&self.build);
        // Its folder of results is the one that `run` names.
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
            return Err("expected a name and what it needs".to_owned());
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

    /// A command in its folder; a program with a slash in its name lies there too.
    fn command(&self, words: &[String]) -> Command {
        let (program, arguments) = words.split_first().expect("checked when read");
        let program = if program.contains('/') { self.folder.join(program) } else { PathBuf::from(program) };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder);
        command
    }
}

/// The folder of runners of the checkout that `start` lies in.
fn around(start: &Path) -> Option<PathBuf> {
    let folders = start.ancestors().map(|folder| folder.join(DEFAULT_FOLDER));
    folders.into_iter().find(|folder| folder.join(LIST).is_file())
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT_FOLDER, LIST, around};
    use std::fs;

    #[test]
    fn the_nearest_checkout_is_found_from_within_it_only() {
        let outside = tempfile::tempdir().unwrap();
        let outer = outside.path().join("outer");
        let inner = outer.join("some/inner");
        for checkout in [&outer, &inner] {
            fs::create_dir_all(checkout.join(DEFAULT_FOLDER)).unwrap();
            fs::write(checkout.join(DEFAULT_FOLDER).join(LIST), "").unwrap();
        }
        // The folder's name alone does not make it the one.
        fs::create_dir_all(inner.join("crates").join(DEFAULT_FOLDER)).unwrap();
        assert_eq!(around(&inner.join("crates/bench")), Some(inner.join(DEFAULT_FOLDER)));
        assert_eq!(around(&inner), Some(inner.join(DEFAULT_FOLDER)));
        assert_eq!(around(&outer.join("target/release/proofmill")), Some(outer.join(DEFAULT_FOLDER)));
        assert_eq!(around(outside.path()), None);
    }
}
