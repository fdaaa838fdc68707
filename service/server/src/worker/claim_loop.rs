//! Claims jobs and starts attempts, until the worker is told to end.

use super::{
    Worker,
    attempt::Attempt,
    backoff::Backoff,
    prover::{ProverProcess, StartError},
    schedule::{Taken, ThreadSchedule},
};
use crate::{
    coordinator::Trouble,
    service::ServiceError,
    store::{ClaimOutcome, JobRecord, Want, Worked},
    time::milliseconds,
};
use std::{future::Future, pin::Pin, sync::Arc, sync::PoisonError, time::Duration};
use tokio::{
    sync::{
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        watch,
    },
    task::{Id, JoinError, JoinSet},
    time::{Instant, sleep_until, timeout},
};
use tracing::Instrument;

/// The least time between two claims that get nothing.
const LEAST_PAUSE: Duration = Duration::from_millis(100);
/// How long the service waits for a job before it answers. A claim is never abandoned, as the service may have given a job by then; so
/// this is also how long an idle worker takes to end.
const WAIT: Duration = Duration::from_secs(2);
/// How long a claim may take in all.
const LONGEST_CLAIM: Duration = Duration::from_secs(30);
/// How long a worker waits for its own jobs to end until it looks again whether the next job has become a smaller one.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Claims and attempts of a worker.
struct ClaimLoop<'a> {
    worker: &'a Arc<Worker>,
    schedule: ThreadSchedule,
    attempts: JoinSet<Result<(), String>>,
    /// Attempts send their id here when their prover has ended its work: the next one need not wait until outputs are stored.
    proved: (UnboundedSender<Id>, UnboundedReceiver<Id>),
    /// The claim on its way.
    claim: Option<Pin<Box<dyn Future<Output = Claimed> + Send + 'a>>>,
    /// When to claim again.
    claim_at: Instant,
    /// Whether the last claim found a job that is too large: the end of any job is then a reason to claim earlier.
    is_too_large: bool,
    backoff: Backoff,
    /// Logs that other processes take the memory for jobs.
    short_of_memory: Backoff,
    /// When attempts are stopped; set once no more jobs are taken.
    ends_at: Option<Instant>,
    result: Result<(), ServiceError>,
}

/// A prover, and perhaps jobs, for it and for others.
type Claimed = Result<(ProverProcess, Memory, Result<ClaimOutcome, Trouble>), StartError>;

/// Memory for jobs when one was asked for, in bytes.
#[derive(Clone, Copy, Debug)]
struct Memory {
    /// The memory that neither a job nor a waiting prover has.
    free: u64,
    /// The memory that all jobs may have.
    total: u64,
}

/// Works until `drain` becomes true or the service denies.
pub(super) async fn run(worker: &Arc<Worker>, mut drain: watch::Receiver<bool>) -> Result<(), ServiceError> {
    let mut claims = ClaimLoop {
        worker,
        schedule: ThreadSchedule::new(worker.options.policy, worker.threads),
        attempts: JoinSet::new(),
        proved: unbounded_channel(),
        claim: None,
        claim_at: Instant::now(),
        is_too_large: false,
        backoff: Backoff::default(),
        short_of_memory: Backoff::default(),
        ends_at: None,
        result: Ok(()),
    };
    loop {
        let now = Instant::now();
        // If the service does not take outputs, the worker claims no further jobs.
        let may_prove = claims.schedule.room() > 0 && claims.attempts.len() < 2 * claims.schedule.most_jobs();
        let may_claim = claims.ends_at.is_none() && may_prove && claims.claim.is_none();
        if may_claim && now >= claims.claim_at {
            let jobs = claims.schedule.room().min(2 * claims.schedule.most_jobs() - claims.attempts.len());
            claims.claim = Some(Box::pin(claim(worker, claims.schedule.memory(), jobs)));
        }
        if claims.ends_at.is_some() && claims.claim.is_none() && claims.attempts.is_empty() {
            return claims.result;
        }
        let ends_at = claims.ends_at.filter(|_| !worker.stop.is_cancelled());
        tokio::select! {
            claimed = async { claims.claim.as_mut().expect("a claim").await }, if claims.claim.is_some() => {
                claims.claim = None;
                claims.claimed(claimed);
            }
            Some(ended) = claims.attempts.join_next_with_id() => claims.ended(ended),
            Some(id) = claims.proved.1.recv() => claims.leave(id),
            () = until_true(&mut drain), if claims.ends_at.is_none() => {
                tracing::info!("takes no more jobs");
                claims.end(worker.options.drain_timeout);
            }
            () = sleep_until(ends_at.unwrap_or(now)), if ends_at.is_some() => {
                tracing::warn!(jobs = claims.attempts.len(), "gives back the jobs that it has");
                worker.stop.cancel();
            }
            () = sleep_until(claims.claim_at), if may_claim && now < claims.claim_at => {}
        }
    }
}

