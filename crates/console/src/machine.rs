//! What a command computes with.

use crate::{Failure, Options, PhaseClock, Threads};
use proofmill_simd::Level;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::{io::IsTerminal, thread};

/// A level of the CPU, threads, and the clock that tells the user what they do.
pub struct Machine {
    /// The CPU features to use.
    pub level: Level,
    /// How many threads compute.
    pub threads: usize,
    /// Whether nothing but errors is to be printed.
    pub quiet: bool,
    pool: ThreadPool,
    /// Times the phases.
    pub clock: PhaseClock,
}

impl Machine {
    /// Reads the options and starts the threads.
    ///
    /// # Errors
    /// A level that is unknown or that this CPU lacks, several numbers of threads, threads that cannot be started.
    pub fn new(options: &Options) -> Result<Self, Failure> {
        let level = match &options.level {
            Some(name) => name.parse().map_err(|error| Failure::Input(format!("{error}")))?,
            None => Level::best(),
        };
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        let threads = match options.threads.as_ref().map(|counts| counts.0.as_slice()) {
            None | Some([Threads::All]) => cores(),
            Some([Threads::Count(count)]) => *count as usize,
            Some(_) => {
                return Err(Failure::Input(
                    "expected one number for --threads: only `bench` takes several".to_owned(),
                ));
            }
        };
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|error| Failure::Input(format!("cannot start {threads} threads: {error}")))?;
        let clock = PhaseClock::new(!options.quiet && std::io::stderr().is_terminal());
        Ok(Self { level, threads, quiet: options.quiet, pool, clock })
    }

    /// Runs `work` on the threads; it calls its second argument when a phase begins.
    pub fn run<T: Send>(&mut self, work: impl FnOnce(Level, &mut dyn FnMut(&'static str)) -> T + Send) -> T {
        let Self { level, pool, clock, .. } = self;
        let result = pool.install(|| work(*level, &mut |phase| clock.begin(phase)));
        clock.stop();
        result
    }
}
