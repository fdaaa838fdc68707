//! Stops provers that take too much memory.

use super::memory::MachineMemory;
use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::oneshot,
    time::{MissedTickBehavior, interval},
};

/// How often it looks.
const LOOK: Duration = Duration::from_millis(100);
/// The number of looks for which it waits after it has freed memory, until the effect can be seen.
const PAUSE: u32 = 10;
/// The memory that a prover may take above twice that of its job, in bytes.
const GRACE: u64 = 256 << 20;
/// Killing a prover that takes less than this does not help the machine, in bytes.
const SMALL: u64 = 64 << 20;

/// Why a prover has to stop. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TooMuch {
    /// It takes more than its job may.
    OfJob {
        /// The memory that it takes.
        taken: u64,
        /// The memory that it may take.
        most: u64,
    },
    /// The machine has too little left.
    OfMachine {
        /// The memory that is left.
        available: u64,
    },
}

/// Looks at the memory of provers.
pub(super) struct Watchdog {
    machine: Arc<MachineMemory>,
    /// The least memory that has to be left, in bytes.
    least: u64,
    /// The watched provers, by process.
    watched: Mutex<HashMap<u32, Watched>>,
}

struct Watched {
    predicted: u64,
    kept: u64,
    stop: Option<oneshot::Sender<TooMuch>>,
}

/// A prover that is watched, until this is dropped.
pub(super) struct Watch<'a> {
    watchdog: &'a Watchdog,
    process: u32,
    stop: oneshot::Receiver<TooMuch>,
}

impl Watchdog {
    /// A watchdog for provers on this machine.
    pub(super) fn new(machine: Arc<MachineMemory>) -> Self {
        let least = machine.total().map_or(0, |total| (total / 32).min(256 << 20));
        Self { machine, least, watched: Mutex::default() }
    }

    /// Watches a process whose job takes so many bytes, and which keeps so many of earlier jobs.
    pub(super) fn watch(&self, process: u32, predicted: u64, kept: u64) -> Watch<'_> {
        let (stop, stopped) = oneshot::channel();
        self.watched().insert(process, Watched { predicted, kept, stop: Some(stop) });
        Watch { watchdog: self, process, stop: stopped }
    }

    /// The least memory of the machine that has to be left, in bytes.
    pub(super) fn least(&self) -> u64 {
        self.least
    }

    /// The predicted memory that the watched processes already have, in bytes.
    pub(super) fn taken(&self) -> u64 {
        let taken = |(process, watched): (&u32, &Watched)| {
            let expected = watched.predicted.saturating_add(watched.kept);
            self.machine.private(*process).unwrap_or(0).min(expected)
        };
        self.watched().iter().map(taken).sum()
    }

    /// Looks again and again. `free` frees memory that no job needs, and returns whether there was any.
    pub(super) async fn run(&self, free: impl Fn() -> bool) -> Infallible {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut pause = 0_u32;
        loop {
            looks.tick().await;
            if self.watched().is_empty() {
                continue;
            }
            let taken = self.stop_large();
            pause = pause.saturating_sub(1);
            let available = self.machine.available().unwrap_or(u64::MAX);
            if available < self.least && pause == 0 {
                pause = PAUSE;
                // Idle provers go first: their end costs no attempt of a job.
                if free() {
                    tracing::warn!(available, "little memory is left: idle provers are ended");
                } else {
                    self.stop_greatest(&taken, available);
                }
            }
        }
    }

    /// Stops the processes that take more than their jobs may, and returns what each takes.
    fn stop_large(&self) -> Vec<(u32, u64)> {
        let mut all = Vec::new();
        for (&process, watched) in self.watched().iter_mut() {
            let Some(taken) = self.machine.private(process) else { continue };
            let most = watched.predicted.saturating_mul(2).saturating_add(watched.kept).saturating_add(GRACE);
            if taken > most {
                watched.stop(TooMuch::OfJob { taken, most });
            } else {
                all.push((process, taken));
            }
        }
        all
    }

    /// Stops the process that takes the most memory in proportion to its prediction.
    fn stop_greatest(&self, taken: &[(u32, u64)], available: u64) {
        let mut watched = self.watched();
        // It need not be the largest one.
        let share = |process: &u32, taken: u64| {
            watched.get(process).map_or(0.0, |watched| taken as f64 / watched.predicted.max(1) as f64)
        };
        let large = taken.iter().filter(|(_, taken)| *taken >= SMALL);
        let greatest = large.max_by(|a, b| share(&a.0, a.1).total_cmp(&share(&b.0, b.1)));
        if let Some(watched) = greatest.and_then(|(process, _)| watched.get_mut(process)) {
            watched.stop(TooMuch::OfMachine { available });
        }
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<u32, Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    fn stop(&mut self, reason: TooMuch) {
        if let Some(stop) = self.stop.take() {
            // Nobody listens if the job has just ended.
            let _ = stop.send(reason);
        }
    }
}

impl Watch<'_> {
    /// Completes when the process has to stop.
    pub(super) async fn too_much(&mut self) -> TooMuch {
        match (&mut self.stop).await {
            Ok(reason) => reason,
            Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.watchdog.watched().remove(&self.process);
    }
}

impl std::fmt::Display for TooMuch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mebibytes = |bytes: u64| bytes >> 20;
        match *self {
            Self::OfJob { taken, most } => {
                let (taken, most) = (mebibytes(taken), mebibytes(most));
                write!(
                    f,
                    "the prover took {taken} MiB of memory, more than the {most} MiB that this job may take"
                )
            }
            Self::OfMachine { available } => {
                write!(f, "the machine had only {} MiB of memory left", mebibytes(available))
            }
        }
    }
}
