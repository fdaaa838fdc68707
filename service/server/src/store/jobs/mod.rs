//! Jobs: the queue, the leases, the results.
//!
//! A job waits with a priority and a *turn*. Turns make owners equal (start-time fair queueing, Goyal et al. 1997): each job of an owner
//! has the turn after its last one, or the turn that is being served if that is later. So an owner with one job does not wait for
//! another one's thousand.

use super::{SqlRow, SqlValue, Store, StoreError, Transaction, state};
use crate::state::{JobEvent, JobProgress, JobState};
use proofmill_job::{Finished, Task};
use serde::{Deserialize, Serialize};

/// `SELECT` of the columns that `job` reads, and the present time.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, owner, task, label, state, attempts, most_attempts, fence, lease_until, expires_at, priority, memory, timeout_ms,
            worker, phase, error, result, created_at, started_at, ended_at, inputs, trace, threads, now_ms() FROM jobs ",
            $rest
        )
    };
}

mod claims;
mod ends;
mod lists;
mod submission;

pub use claims::{ClaimOutcome, SmallOutputs, Want, Worked};
pub use lists::{JobQuery, Queue, Waiting};
pub use submission::NewJob;

/// The longest pause between two attempts, in milliseconds. A job that would wait longer was paused before a clock jumped back.
const LONGEST_PAUSE: u64 = 600_000;

/// A job, without its inputs and outputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Job)]
pub struct JobRecord {
    /// A UUID of version 7 as 32 hexadecimal digits.
    pub id: String,
    /// The token that submitted it.
    pub owner: String,
    /// Its task, with digests for keys.
    pub task: Task,
    /// The name or digest by which the submission named its first key.
    pub label: Option<String>,
    /// How far it has come.
    pub progress: JobProgress,
    /// Greater ones go first.
    pub priority: i64,
    /// The memory that it takes, in bytes.
    pub memory: u64,
    /// The longest time of an attempt, in milliseconds.
    pub timeout_ms: u64,
    /// The worker of the last attempt.
    pub worker: Option<String>,
    /// The phase that the worker was in when it was last heard of.
    pub phase: Option<String>,
    /// Why it failed, or why the last attempt was lost.
    pub error: Option<String>,
    /// How it was done.
    pub finished: Option<Finished>,
    /// When it was submitted.
    pub created_at: u64,
    /// When its last attempt began.
    pub started_at: Option<u64>,
    /// When it ended.
    pub ended_at: Option<u64>,
    /// Its inputs.
    pub inputs: InputState,
    /// The `traceparent` of the caller.
    pub trace: Option<String>,
    /// The threads that `memory` suffices for.
    pub threads: u64,
}

/// The inputs of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = Inputs)]
pub enum InputState {
    /// There are none, or none any more.
    None,
    /// They are stored.
    Stored,
    /// They are being deleted: it is too late for a retry.
    Leftover,
}

impl InputState {
    /// The number in the store.
    fn number(self) -> i64 {
        match self {
            Self::None => 0,
            Self::Stored => 1,
            Self::Leftover => 2,
        }
    }

    fn of_number(number: i64) -> Result<Self, StoreError> {
        let is_its = |inputs: &Self| inputs.number() == number;
        let found = [Self::None, Self::Stored, Self::Leftover].into_iter().find(is_its);
        found.ok_or_else(|| StoreError::Corrupt(format!("{number} stands for no inputs")))
    }

    /// The state of the inputs when the job is in this state.
    fn in_state(self, state: JobState) -> Self {
        if self == Self::Stored && !state.needs_inputs() { Self::Leftover } else { self }
    }
}

