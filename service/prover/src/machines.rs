//! A machine for each number of threads, kept for the next task.

use super::{
    lru_cache::{CacheBounds, LruCache},
    replies::Replies,
};
use proofmill::{Level, Machine};
use proofmill_console::{Failure, Options, Threads};
use std::{sync::Arc, thread};

/// The most numbers of threads for which a machine is kept.
const MOST_MACHINES: usize = 4;

/// Machines by their number of threads.
pub(super) struct Machines {
    pub(super) level: Level,
    /// The most threads of a machine.
    pub(super) most: usize,
    allow_insecure_setup: bool,
    replies: Replies,
    kept: LruCache<usize, Machine>,
}

impl Machines {
    /// Reads the options.
    ///
    /// # Errors
    /// An unknown level, a level that this CPU lacks, or several numbers of threads.
    pub(super) fn new(options: &Options, replies: Replies) -> Result<Self, Failure> {
        let level = match &options.level {
            Some(name) => name.parse().map_err(|error| Failure::Input(format!("{error}")))?,
            None => Level::best(),
        };
        let most = match options.threads.as_ref().map(|counts| counts.0.as_slice()) {
            None | Some([Threads::All]) => thread::available_parallelism().map_or(1, usize::from),
            Some([Threads::Count(count)]) => *count as usize,
            Some(_) => return Err(Failure::Input("expected one number for --threads".to_owned())),
        };
        let bounds = CacheBounds { count: MOST_MACHINES, bytes: u64::MAX };
        let allow_insecure_setup = options.allow_insecure_setup;
        Ok(Self { level, most, allow_insecure_setup, replies, kept: LruCache::new(bounds) })
    }

    /// The machine with `threads` threads, or with the most that are allowed.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub(super) fn with(&mut self, threads: usize) -> Result<Arc<Machine>, proofmill::Error> {
        let threads = threads.clamp(1, self.most);
        if let Some(machine) = self.kept.get(&threads) {
            return Ok(machine);
        }
        let replies = self.replies.clone();
        let mut machine = Machine::builder()
            .level(self.level)
            .threads(threads)
            .on_progress(move |phase| replies.begin(phase));
        if self.allow_insecure_setup {
            machine = machine.allow_insecure_setup(|warning| eprintln!("warning: {warning}"));
        }
        Ok(self.kept.put(threads, machine.build()?, 0))
    }
}
