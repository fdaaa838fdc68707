//! One attempt of one job.

use super::{
    Worker,
    backoff::persist,
    keys::HeldKey,
    lease::{Lease, LeaseEnd},
    prover::{ProverError, ProverProcess},
    watchdog::TooMuch,
};
use crate::{
    coordinator::{MOST_SMALL, Trouble},
    objects::blocking,
    store::{JobRecord, SmallOutputs, Worked},
    time::milliseconds,
};
use futures::future::try_join_all;
use proofmill_job::{ContentKind, Finished, Reply, Request, Task, TaskFailure, TaskOutput};
use serde_json::value::RawValue;
use std::{collections::BTreeMap, fs, io, path::Path, time::Duration};
use tempfile::TempDir;
use tokio::{
    sync::{mpsc::UnboundedSender, watch},
    task::Id,
    time::{Instant, timeout_at},
};

/// The pause after the first attempt that was lost; it doubles with each.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How long an input is asked for again while the service is unavailable.
const PATIENCE: Duration = Duration::from_secs(30);

/// The folder for inputs that lie on another machine; it is in the folder of the attempt, where its outputs are.
const INPUTS: &str = "inputs";
/// The largest output, in bytes.
const LARGEST_OUTPUT: u64 = 1 << 30;

/// An attempt of a job.
pub(super) struct Attempt<'a> {
    pub(super) worker: &'a Worker,
    pub(super) job: &'a JobRecord,
    /// The prover's threads.
    pub(super) threads: usize,
    /// When the job arrived.
    pub(super) claimed: Instant,
    /// The lease, as the service gave it.
    pub(super) lease: Duration,
    /// The channel on which it says that its prover has ended its work.
    pub(super) proved: &'a UnboundedSender<Id>,
}

/// The end of an attempt.
enum AttemptEnd {
    Done(Finished, SmallOutputs),
    Failed(String),
    Lost(String),
    Released,
}