fn job(row: &SqlRow) -> Result<JobRecord, StoreError> {
    let corrupt = |error: serde_json::Error| StoreError::Corrupt(format!("a job: {error}"));
    let number = |column| row.count(column).map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    Ok(JobRecord {
        id: row.text(0)?,
        owner: row.text(1)?,
        task: serde_json::from_str(&row.text(2)?).map_err(corrupt)?,
        label: row.optional(3, SqlRow::text)?,
        progress: JobProgress {
            state: state(row, 4)?,
            attempts: number(5)?,
            most_attempts: number(6)?,
            fence: row.count(7)?,
            lease_until: row.count(8)?,
            expires_at: row.optional(9, SqlRow::count)?,
        },
        priority: row.integer(10)?,
        memory: row.count(11)?,
        timeout_ms: row.count(12)?,
        worker: row.optional(13, SqlRow::text)?,
        phase: row.optional(14, SqlRow::text)?,
        error: row.optional(15, SqlRow::text)?,
        finished: row
            .optional(16, SqlRow::text)?
            .map(|text| serde_json::from_str(&text))
            .transpose()
            .map_err(corrupt)?,
        created_at: row.count(17)?,
        started_at: row.optional(18, SqlRow::count)?,
        ended_at: row.optional(19, SqlRow::count)?,
        inputs: InputState::of_number(row.integer(20)?)?,
        trace: row.optional(21, SqlRow::text)?,
        threads: row.count(22)?,
    })
}

/// The time when the row was selected.
fn selected_at(row: &SqlRow) -> Result<u64, StoreError> {
    row.count(23)
}

/// The jobs in rows, without unreadable ones: one damaged row does not keep others from being listed or cleaned.
fn readable(rows: &[SqlRow]) -> Vec<JobRecord> {
    let logged =
        |row: &SqlRow| job(row).inspect_err(|error| tracing::error!(%error, "a job cannot be read")).ok();
    rows.iter().filter_map(logged).collect()
}

/// The job of this id, if it is this owner's, and the present time.
fn find(
    transaction: &mut dyn Transaction,
    id: &str,
    owner: Option<&str>,
) -> Result<(JobRecord, u64), StoreError> {
    let rows = transaction.query(select!("WHERE id = $1"), &[id.into()])?;
    let unknown = || StoreError::NotFound(format!("there is no job {id}"));
    let row = rows.first().ok_or_else(unknown)?;
    let job = job(row)?;
    if owner.is_some_and(|owner| job.owner != owner) {
        // The error for an unknown id: the answer does not tell that another owner has this job.
        return Err(unknown());
    }
    Ok((job, selected_at(row)?))
}

/// The changes by an event besides the job's progress. `None` leaves a column as it is.
#[derive(Default)]
struct Change {
    worker: Option<String>,
    phase: Option<String>,
    error: Option<String>,
    finished: Option<Finished>,
    outputs: Option<SmallOutputs>,
    pause_ms: u64,
}

