//! Replies: one line each, at once. Phases are timed and reported as they begin.

use proofmill_console::{Display, PhaseClock};
use proofmill_job::{Reply, TaskPhase};
use std::{
    io::{self, Write},
    process,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The way to the supervisor, and the phases of the task that runs.
#[derive(Clone)]
pub(super) struct Replies(Arc<Mutex<PhaseClock>>);

impl Replies {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(PhaseClock::new(Display::Nothing))))
    }

    /// Writes a reply. Without a reader the process ends: nobody waits for its work.
    pub(super) fn send(&self, reply: &Reply) {
        let write = || {
            let mut line = serde_json::to_vec(reply)?;
            line.push(b'\n');
            let mut output = io::stdout().lock();
            output.write_all(&line)?;
            output.flush()
        };
        let written: io::Result<()> = write();
        if written.is_err() {
            process::exit(1);
        }
    }

    /// Forgets the phases of the task before.
    pub(super) fn start(&self) {
        *self.clock() = PhaseClock::new(Display::Nothing);
    }

    /// Ends the phase that runs, and begins another.
    pub(super) fn begin(&self, phase: &'static str) {
        self.clock().begin(phase);
        self.send(&Reply::Phase { name: phase.to_owned() });
    }

    /// Ends the last phase and returns all of them, in the order of their first beginning.
    pub(super) fn phases(&self) -> Vec<TaskPhase> {
        let mut clock = self.clock();
        clock.stop();
        let phase = |phase: &proofmill_console::Phase| TaskPhase {
            name: phase.name.to_owned(),
            seconds: phase.seconds,
        };
        clock.phases().iter().map(phase).collect()
    }

    fn clock(&self) -> MutexGuard<'_, PhaseClock> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