/// Gets a prover, then jobs; `taken` is the memory that jobs have.
async fn claim(worker: &Worker, taken: u64, jobs: usize) -> Claimed {
    let total = worker.memory_now();
    let free = total.saturating_sub(taken).saturating_sub(worker.pool.memory());
    // The prover comes first: no job is claimed that no prover can execute.
    let prover = worker.pool.get().await?;
    let lease_ms = milliseconds(worker.options.lease);
    let jobs = u32::try_from(jobs).unwrap_or(u32::MAX);
    let (id, divides) = (worker.options.id.clone(), worker.options.divides);
    let want = Want { worker: id, free, total, jobs, lease_ms, divides, least: 0 };
    let answer = match timeout(LONGEST_CLAIM, worker.coordinator.claim(want, WAIT)).await {
        Ok(answer) => answer,
        Err(_) => Err(Trouble::Unavailable("the service does not answer".to_owned())),
    };
    Ok((prover, Memory { free, total }, answer))
}

/// Completes when the value is true.
async fn until_true(drain: &mut watch::Receiver<bool>) {
    if drain.wait_for(|&drain| drain).await.is_err() {
        std::future::pending::<()>().await;
    }
}

impl ClaimLoop<'_> {
    fn claimed(&mut self, claimed: Claimed) {
        self.is_too_large = false;
        let (prover, memory, answer) = match claimed {
            Ok(claimed) => claimed,
            Err(error @ StartError::Version { .. }) => return self.fail(error.into()),
            Err(error) => return self.try_later(&error.to_string()),
        };
        if answer.is_ok() && self.backoff.reset() {
            tracing::info!("the service answers again");
        }
        // Jobs that are larger than the total are not even offered.
        if memory.total < self.worker.memory / 2 && self.short_of_memory.is_worth_a_line() {
            let (most, left) = (self.worker.memory >> 20, memory.total >> 20);
            tracing::warn!(
                "other processes leave only {left} MiB of the {most} MiB for jobs: larger jobs wait"
            );
        }
        match answer {
            Ok(ClaimOutcome::Jobs(jobs, waiting)) if self.ends_at.is_none() => {
                let (mut prover, mut free, mut left) = (Some(prover), memory.free, jobs.len() as u64);
                for job in jobs {
                    left -= 1;
                    let fitting = free / job.memory.max(1);
                    free = free.saturating_sub(job.memory);
                    let threads = self.schedule.threads_for(left.saturating_add(waiting), fitting);
                    self.begin(prover.take(), job, threads);
                }
            }
            Ok(ClaimOutcome::Jobs(jobs, _)) => {
                self.worker.pool.put(prover);
                jobs.into_iter().for_each(|job| self.give_back(job));
            }
            Ok(ClaimOutcome::Empty) => {
                self.worker.pool.put(prover);
                // The empty answer may come at once, from a service that shuts down.
                self.claim_at = self.claim_at.max(Instant::now() + LEAST_PAUSE);
            }
            Ok(ClaimOutcome::TooLarge(needed)) => {
                self.worker.pool.put(prover);
                // The memory that idle provers keep may be all that is missing.
                let kept = self.worker.pool.memory();
                let is_enough = kept > 0 && needed <= memory.free.saturating_add(kept);
                if !(is_enough && self.worker.pool.kill_idle()) {
                    self.claim_at = Instant::now() + LOOK_AGAIN;
                    self.is_too_large = true;
                }
            }
            Err(Trouble::Denied(message)) => {
                self.worker.pool.put(prover);
                self.fail(denied(&message));
            }
            Err(trouble) => {
                self.worker.pool.put(prover);
                self.try_later(&trouble.to_string());
            }
        }
        self.tell();
    }

    fn begin(&mut self, prover: Option<ProverProcess>, job: JobRecord, threads: usize) {
        let claimed = Instant::now();
        // The memory of the job is a bound for this many threads only.
        let threads = threads.min(usize::try_from(job.threads).unwrap_or(usize::MAX).max(1));
        let key = job.task.keys().first().map(|&key| key.to_owned());
        let prover = self.worker.pool.choose(prover, key.as_deref());
        let kept_memory = prover.as_ref().map_or(0, |prover| prover.kept_memory);
        let (id, memory) = (job.id.clone(), job.memory.saturating_add(kept_memory));
        let span = tracing::info_span!(
            "attempt",
            job = id,
            fence = job.progress.fence,
            attempt = job.progress.attempts,
            task = job.task.name(),
            key,
            threads
        );
        // The service may give a shorter lease than was asked for.
        let given = job.progress.lease_until.saturating_sub(job.started_at.unwrap_or(0));
        let lease = self.worker.options.lease.min(Duration::from_millis(given));
        let worker = self.worker.clone();
        let proved = self.proved.0.clone();
        let attempt = async move {
            let proved = &proved;
            Attempt { worker: &worker, job: &job, threads, claimed, lease, proved }.make(prover).await
        };
        let task = self.attempts.spawn(attempt.instrument(span));
        self.schedule.begin(task.id(), Taken { job: id, threads, memory });
    }

    /// Gives back a job that came after the worker was told to end.
    fn give_back(&mut self, job: JobRecord) {
        let worker = self.worker.clone();
        self.attempts.spawn(async move {
            let released = worker.coordinator.report(&job.id, job.progress.fence, Worked::Released);
            if !matches!(timeout(worker.options.lease, released).await, Ok(Ok(()))) {
                tracing::warn!(job = job.id, "cannot give back a job: it waits until its lease ends");
            }
            Ok(())
        });
    }

    fn ended(&mut self, ended: Result<(Id, Result<(), String>), JoinError>) {
        let id = match ended {
            Ok((id, result)) => {
                if let Err(message) = result {
                    self.fail(denied(&message));
                }
                id
            }
            Err(error) => {
                tracing::error!(%error, "an attempt ended unexpectedly");
                error.id()
            }
        };
        self.leave(id);
    }

    /// Frees what an attempt had, if it has not done so before.
    fn leave(&mut self, id: Id) {
        self.schedule.end(id);
        // The job that was too large may have room now.
        if std::mem::take(&mut self.is_too_large) {
            self.claim_at = Instant::now();
        }
        self.tell();
    }

    fn try_later(&mut self, problem: &str) {
        self.claim_at = Instant::now() + self.backoff.next();
        if self.backoff.is_worth_a_line() {
            tracing::warn!(problem, "cannot get jobs, trying again");
        }
    }

    /// Takes no more jobs; running jobs have this time to end.
    fn end(&mut self, time: Duration) {
        // Bounded, so that it can be added to a time.
        let time = time.min(Duration::from_secs(10 * 365 * 24 * 3600));
        self.ends_at = self.ends_at.or(Some(Instant::now() + time));
        self.tell();
    }

    fn fail(&mut self, error: ServiceError) {
        tracing::error!(%error, "the worker ends");
        let is_denied = matches!(error, ServiceError::Forbidden(_));
        if self.result.is_ok() {
            self.result = Err(error);
        }
        if is_denied {
            self.worker.stop.cancel();
        }
        self.end(self.worker.options.drain_timeout);
    }

    fn tell(&self) {
        let mut now = self.worker.state.lock().unwrap_or_else(PoisonError::into_inner);
        (now.jobs, now.draining) = (self.schedule.jobs(), self.ends_at.is_some());
    }
}

fn denied(message: &str) -> ServiceError {
    ServiceError::Forbidden(format!("the service does not accept this worker: {message}"))
}