/// Applies an event to a job that was read `now`, and returns the job as it is then; the only place where jobs change.
fn apply(
    transaction: &mut dyn Transaction,
    mut job: JobRecord,
    now: u64,
    event: JobEvent,
    change: Change,
) -> Result<JobRecord, StoreError> {
    let before = job.progress;
    let after = before.after(event)?;
    // An end without a retry gives up the inputs in the same transaction.
    let inputs = job.inputs.in_state(after.state);
    let result =
        change.finished.as_ref().map(|finished| serde_json::to_string(finished).expect("it is JSON"));
    let not_before = match change.pause_ms.min(LONGEST_PAUSE) {
        0 => 0,
        pause => now.saturating_add(pause),
    };
    let started_at = if matches!(event, JobEvent::Claim { .. }) { Some(now) } else { job.started_at };
    let ended_at = after.state.has_ended().then_some(now);
    let outputs = change.outputs.map(|outputs| serde_json::to_string(&outputs).expect("it is JSON"));
    // A compare-and-swap: a row that changed since it was read stays as it is, and the
    // transaction fails as contended. So two claims or reports never both succeed.
    let sql = "UPDATE jobs SET state = $5, attempts = $6, fence = $7, lease_until = $8, expires_at = $9,
        worker = coalesce($10, worker), phase = $11, error = coalesce($12, error), result = coalesce($13, result),
        not_before = $14, started_at = $15, ended_at = $16, inputs = $17, outputs = $20
        WHERE id = $1 AND state = $2 AND fence = $3 AND attempts = $4 AND lease_until = $18 AND inputs = $19";
    let parameters: [SqlValue; 20] = [
        job.id.as_str().into(),
        before.state.name().into(),
        before.fence.into(),
        before.attempts.into(),
        after.state.name().into(),
        after.attempts.into(),
        after.fence.into(),
        after.lease_until.into(),
        after.expires_at.into(),
        change.worker.clone().into(),
        change.phase.clone().into(),
        change.error.clone().into(),
        result.into(),
        not_before.into(),
        started_at.into(),
        ended_at.into(),
        inputs.number().into(),
        before.lease_until.into(),
        job.inputs.number().into(),
        outputs.into(),
    ];
    if transaction.execute(sql, &parameters)? != 1 {
        return Err(StoreError::Contended);
    }
    job.progress = after;
    job.worker = change.worker.or(job.worker);
    job.phase = change.phase;
    job.error = change.error.or(job.error);
    job.finished = change.finished.or(job.finished);
    (job.started_at, job.ended_at, job.inputs) = (started_at, ended_at, inputs);
    Ok(job)
}

impl Store {
    /// A job; of another owner only if `owner` is none.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn job(&self, id: String, owner: Option<String>) -> Result<JobRecord, StoreError> {
        self.read(move |transaction| Ok(find(transaction, &id, owner.as_deref())?.0)).await
    }

    /// As [`Self::job`], with the outputs that are stored with it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn job_with_outputs(
        &self,
        id: String,
        owner: Option<String>,
    ) -> Result<(JobRecord, SmallOutputs), StoreError> {
        self.read(move |transaction| {
            let (job, _) = find(transaction, &id, owner.as_deref())?;
            let rows = transaction.query("SELECT outputs FROM jobs WHERE id = $1", &[id.as_str().into()])?;
            let outputs = rows.first().map(|row| row.optional(0, SqlRow::text)).transpose()?.flatten();
            let corrupt =
                |error: serde_json::Error| StoreError::Corrupt(format!("outputs of a job: {error}"));
            let outputs = outputs.map(|text| serde_json::from_str(&text)).transpose().map_err(corrupt)?;
            Ok((job, outputs.unwrap_or_default()))
        })
        .await
    }

    /// Cancels a job; of another owner only if `owner` is none.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Refused`] for a job that has ended.
    pub async fn cancel(&self, id: String, owner: Option<String>) -> Result<JobRecord, StoreError> {
        self.change(id, owner, JobEvent::Cancel).await
    }

    /// Queues a dead job again.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Refused`] for a job that is not dead.
    pub async fn retry(&self, id: String, owner: Option<String>) -> Result<JobRecord, StoreError> {
        self.change(id, owner, JobEvent::Retry).await
    }

    async fn change(
        &self,
        id: String,
        owner: Option<String>,
        event: JobEvent,
    ) -> Result<JobRecord, StoreError> {
        self.write(move |transaction| {
            let (job, now) = find(transaction, &id, owner.as_deref())?;
            let is_there = match event {
                JobEvent::Cancel => job.progress.state == JobState::Cancelled,
                _ => job.progress.state == JobState::Queued,
            };
            // The first run may have committed just before its connection was lost.
            if is_there && transaction.is_repeated() {
                return Ok(job);
            }
            if event == JobEvent::Retry && job.inputs != InputState::Stored && !job.task.inputs().is_empty() {
                return Err(StoreError::NotFound(format!(
                    "the inputs of job {id} are deleted: submit it again"
                )));
            }
            apply(transaction, job, now, event, Change::default())
        })
        .await
    }
}
