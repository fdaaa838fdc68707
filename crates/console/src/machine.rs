//! What a command computes with.

use crate::{Failure, Options, PhaseClock, StorageOptions, Threads};
use proofmill::Level;
use proofmill_progress::Progress;
use std::{
    io::IsTerminal,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

/// The library's machine, and the clock that tells the user what it does.
pub struct Machine {
    machine: proofmill::Machine,
    clock: Arc<Mutex<PhaseClock>>,
    quiet: bool,
}

impl Machine {
    /// Reads the options and starts the threads.
    ///
    /// # Errors
    /// A level that is unknown or that this CPU lacks, several numbers of threads, threads that cannot be started.
    pub fn new(options: &Options, storage: Option<&StorageOptions>) -> Result<Self, Failure> {
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
        let clock = PhaseClock::new(!options.quiet && std::io::stderr().is_terminal());
        let clock = Arc::new(Mutex::new(clock));
        let told = clock.clone();
        let mut machine = proofmill::Machine::builder()
            .level(level)
            .threads(threads)
            .on_progress(move |phase| lock(&told).begin(phase));
        if let Some(StorageOptions { memory, scratch }) = storage {
            machine = machine.memory(*memory);
            if let Some(folder) = scratch {
                machine = machine.scratch(folder);
            }
        }
        let machine = machine.build();
        let machine =
            machine.map_err(|error| Failure::Input(format!("cannot start {threads} threads: {error}")))?;
        Ok(Self { machine, clock, quiet: options.quiet })
    }

    /// Runs `work` on the threads: the library's functions compute there with this machine, and report their phases to its
    /// clock. `work` reports those that are its own to its second argument.
    pub fn run<T: Send>(&mut self, work: impl FnOnce(Level, Progress<'_>) -> T + Send) -> T {
        let Self { machine, clock, .. } = self;
        let level = machine.level();
        let result = machine.run(|| work(level, Progress::new(&|phase| lock(clock).begin(phase))));
        lock(clock).stop();
        result
    }

    /// The CPU features to use.
    pub fn level(&self) -> Level {
        self.machine.level()
    }

    /// How many threads compute.
    pub fn threads(&self) -> usize {
        self.machine.threads()
    }

    /// Whether nothing but errors is to be printed.
    pub fn quiet(&self) -> bool {
        self.quiet
    }

    /// What times the phases.
    pub fn clock(&self) -> MutexGuard<'_, PhaseClock> {
        lock(&self.clock)
    }
}

fn lock(clock: &Mutex<PhaseClock>) -> MutexGuard<'_, PhaseClock> {
    clock.lock().unwrap_or_else(PoisonError::into_inner)
}