/// The reason why there is no result.
#[derive(Debug, thiserror::Error)]
enum AttemptError {
    #[error("{0}")]
    Trouble(#[from] Trouble),
    #[error("{0}")]
    Prover(#[from] ProverError),
    #[error("{}", .0.message)]
    Failure(TaskFailure),
    #[error("{0}: killed")]
    Memory(TooMuch),
    #[error("the file of a key was damaged on the worker's disk")]
    DamagedKey,
    #[error("the worker's disk: {0}")]
    Io(#[from] io::Error),
}

impl Attempt<'_> {
    /// Makes the attempt and reports its end. An error is the service's denial of the worker.
    pub(super) async fn make(self, prover: Option<ProverProcess>) -> Result<(), String> {
        let (phases, changes) = watch::channel(None);
        let JobRecord { id, progress, .. } = self.job;
        let lease = Lease {
            coordinator: &*self.worker.coordinator,
            job: id,
            fence: progress.fence,
            length: self.lease,
            claimed: self.claimed,
        };
        tracing::info!("begins");
        let mut folder = None;
        let mut prover = match prover {
            Some(prover) => prover.if_fit().await,
            None => None,
        };
        let end = tokio::select! {
            biased;
            // Polled before the work: a lost lease ends the work before its next step.
            end = lease.keep(changes) => Err(end),
            result = self.work(&mut prover, &mut folder, &phases) => result,
        };
        // After a lost lease, a busy prover is killed: the job may already run elsewhere.
        if let Some(prover) = prover {
            self.put_away(prover).await;
        }
        if let Some(folder) = folder {
            delete(folder).await;
        }
        match end {
            Ok(()) => {}
            Err(LeaseEnd::Lost(message)) => tracing::warn!(message, "the job is not this worker's any more"),
            Err(LeaseEnd::Over) => tracing::error!("the service was not reached for many leases"),
            Err(LeaseEnd::Denied(message)) => return Err(message),
        }
        Ok(())
    }

    /// Executes the job, stores the outputs, and reports the end.
    async fn work(
        &self,
        prover: &mut Option<ProverProcess>,
        folder: &mut Option<TempDir>,
        phases: &watch::Sender<Option<String>>,
    ) -> Result<(), LeaseEnd> {
        let mut verdict = tokio::select! {
            biased;
            verdict = self.execute(prover, folder, phases) => verdict?,
            () = self.worker.stop.cancelled() => AttemptEnd::Released,
        };
        // A prover that has not answered is killed before the job can go to another worker.
        if let Some(prover) = prover.take() {
            self.put_away(prover).await;
        }
        // The receiver may be gone when the worker ends.
        let _ = self.proved.send(tokio::task::id());
        // The timeout is for the prover. The outputs of a finished task have at least a lease to be stored.
        let length = self.lease;
        let until = (self.claimed + self.timeout()).max(Instant::now() + length);
        if let (AttemptEnd::Done(_, outputs), Some(folder)) = (&mut verdict, &folder) {
            match self.store_outputs(folder.path(), until).await {
                Ok(small) => *outputs = small,
                Err(problem) => verdict = verdict_of(problem)?,
            }
        }
        self.report(verdict, until.max(Instant::now() + length)).await
    }

    /// Returns the prover to the pool if it has answered, else kills it.
    async fn put_away(&self, prover: ProverProcess) {
        if prover.is_busy() { prover.kill().await } else { self.worker.pool.put(prover) }
    }

    fn timeout(&self) -> Duration {
        // Bounded, so that it can be added to a time.
        Duration::from_millis(self.job.timeout_ms).min(Duration::from_secs(10 * 365 * 24 * 3600))
    }

    /// Has the prover execute the job, for as long and with as much memory as it may take.
    async fn execute(
        &self,
        prover: &mut Option<ProverProcess>,
        folder: &mut Option<TempDir>,
        phases: &watch::Sender<Option<String>>,
    ) -> Result<AttemptEnd, LeaseEnd> {
        let answer = timeout_at(self.claimed + self.timeout(), self.ask(prover, folder, phases));
        let problem = match answer.await {
            Ok(Ok(finished)) => return Ok(AttemptEnd::Done(finished, SmallOutputs::new())),
            Ok(Err(problem)) => {
                // The cause may persist in the process: the next attempt gets another one.
                if let AttemptError::Failure(TaskFailure { transient: true, .. }) | AttemptError::DamagedKey =
                    problem
                    && let Some(prover) = prover.take()
                {
                    prover.kill().await;
                }
                problem
            }
            Err(_) => {
                let timeout = self.job.timeout_ms;
                return Ok(AttemptEnd::Lost(format!(
                    "the attempt was not done after {timeout} ms, its time-out: killed"
                )));
            }
        };
        verdict_of(problem)
    }

    async fn ask(
        &self,
        prover: &mut Option<ProverProcess>,
        folder: &mut Option<TempDir>,
        phases: &watch::Sender<Option<String>>,
    ) -> Result<Finished, AttemptError> {
        let path = folder.insert(self.worker.coordinator.staging().folder()?).path();
        let prover = match prover {
            Some(prover) => prover,
            none => none.insert(self.worker.pool.get().await.map_err(io::Error::other)?),
        };
        let (request, keys) = self.request(path).await?;
        let on_phase = |phase: String| {
            tracing::debug!(phase, "phase");
            phases.send_replace(Some(phase));
        };
        let mut watch = self.worker.watchdog.watch(prover.process(), self.job.memory, prover.kept_memory);
        prover.last_key = self.job.task.keys().first().map(|&key| key.to_owned());
        prover.used_at = Instant::now();
        let reply = tokio::select! {
            reply = prover.ask(&request, on_phase) => reply,
            reason = watch.too_much() => return Err(AttemptError::Memory(reason)),
        };
        drop(watch);
        // A damaged key looks like a witness that does not satisfy the circuit, or crashes the prover.
        let is_suspicious = matches!(
            &reply,
            Ok(Reply::Failed(TaskFailure { transient: false, .. })) | Err(ProverError::Ended(_))
        );
        if is_suspicious && self.worker.keys.are_damaged(keys).await? {
            // Other idle provers may have the damaged file open.
            self.worker.pool.kill_idle();
            return Err(AttemptError::DamagedKey);
        }
        match reply? {
            Reply::Finished(finished) => Ok(finished),
            Reply::Failed(failure) => Err(AttemptError::Failure(failure)),
            _ => Err(ProverError::Garbage("an answer to another question".to_owned()).into()),
        }
    }

    /// Brings all that the job needs; the keys are in use as long as they are held.
    async fn request(&self, folder: &Path) -> Result<(Request, Vec<HeldKey>), AttemptError> {
        let Self { worker, job, threads, .. } = *self;
        let mut held = Vec::new();
        let mut keys = BTreeMap::new();
        for digest in job.task.keys() {
            let key = worker.keys.get(&worker.coordinator, digest).await?;
            keys.insert(digest.to_owned(), key.path.clone());
            held.push(key);
        }
        let mut inputs = BTreeMap::new();
        // The download makes this folder: inputs on this machine need none.
        let place = folder.join(INPUTS);
        for &input in job.task.inputs() {
            let bring = || async {
                // The file may be left from an earlier try.
                match fs::remove_file(place.join(input.name())) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                    _ => {}
                }
                worker.coordinator.input(&job.id, job.progress.fence, input, &place).await
            };
            let path = persist(PATIENCE, self.timeout(), bring).await?;
            inputs.insert(input, std::path::absolute(path)?);
        }
        let outputs = folder.to_owned();
        Ok((Request::Execute { task: job.task.clone(), keys, inputs, outputs, threads }, held))
    }

    /// Returns the outputs that go with the report, and stores the others, all at the same time: the disk makes them durable together.
    async fn store_outputs(&self, folder: &Path, until: Instant) -> Result<SmallOutputs, AttemptError> {
        let (small, large) = sort_outputs(folder, &self.job.task)?;
        try_join_all(large.into_iter().map(|output| self.store_output(folder, output, until))).await?;
        Ok(small)
    }

    async fn store_output(
        &self,
        folder: &Path,
        output: TaskOutput,
        until: Instant,
    ) -> Result<(), AttemptError> {
        let Self { worker, job, .. } = *self;
        let file = folder.join(output.name());
        // Each try gets a name of the file: it may be moved away though the try fails.
        let given = folder.join(format!("{}-to-store", output.name()));
        let store = || async {
            match fs::remove_file(&given) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => fs::hard_link(&file, &given)?,
            }
            worker.coordinator.output(&job.id, job.progress.fence, output, &given).await
        };
        let time = until.saturating_duration_since(Instant::now());
        Ok(persist(time, time.max(self.lease), store).await?)
    }

