//! The transactions of workers: they claim jobs, prolong leases, and report ends.

use super::{Change, JobRecord, LONGEST_PAUSE, apply, find, job, selected_at};
use crate::{
    state::{JobEvent, JobState},
    store::{SqlValue, Store, StoreError, Transaction},
};
use proofmill_job::{Finished, TaskOutput};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Rows that no program of this version can read are passed over, so many at once, and the jobs behind them are served.
const MOST_DAMAGED: u32 = 16;
/// The most jobs of one claim: other workers pass over the rows that are locked.
const MOST_JOBS: u32 = 64;

/// The jobs that a worker can take.
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Want {
    /// The worker's id.
    #[schema(pattern = "^[!-~]{1,128}$")]
    pub worker: String,
    /// The memory that no job of the worker takes now, in bytes.
    pub free: u64,
    /// The memory for all jobs of the worker, in bytes.
    pub total: u64,
    /// The most jobs at once.
    pub jobs: u32,
    /// How long the worker keeps the job without a report, in milliseconds.
    pub lease_ms: u64,
    /// Whether the worker divides jobs among the machines of a cluster: it gets only jobs that can be divided, and that no other worker has
    /// memory for.
    #[serde(default)]
    pub divides: bool,
    /// The least memory of jobs that are divided, which the service sets.
    #[serde(skip)]
    pub least: u64,
}

/// The answer to a worker's claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = Claim)]
pub enum ClaimOutcome {
    /// These jobs, at least one, which together fit into the free memory; and the number of jobs that still wait, counted up to 256.
    Jobs(Vec<JobRecord>, u64),
    /// Nothing: the next job takes this much memory, more than is free. The worker waits for its other jobs, so that smaller jobs do
    /// not keep a large one waiting for ever.
    TooLarge(u64),
    /// Nothing waits.
    Empty,
}

/// Outputs that are JSON, and so small that the database keeps them with the job.
pub type SmallOutputs = BTreeMap<TaskOutput, Box<RawValue>>;

/// A worker's report on the job that it claimed with this fence.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Worked {
    /// It goes on, for another lease of so many milliseconds; the phase that it is in.
    Beat {
        /// The length of the lease.
        lease_ms: u64,
        /// The phase; `None` if it is the same.
        phase: Option<String>,
    },
    /// It is done. Outputs that are not here are stored as objects.
    Finished {
        /// How it was done.
        finished: Finished,
        /// Small outputs.
        #[serde(default)]
        #[schema(value_type = BTreeMap<String, Object>)]
        outputs: SmallOutputs,
    },
    /// It cannot be done.
    Failed(String),
    /// The attempt is lost; another one may begin after so many milliseconds.
    Lost {
        /// What happened.
        message: String,
        /// The pause before the next attempt.
        pause_ms: u64,
    },
    /// The worker shuts down.
    Released,
}

/// The next jobs for a worker with so much memory, in order, with their turns.
struct Next {
    jobs: Vec<(JobRecord, u64)>,
    now: u64,
    /// The number of jobs that wait, these among them.
    waiting: u64,
}

fn next(transaction: &mut dyn Transaction, want: &Want) -> Result<Option<Next>, StoreError> {
    macro_rules! next {
        ($lock:literal) => {
            concat!(
                "SELECT id, owner, task, label, state, attempts, most_attempts, fence, lease_until, expires_at, priority, memory, timeout_ms,
                worker, phase, error, result, created_at, started_at, ended_at, inputs, trace, threads, now_ms(), turn,
                (SELECT count(*) FROM (SELECT 1 FROM jobs WHERE state = 'queued' LIMIT 257) AS waiting)
                FROM jobs WHERE state = 'queued' AND (not_before <= now_ms() OR not_before > now_ms() + $3)
                AND (expires_at IS NULL OR expires_at > now_ms()) AND memory <= $1
                AND (memory >= $5 AND divides = 1 OR $6 = 0)
                ORDER BY priority DESC, turn, id LIMIT $4 OFFSET $2",
                $lock
            )
        };
    }
    // Concurrent claims on PostgreSQL take different rows instead of waiting for locked ones.
    let sql = if transaction.locks_rows() { next!(" FOR UPDATE SKIP LOCKED") } else { next!("") };
    let jobs_wanted = want.jobs.clamp(1, MOST_JOBS);
    let mut damaged = 0;
    // An unreadable row at the head of the queue must not block the jobs behind it.
    while damaged < MOST_DAMAGED {
        let parameters: [SqlValue; 6] = [
            want.total.into(),
            damaged.into(),
            LONGEST_PAUSE.into(),
            jobs_wanted.into(),
            want.least.into(),
            u32::from(want.divides).into(),
        ];
        let rows = transaction.query(sql, &parameters)?;
        let Some(first) = rows.first() else { return Ok(None) };
        let (now, waiting) = (selected_at(first)?, first.count(25)?);
        let mut jobs = Vec::new();
        for row in &rows {
            match job(row) {
                Ok(job) => jobs.push((job, row.count(24)?)),
                Err(StoreError::Corrupt(problem)) => {
                    damaged += 1;
                    tracing::error!(problem, "a job in the queue cannot be read")
                }
                Err(error) => return Err(error),
            }
        }
        if !jobs.is_empty() {
            return Ok(Some(Next { jobs, now, waiting }));
        }
    }
    Err(StoreError::Corrupt(format!("the first {damaged} jobs of the queue cannot be read")))
}

