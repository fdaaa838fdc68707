//! Provers that wait for jobs, warm: started, and with the keys of earlier jobs still open.

use super::{
    memory::MachineMemory,
    prover::{ProverProcess, ProverProgram, StartError},
};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// How long a prover waits unused until it is ended, unless it is the last.
const UNUSED: Duration = Duration::from_secs(600);

/// The memory of a waiting prover that does not count, in bytes: the worker's reserve has room for it.
const SMALL: u64 = 64 << 20;

/// Provers that wait.
#[derive(Debug)]
pub(super) struct Pool {
    program: ProverProgram,
    key_memory: u64,
    machine: Arc<MachineMemory>,
    /// In the order of last use, the most recently used one last.
    idle: Mutex<Vec<ProverProcess>>,
}

impl Pool {
    /// An empty pool of processes of a program, each of which keeps open keys of at most so many bytes.
    pub(super) fn new(program: ProverProgram, key_memory: u64, machine: Arc<MachineMemory>) -> Self {
        Self { program, key_memory, machine, idle: Mutex::default() }
    }

    /// A prover: one that waits, or a new one.
    pub(super) async fn get(&self) -> Result<ProverProcess, StartError> {
        while let Some(prover) = self.take(|_| true) {
            if let Some(prover) = prover.if_fit().await {
                return Ok(prover);
            }
        }
        ProverProcess::start(&self.program, Some(self.key_memory)).await
    }

    /// The best prover for a job with this key: this one, or one that waits.
    pub(super) fn choose(&self, prover: Option<ProverProcess>, key: Option<&str>) -> Option<ProverProcess> {
        let is_warm = |prover: &ProverProcess| key.is_none() || prover.last_key.as_deref() == key;
        if prover.as_ref().is_some_and(is_warm) {
            return prover;
        }
        // A prover with this key open saves the time to open it again.
        let Some(warm) = self.take(is_warm) else { return prover.or_else(|| self.take(|_| true)) };
        if let Some(prover) = prover {
            self.put(prover);
        }
        Some(warm)
    }

    /// Takes back a prover that has answered.
    pub(super) fn put(&self, mut prover: ProverProcess) {
        let memory = self.machine.private(prover.process()).unwrap_or(0);
        prover.kept_memory = memory.saturating_sub(SMALL);
        self.idle().push(prover);
    }

    /// The memory that waiting provers keep, in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.idle().iter().map(|prover| prover.kept_memory).sum()
    }

    /// Kills all provers that wait; returns whether there were any.
    pub(super) fn kill_idle(&self) -> bool {
        let idle = std::mem::take(&mut *self.idle());
        !idle.is_empty()
    }

    /// Ends all provers that wait.
    pub(super) async fn end(&self) {
        let idle = std::mem::take(&mut *self.idle());
        futures::future::join_all(idle.into_iter().map(ProverProcess::end)).await;
    }

    /// Ends provers that were not used for long, but for one.
    pub(super) async fn end_unused(&self) {
        let unused = {
            let mut idle = self.idle();
            // The first one is the least recently used, since each prover returns to the end.
            let is_unused = idle.len() > 1 && idle[0].used_at.elapsed() > UNUSED;
            is_unused.then(|| idle.remove(0))
        };
        if let Some(prover) = unused {
            prover.end().await;
        }
    }

    /// The least recently used prover of those that suit.
    fn take(&self, suits: impl Fn(&ProverProcess) -> bool) -> Option<ProverProcess> {
        let mut idle = self.idle();
        let index = idle.iter().position(suits)?;
        Some(idle.remove(index))
    }

    fn idle(&self) -> MutexGuard<'_, Vec<ProverProcess>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