    async fn report(&self, verdict: AttemptEnd, until: Instant) -> Result<(), LeaseEnd> {
        let Self { worker, job, .. } = *self;
        let seconds = self.claimed.elapsed().as_secs_f64();
        let worked = match verdict {
            AttemptEnd::Done(finished, outputs) => Worked::Finished { finished, outputs },
            AttemptEnd::Failed(message) => Worked::Failed(message),
            AttemptEnd::Released => Worked::Released,
            AttemptEnd::Lost(message) => {
                let pause =
                    FIRST_PAUSE.saturating_mul(1 << (job.progress.attempts - 1).min(16)).min(LONGEST_PAUSE);
                Worked::Lost { message, pause_ms: milliseconds(pause) }
            }
        };
        match &worked {
            Worked::Lost { message, .. } => tracing::error!(seconds, message, "lost"),
            Worked::Failed(message) => tracing::info!(seconds, message, "failed"),
            Worked::Released => tracing::info!(seconds, "released"),
            _ => tracing::info!(seconds, "done"),
        }
        let report = || worker.coordinator.report(&job.id, job.progress.fence, worked.clone());
        let time = until.saturating_duration_since(Instant::now());
        match persist(time, self.lease / 3, report).await {
            Ok(()) => Ok(()),
            Err(Trouble::Lost(message)) => Err(LeaseEnd::Lost(message)),
            Err(Trouble::Denied(message)) => Err(LeaseEnd::Denied(message)),
            Err(Trouble::Unavailable(_) | Trouble::Refused(_)) => Err(LeaseEnd::Over),
        }
    }
}

/// The end of an attempt that failed by this error.
fn verdict_of(problem: AttemptError) -> Result<AttemptEnd, LeaseEnd> {
    match problem {
        AttemptError::Trouble(Trouble::Lost(message)) => Err(LeaseEnd::Lost(message)),
        AttemptError::Trouble(Trouble::Denied(message)) => Err(LeaseEnd::Denied(message)),
        AttemptError::Failure(TaskFailure { message, transient: false }) => Ok(AttemptEnd::Failed(message)),
        // Its owner reads this: names of hosts and files are for the log.
        AttemptError::Trouble(trouble) => {
            tracing::error!(%trouble, "the service does not give or take the job's files");
            Ok(AttemptEnd::Lost("the service could not give or take the job's files".to_owned()))
        }
        AttemptError::Io(error) => {
            tracing::error!(%error, "the worker's files");
            Ok(AttemptEnd::Lost("the worker could not read or write its files".to_owned()))
        }
        other => Ok(AttemptEnd::Lost(other.to_string())),
    }
}

/// The outputs in a folder that go with a report, and the others. Refuses a folder with other files than the outputs that the task promises.
fn sort_outputs(folder: &Path, task: &Task) -> Result<(SmallOutputs, Vec<TaskOutput>), AttemptError> {
    let wrong = |problem: String| Err(ProverError::Garbage(format!("it is done, but {problem}")).into());
    let (mut small, mut large) = (SmallOutputs::new(), Vec::new());
    let promised = task.outputs();
    for &output in promised {
        let (name, path) = (output.name(), folder.join(output.name()));
        // Links are refused: a prover could use one to make the worker store any other file.
        match fs::symlink_metadata(&path) {
            Ok(data) if !data.is_file() => return wrong(format!("its {name} is no regular file")),
            Ok(data) if data.len() > LARGEST_OUTPUT => {
                return wrong(format!(
                    "its {name} has {} bytes, more than the {LARGEST_OUTPUT} that are taken",
                    data.len()
                ));
            }
            Ok(data) if data.len() <= MOST_SMALL as u64 && task.content(output) == ContentKind::Json => {
                let content = fs::read_to_string(&path).map(RawValue::from_string);
                let Ok(Ok(content)) = content else { return wrong(format!("its {name} is no JSON")) };
                small.insert(output, content);
            }
            Ok(_) => large.push(output),
            Err(_) => return wrong(format!("there is no {name}")),
        }
    }
    let is_output =
        |entry: &io::Result<fs::DirEntry>| entry.as_ref().is_ok_and(|entry| entry.file_name() != INPUTS);
    match fs::read_dir(folder)?.filter(is_output).count() {
        count if count == promised.len() => Ok((small, large)),
        count => wrong(format!("it left {count} files instead of {}", promised.len())),
    }
}

/// Deletes the folder of an attempt. What it holds may be large.
async fn delete(folder: TempDir) {
    if let Err(error) = blocking(move || folder.close()).await {
        tracing::error!(%error, "cannot delete the folder of an attempt");
    }
}