fn claim(transaction: &mut dyn Transaction, want: &Want) -> Result<ClaimOutcome, StoreError> {
    let Some(Next { jobs, now, waiting }) = next(transaction, want)? else {
        return Ok(ClaimOutcome::Empty);
    };
    let (mut claimed, mut free, mut served_turn) = (Vec::new(), want.free, None);
    for (job, turn) in jobs {
        // Smaller jobs behind a large one do not go first: it would wait for ever.
        let Some(left) = free.checked_sub(job.memory) else {
            if claimed.is_empty() {
                return Ok(ClaimOutcome::TooLarge(job.memory));
            }
            break;
        };
        free = left;
        // A job that goes before its turn does not move the served turn. Otherwise the next jobs of other owners would wait for all jobs of
        // its owner.
        if job.priority <= 0 {
            served_turn = served_turn.max(Some(turn));
        }
        // The lease ends by the database's clock: the clocks of servers and workers may differ.
        let event = JobEvent::Claim { lease_until: now.saturating_add(want.lease_ms) };
        let change = Change { worker: Some(want.worker.clone()), ..Change::default() };
        claimed.push(apply(transaction, job, now, event, change)?);
    }
    // The served turn never goes back: a concurrent claim may have served a later one.
    macro_rules! served {
        ($lock:literal) => {
            concat!(
                "UPDATE served SET turn = $1 WHERE id IN (SELECT id FROM served WHERE turn < $1",
                $lock,
                ")"
            )
        };
    }
    // Claims do not wait for each other: another one that has the row sets about the same turn.
    let served = if transaction.locks_rows() { served!(" FOR UPDATE SKIP LOCKED") } else { served!("") };
    if let Some(turn) = served_turn {
        transaction.execute(served, &[turn.into()])?;
    }
    let waiting = waiting.saturating_sub(claimed.len() as u64);
    Ok(ClaimOutcome::Jobs(claimed, waiting))
}

fn report(
    transaction: &mut dyn Transaction,
    id: &str,
    fence: u64,
    worked: Worked,
) -> Result<JobRecord, StoreError> {
    let (job, now) = find(transaction, id, None)?;
    let (event, change) = match worked {
        Worked::Beat { lease_ms, phase } => {
            // `apply` writes the phase as given, so a beat without one repeats the old phase.
            let lease_until = now.saturating_add(lease_ms);
            (
                JobEvent::Beat { fence, lease_until },
                Change { phase: phase.or_else(|| job.phase.clone()), ..Change::default() },
            )
        }
        Worked::Finished { finished, outputs } => {
            let change = Change { finished: Some(finished), outputs: Some(outputs), ..Change::default() };
            (JobEvent::Finish { fence }, change)
        }
        Worked::Failed(message) => {
            (JobEvent::Fail { fence }, Change { error: Some(message), ..Change::default() })
        }
        Worked::Lost { message, pause_ms } => {
            (JobEvent::Lose { fence }, Change { error: Some(message), pause_ms, ..Change::default() })
        }
        Worked::Released => (JobEvent::Release { fence }, Change::default()),
    };
    // The answer to an earlier report of this claim did not arrive: the repetition succeeds, too.
    // Fence 0 belongs to no claim, since claims count from 1.
    if fence > 0 && job.progress.fence == fence && repeats(event, job.progress.state) {
        return Ok(job);
    }
    apply(transaction, job, now, event, change)
}

/// Whether the state is where the event leads, so that it may have happened before.
fn repeats(event: JobEvent, state: JobState) -> bool {
    match event {
        JobEvent::Finish { .. } => state == JobState::Done,
        JobEvent::Fail { .. } => state == JobState::Failed,
        JobEvent::Lose { .. } => matches!(state, JobState::Queued | JobState::Dead),
        JobEvent::Release { .. } => state == JobState::Queued,
        _ => false,
    }
}

impl Store {
    /// Gives the next jobs to a worker.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: if the worker got jobs then, their leases end.
    pub async fn claim(&self, want: Want) -> Result<ClaimOutcome, StoreError> {
        self.write(move |transaction| claim(transaction, &want)).await
    }

    /// A worker's report on the job that it claimed with this fence.
    ///
    /// # Errors
    /// [`StoreError::Refused`] if the worker no longer has the job: it stops.
    pub async fn report(&self, id: String, fence: u64, worked: Worked) -> Result<JobRecord, StoreError> {
        self.write(move |transaction| report(transaction, &id, fence, worked.clone())).await
    }
}
