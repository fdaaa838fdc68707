//! The machine of a command.

use crate::{Display, Failure, Options, PhaseClock, StorageOptions, Threads};
use proofmill::Level;
use proofmill_run::{Progress, Run};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

/// The library's machine, with a clock that shows progress to the user.
pub struct Machine {
    machine: proofmill::Machine,
    clock: Arc<Mutex<PhaseClock>>,
    display: Display,
    storage: Option<StorageOptions>,
}

impl Machine {
    /// Reads the options and starts the threads.
    ///
    /// # Errors
    /// An unknown level, a level that this CPU lacks, several numbers of threads, or threads that cannot be started.
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
        let display = Display::of(options);
        let clock = Arc::new(Mutex::new(PhaseClock::new(display)));
        let (told, shared) = (clock.clone(), clock.clone());
        let mut machine = proofmill::Machine::builder()
            .level(level)
            .threads(threads)
            .on_progress(move |phase| lock(&told).begin(phase))
            .on_share(move |share| lock(&shared).share(share));
        if let Some(StorageOptions { memory, scratch }) = storage {
            machine = machine.memory(*memory);
            if let Some(folder) = scratch {
                machine = machine.scratch(folder);
            }
        }
        if options.allow_insecure_setup {
            let has_warned = options.has_warned_of_insecure_setup;
            machine = machine.allow_insecure_setup(move |warning| {
                if !has_warned {
                    eprintln!("warning: {warning}");
                }
            });
        }
        let machine = machine.build();
        let machine =
            machine.map_err(|error| Failure::Input(format!("cannot start {threads} threads: {error}")))?;
        Ok(Self { machine, clock, display, storage: storage.cloned() })
    }

    /// Runs `work` on the machine's threads, where the library's functions use this machine and report their phases to its
    /// clock. Functions below the library, and phases of the command's own, need the argument.
    pub fn run<T: Send>(&mut self, work: impl FnOnce(Run<'_>) -> T + Send) -> T {
        let Self { machine, clock, storage, .. } = self;
        let (level, memory) = (machine.level(), storage.as_ref().map(|storage| storage.memory));
        let scratch = storage.as_ref().and_then(|storage| storage.scratch.as_deref());
        let result = machine.run(|| {
            let told = |phase| lock(clock).begin(phase);
            work(Run { level, memory, scratch, progress: Progress::new(&told) })
        });
        lock(clock).stop();
        result
    }

    /// The CPU features to use.
    pub fn level(&self) -> Level {
        self.machine.level()
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.machine.threads()
    }

    /// Whether only errors are printed.
    pub fn quiet(&self) -> bool {
        self.display == Display::Nothing
    }

    /// The display of progress, in addition to the result.
    pub fn display(&self) -> Display {
        self.display
    }

    /// The clock of the phases.
    pub fn clock(&self) -> MutexGuard<'_, PhaseClock> {
        lock(&self.clock)
    }
}

fn lock(clock: &Mutex<PhaseClock>) -> MutexGuard<'_, PhaseClock> {
    clock.lock().unwrap_or_else(PoisonError::into_inner)
}
