//! Jobs: the queue, the leases, the results.
//!
//! A job waits with a priority and a *turn*. Turns make owners equal (start-time fair queueing, Goyal et al. 1997): each job of an owner
//! has the turn after its last one, or the turn that is being served if that is later. So an owner with one job does not wait for
//! another one's thousand.

use super::{
    Row, Store, StoreError, Transaction, Value, keys, now, one,
    room::{Asked, Limits},
    state,
};
use crate::state::{Contact, Event, Progress, Refused, State, latest_end};
use proofmill_job::{Finished, Task};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The longest pause between two attempts, in milliseconds. A job that would wait longer was paused before a clock jumped back.
const LONGEST_PAUSE: u64 = 600_000;
/// How long a server that looks every second may be silent without having been away, in milliseconds, besides a third of a lease.
const SILENCE: u64 = 2000;
/// An hour in milliseconds.
const HOUR: u64 = 3_600_000;

/// A job, without its inputs and outputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Job {
    /// A UUID of version 7 as 32 hexadecimal digits.
    pub id: String,
    /// The token that submitted it.
    pub owner: String,
    /// What it asks for, with digests for keys.
    pub task: Task,
    /// What the owner called the key.
    pub label: Option<String>,
    /// How far it has come.
    pub progress: Progress,
    /// Greater ones go first.
    pub priority: i64,
    /// The memory that it takes, in bytes.
    pub memory: u64,
    /// The longest time of an attempt, in milliseconds.
    pub timeout_ms: u64,
    /// The worker of the last attempt.
    pub worker: Option<String>,
    /// What the worker was doing when it was last heard of.
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
    pub inputs: Inputs,
    /// The `traceparent` of the caller.
    pub trace: Option<String>,
    /// The threads that `memory` suffices for.
    pub threads: u64,
}

/// The inputs of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Inputs {
    /// There are none, or none any more.
    None,
    /// They are stored.
    Stored,
    /// They are being deleted: it is too late for a retry.
    Leftover,
}

impl Inputs {
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

    /// What they are when the job is in this state.
    fn in_state(self, state: State) -> Self {
        if self == Self::Stored && !state.needs_inputs() { Self::Leftover } else { self }
    }
}

/// A job to submit.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// A new UUID of version 7. The same job can be submitted again if it is not known whether it was accepted.
    pub id: String,
    /// The token that submits it.
    pub owner: String,
    /// What it asks for, with digests for keys.
    pub task: Task,
    /// What the owner calls the key.
    pub label: Option<String>,
    /// Greater ones go first.
    pub priority: i64,
    /// The memory that it takes, in bytes.
    pub memory: u64,
    /// The most attempts; at least 1.
    pub most_attempts: u32,
    /// The longest time of an attempt, in milliseconds.
    pub timeout_ms: u64,
    /// How long it may wait, in milliseconds.
    pub expires_in_ms: Option<u64>,
    /// The owner's name of this submission: a second one is answered with the first one's job.
    pub idempotency_key: Option<String>,
    /// A digest of what was submitted.
    pub request: String,
    /// The `traceparent` of the caller, if it sent one.
    pub trace: Option<String>,
    /// The threads that `memory` suffices for.
    pub threads: u64,
    /// The size of its inputs, in bytes.
    pub input_bytes: u64,
}

/// What a worker can take.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Want {
    /// The worker's id.
    #[schema(pattern = "^[!-~]{1,128}$")]
    pub worker: String,
    /// The memory that no job of the worker takes now, in bytes.
    pub free: u64,
    /// The memory for all jobs of the worker, in bytes.
    pub total: u64,
    /// How long the worker has the job without a word, in milliseconds.
    pub lease_ms: u64,
}

/// What a worker gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// This job, and how many more wait, counted up to 256.
    Job(Box<Job>, u64),
    /// Nothing: the next job takes this much memory, more than is free. The worker waits for its other jobs, so that smaller jobs do
    /// not keep a large one waiting for ever.
    TooLarge(u64),
    /// Nothing waits.
    Empty,
}

/// What a worker says of the job that it claimed with this fence.
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
    /// It is done, and its outputs are stored.
    Finished(Finished),
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

/// A page of jobs.
#[derive(Clone, Debug)]
pub struct Page {
    /// Only this owner's.
    pub owner: Option<String>,
    /// Only those in this state.
    pub state: Option<State>,
    /// Only those submitted before this job.
    pub before: Option<String>,
    /// The most jobs.
    pub limit: u32,
}

/// The queue at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Queue {
    /// The jobs that wait, by the memory that they take.
    pub waiting: Vec<Waiting>,
    /// The number of jobs that run.
    pub running: u64,
    /// The number of jobs that ended in the last hour, by their state.
    pub ended_last_hour: BTreeMap<String, u64>,
    /// The number of jobs that were done in the last hour, by the id of their worker.
    pub done_last_hour: BTreeMap<String, u64>,
}

/// Jobs that wait and take the same memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Waiting {
    /// The memory, in bytes.
    pub memory: u64,
    /// Their number.
    pub jobs: u64,
    /// How long the first of them has waited, in milliseconds.
    pub oldest_ms: u64,
}
/// Rows that no program of this version can read are passed over, so many at once, and the jobs behind them are served.
const MOST_DAMAGED: u32 = 16;

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

fn job(row: &Row) -> Result<Job, StoreError> {
    let corrupt = |error: serde_json::Error| StoreError::Corrupt(format!("a job: {error}"));
    let number = |column| row.count(column).map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    Ok(Job {
        id: row.text(0)?,
        owner: row.text(1)?,
        task: serde_json::from_str(&row.text(2)?).map_err(corrupt)?,
        label: row.optional(3, Row::text)?,
        progress: Progress {
            state: state(row, 4)?,
            attempts: number(5)?,
            most_attempts: number(6)?,
            fence: row.count(7)?,
            lease_until: row.count(8)?,
            expires_at: row.optional(9, Row::count)?,
        },
        priority: row.integer(10)?,
        memory: row.count(11)?,
        timeout_ms: row.count(12)?,
        worker: row.optional(13, Row::text)?,
        phase: row.optional(14, Row::text)?,
        error: row.optional(15, Row::text)?,
        finished: row
            .optional(16, Row::text)?
            .map(|text| serde_json::from_str(&text))
            .transpose()
            .map_err(corrupt)?,
        created_at: row.count(17)?,
        started_at: row.optional(18, Row::count)?,
        ended_at: row.optional(19, Row::count)?,
        inputs: Inputs::of_number(row.integer(20)?)?,
        trace: row.optional(21, Row::text)?,
        threads: row.count(22)?,
    })
}

/// The time when the row was selected.
fn selected_at(row: &Row) -> Result<u64, StoreError> {
    row.count(23)
}

/// The jobs in rows, without those that cannot be read: one damaged row does not keep others from being listed or cleaned.
fn readable(rows: &[Row]) -> Vec<Job> {
    let logged =
        |row: &Row| job(row).inspect_err(|error| tracing::error!(%error, "a job cannot be read")).ok();
    rows.iter().filter_map(logged).collect()
}

/// The job of this id, if it is this owner's, and the present time.
fn find(transaction: &mut dyn Transaction, id: &str, owner: Option<&str>) -> Result<(Job, u64), StoreError> {
    let rows = transaction.query(select!("WHERE id = $1"), &[id.into()])?;
    let unknown = || StoreError::NotFound(format!("there is no job {id}"));
    let row = rows.first().ok_or_else(unknown)?;
    let job = job(row)?;
    if owner.is_some_and(|owner| job.owner != owner) {
        return Err(unknown());
    }
    Ok((job, selected_at(row)?))
}

/// What an event changes besides the job's progress. `None` leaves a column as it is.
#[derive(Default)]
struct Change {
    worker: Option<String>,
    phase: Option<String>,
    error: Option<String>,
    result: Option<String>,
    pause_ms: u64,
}

/// Applies an event to a job that was just read; the only place where jobs change.
fn apply(
    transaction: &mut dyn Transaction,
    job: &Job,
    event: Event,
    change: Change,
) -> Result<Progress, StoreError> {
    let before = job.progress;
    let after = before.after(event)?;
    let sql = "UPDATE jobs SET state = $5, attempts = $6, fence = $7, lease_until = $8, expires_at = $9,
        worker = coalesce($10, worker), phase = $11, error = coalesce($12, error), result = coalesce($13, result),
        not_before = CASE WHEN $14 > 0 THEN now_ms() + $14 ELSE 0 END,
        started_at = CASE WHEN $15 = 1 THEN now_ms() ELSE started_at END,
        ended_at = CASE WHEN $16 = 1 THEN now_ms() END, inputs = $17
        WHERE id = $1 AND state = $2 AND fence = $3 AND attempts = $4 AND lease_until = $18 AND inputs = $19";
    let parameters: [Value; 19] = [
        job.id.as_str().into(),
        before.state.name().into(),
        before.fence.into(),
        before.attempts.into(),
        after.state.name().into(),
        after.attempts.into(),
        after.fence.into(),
        after.lease_until.into(),
        after.expires_at.into(),
        change.worker.into(),
        change.phase.into(),
        change.error.into(),
        change.result.into(),
        change.pause_ms.min(LONGEST_PAUSE).into(),
        matches!(event, Event::Claim { .. }).into(),
        after.state.has_ended().into(),
        job.inputs.in_state(after.state).number().into(),
        before.lease_until.into(),
        job.inputs.number().into(),
    ];
    match transaction.execute(sql, &parameters)? {
        1 => Ok(after),
        _ => Err(StoreError::Contended),
    }
}

/// Inserts a job, or finds the one that the same submission made before.
fn submit(
    store: &Store,
    transaction: &mut dyn Transaction,
    new: &NewJob,
    limits: Limits,
) -> Result<(Job, bool), StoreError> {
    let NewJob { id, owner, idempotency_key, .. } = new;
    let earlier = "SELECT id, request FROM jobs WHERE id = $1 OR (owner = $2 AND idempotency_key = $3)";
    let parameters: [Value; 3] = [id.as_str().into(), owner.as_str().into(), idempotency_key.clone().into()];
    if let Some(row) = transaction.query(earlier, &parameters)?.first() {
        let earlier = row.text(0)?;
        if row.text(1)? != new.request {
            return Err(StoreError::Idempotency(earlier));
        }
        // It is this very one if its submission was repeated because the answer was lost.
        return Ok((find(transaction, &earlier, Some(owner))?.0, earlier == *id));
    }
    for digest in new.task.keys() {
        keys::hold(transaction, owner, digest)?;
    }
    store.take_room(transaction, &Asked { owner, jobs: 1, bytes: new.input_bytes }, limits)?;
    let turn = "UPDATE tokens SET last_turn =
        CASE WHEN last_turn < (SELECT turn FROM served) THEN (SELECT turn FROM served) ELSE last_turn + 1 END
        WHERE id = $1 RETURNING last_turn, now_ms()";
    let rows = transaction.query(turn, &[owner.as_str().into()])?;
    let row = rows.first().ok_or_else(|| StoreError::NotFound("the token is gone".to_owned()))?;
    let (turn, now) = (row.count(0)?, row.count(1)?);
    let expires_at = new.expires_in_ms.map(|after| now.saturating_add(after));
    let inputs = if new.task.inputs().is_empty() { Inputs::None } else { Inputs::Stored };
    let sql = "INSERT INTO jobs (id, owner, task, label, state, attempts, most_attempts, fence, lease_until, expires_at, not_before,
        timeout_ms, priority, turn, memory, idempotency_key, request, inputs, created_at, trace, threads, input_bytes)
        VALUES ($1, $2, $3, $4, 'queued', 0, $5, 0, 0, $6, 0, $8, $9, $10, $11, $12, $13, $14, $7, $15, $16, $17)";
    let task = serde_json::to_string(&new.task).expect("a task is JSON");
    let parameters: [Value; 17] = [
        id.as_str().into(),
        owner.as_str().into(),
        task.into(),
        new.label.clone().into(),
        new.most_attempts.max(1).into(),
        expires_at.into(),
        now.into(),
        new.timeout_ms.into(),
        new.priority.into(),
        turn.into(),
        new.memory.into(),
        idempotency_key.clone().into(),
        new.request.as_str().into(),
        inputs.number().into(),
        new.trace.clone().into(),
        new.threads.into(),
        new.input_bytes.into(),
    ];
    transaction.execute(sql, &parameters)?;
    let job = Job {
        id: id.clone(),
        owner: owner.clone(),
        task: new.task.clone(),
        label: new.label.clone(),
        progress: Progress::new(new.most_attempts.max(1), expires_at),
        priority: new.priority,
        memory: new.memory,
        timeout_ms: new.timeout_ms,
        worker: None,
        phase: None,
        error: None,
        finished: None,
        created_at: now,
        started_at: None,
        ended_at: None,
        inputs,
        trace: new.trace.clone(),
        threads: new.threads,
    };
    Ok((job, true))
}

/// The next job for a worker with so much memory, its turn, the time and how many wait.
struct Next {
    job: Job,
    turn: u64,
    now: u64,
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
                ORDER BY priority DESC, turn, id LIMIT 1 OFFSET $2",
                $lock
            )
        };
    }
    let sql = if transaction.locks_rows() { next!(" FOR UPDATE SKIP LOCKED") } else { next!("") };
    for damaged in 0..MOST_DAMAGED {
        let rows = transaction.query(sql, &[want.total.into(), damaged.into(), LONGEST_PAUSE.into()])?;
        let Some(row) = rows.first() else { return Ok(None) };
        match job(row) {
            Ok(job) => {
                let (now, turn, waiting) = (selected_at(row)?, row.count(24)?, row.count(25)?);
                return Ok(Some(Next { job, turn, now, waiting: waiting.saturating_sub(1) }));
            }
            Err(StoreError::Corrupt(problem)) => {
                tracing::error!(problem, "a job in the queue cannot be read")
            }
            Err(error) => return Err(error),
        }
    }
    Err(StoreError::Corrupt(format!("the first {MOST_DAMAGED} jobs of the queue cannot be read")))
}

fn claim(transaction: &mut dyn Transaction, want: &Want) -> Result<Claim, StoreError> {
    let Some(Next { mut job, turn, now, waiting }) = next(transaction, want)? else {
        return Ok(Claim::Empty);
    };
    if job.memory > want.free {
        return Ok(Claim::TooLarge(job.memory));
    }
    let event = Event::Claim { lease_until: now.saturating_add(want.lease_ms) };
    let change = Change { worker: Some(want.worker.clone()), ..Change::default() };
    job.progress = apply(transaction, &job, event, change)?;
    job.worker = Some(want.worker.clone());
    job.phase = None;
    job.started_at = Some(now);
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
    // A job that goes before its turn does not move the turn that is being served: other owners' next jobs would wait for all of its
    // owner's.
    if job.priority <= 0 {
        transaction.execute(served, &[turn.into()])?;
    }
    Ok(Claim::Job(Box::new(job), waiting))
}

fn report(
    transaction: &mut dyn Transaction,
    id: &str,
    fence: u64,
    worked: Worked,
) -> Result<Progress, StoreError> {
    let (job, now) = find(transaction, id, None)?;
    let (event, change) = match worked {
        Worked::Beat { lease_ms, phase } => {
            let lease_until = now.saturating_add(lease_ms);
            (
                Event::Beat { fence, lease_until },
                Change { phase: phase.or_else(|| job.phase.clone()), ..Change::default() },
            )
        }
        Worked::Finished(finished) => {
            let result = serde_json::to_string(&finished).expect("it is JSON");
            (Event::Finish { fence }, Change { result: Some(result), ..Change::default() })
        }
        Worked::Failed(message) => {
            (Event::Fail { fence }, Change { error: Some(message), ..Change::default() })
        }
        Worked::Lost { message, pause_ms } => {
            (Event::Lose { fence }, Change { error: Some(message), pause_ms, ..Change::default() })
        }
        Worked::Released => (Event::Release { fence }, Change::default()),
    };
    match apply(transaction, &job, event, change) {
        // The answer to an earlier report of this claim did not arrive.
        Err(StoreError::Refused(Refused::State(state)))
            if fence > 0 && job.progress.fence == fence && repeats(event, state) =>
        {
            Ok(job.progress)
        }
        other => other,
    }
}

/// The rows of jobs whose lease or waiting is over; another server takes those that it has locked.
fn due(
    transaction: &mut dyn Transaction,
    now: u64,
    longest: u64,
    may_end_leases: bool,
) -> Result<Vec<Row>, StoreError> {
    const LEASES: [&str; 2] = [
        select!("WHERE state = 'running' AND (lease_until <= $1 OR lease_until > $2) LIMIT 1000"),
        select!(
            "WHERE state = 'running' AND (lease_until <= $1 OR lease_until > $2) LIMIT 1000 FOR UPDATE SKIP LOCKED"
        ),
    ];
    const WAITING: [&str; 2] = [
        select!("WHERE state = 'queued' AND expires_at IS NOT NULL AND expires_at <= $1 LIMIT 1000"),
        select!(
            "WHERE state = 'queued' AND expires_at IS NOT NULL AND expires_at <= $1 LIMIT 1000 FOR UPDATE SKIP LOCKED"
        ),
    ];
    let locks = usize::from(transaction.locks_rows());
    let mut rows = transaction.query(WAITING[locks], &[now.into()])?;
    if may_end_leases {
        rows.extend(transaction.query(LEASES[locks], &[now.into(), latest_end(now, longest).into()])?);
    }
    Ok(rows)
}

/// Whether the state is where the event leads, so that it may have happened before.
fn repeats(event: Event, state: State) -> bool {
    match event {
        Event::Finish { .. } => state == State::Done,
        Event::Fail { .. } => state == State::Failed,
        Event::Lose { .. } => matches!(state, State::Queued | State::Dead),
        Event::Release { .. } => state == State::Queued,
        _ => false,
    }
}

impl Store {
    /// Submits jobs, each completely or not at all: each answer is a job and whether it is new.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if it is not known which of them were accepted: submit all again. Each job's: [`StoreError::Full`],
    /// [`StoreError::Stored`], [`StoreError::Idempotency`], and [`StoreError::NotFound`] for a key that is not its owner's.
    pub async fn submit(
        &self,
        jobs: Vec<NewJob>,
        limits: Limits,
    ) -> Result<Vec<Result<(Job, bool), StoreError>>, StoreError> {
        let store = self.clone();
        self.write(move |transaction| {
            let mut answers = Vec::with_capacity(jobs.len());
            for new in &jobs {
                // What it refuses, it refuses before it changes anything.
                match submit(&store, transaction, new, limits) {
                    Err(
                        error @ (StoreError::Unavailable(_) | StoreError::Contended | StoreError::Corrupt(_)),
                    ) => return Err(error),
                    answer => answers.push(answer),
                }
            }
            Ok(answers)
        })
        .await
    }

    /// Gives the next job to a worker.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: if the worker got a job then, its lease ends.
    pub async fn claim(&self, want: Want) -> Result<Claim, StoreError> {
        self.write(move |transaction| claim(transaction, &want)).await
    }

    /// What a worker says of the job that it claimed with this fence.
    ///
    /// # Errors
    /// [`StoreError::Refused`] if the worker no longer has the job: it stops.
    pub async fn report(&self, id: String, fence: u64, worked: Worked) -> Result<Progress, StoreError> {
        self.write(move |transaction| report(transaction, &id, fence, worked.clone())).await
    }

    /// Cancels a job; of another owner only if `owner` is none.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Refused`] for a job that has ended.
    pub async fn cancel(&self, id: String, owner: Option<String>) -> Result<Job, StoreError> {
        self.change(id, owner, Event::Cancel).await
    }

    /// Queues a dead job again.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Refused`] for a job that is not dead.
    pub async fn retry(&self, id: String, owner: Option<String>) -> Result<Job, StoreError> {
        self.change(id, owner, Event::Retry).await
    }

    async fn change(&self, id: String, owner: Option<String>, event: Event) -> Result<Job, StoreError> {
        self.write(move |transaction| {
            let (job, _) = find(transaction, &id, owner.as_deref())?;
            let is_there = match event {
                Event::Cancel => job.progress.state == State::Cancelled,
                _ => job.progress.state == State::Queued,
            };
            if is_there && transaction.is_repeated() {
                return Ok(job);
            }
            if event == Event::Retry && job.inputs != Inputs::Stored && !job.task.inputs().is_empty() {
                return Err(StoreError::NotFound(format!(
                    "the inputs of job {id} are deleted: submit it again"
                )));
            }
            apply(transaction, &job, event, Change::default())?;
            Ok(find(transaction, &id, owner.as_deref())?.0)
        })
        .await
    }

    /// Ends the leases and the waiting of jobs whose time has come, and returns them. `longest` is the longest lease in milliseconds;
    /// leases end only if the contact has lasted so long that workers could prolong them.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn end_due(&self, longest: u64, contact: Contact) -> Result<(Vec<Job>, Contact), StoreError> {
        self.write(move |transaction| {
            let now = now(transaction)?;
            let contact = contact.at(now, longest / 3 + SILENCE);
            let mut changed = Vec::new();
            for row in due(transaction, now, longest, contact.lasts(longest))? {
                let job = match job(&row) {
                    Ok(job) => job,
                    Err(StoreError::Corrupt(problem)) => {
                        tracing::error!(problem, "a job whose time is over cannot be read");
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                let (event, error) = match job.progress.state {
                    State::Running => (
                        Event::EndLease { now, longest },
                        "the worker was not heard of until its lease ended",
                    ),
                    _ => (Event::Expire { now }, "it waited longer than its owner allowed"),
                };
                let change = Change { error: Some(error.to_owned()), ..Change::default() };
                apply(transaction, &job, event, change)?;
                changed.push(find(transaction, &job.id, None)?.0);
            }
            Ok((changed, contact))
        })
        .await
    }

    /// A job; of another owner only if `owner` is none.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn job(&self, id: String, owner: Option<String>) -> Result<Job, StoreError> {
        self.read(move |transaction| Ok(find(transaction, &id, owner.as_deref())?.0)).await
    }

    /// Jobs, the last submitted first.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn jobs(&self, page: Page) -> Result<Vec<Job>, StoreError> {
        self.scan(move |transaction| {
            // The greatest text stands for a job that is yet to come.
            let mut parameters: Vec<Value> =
                vec![page.before.as_deref().unwrap_or("g").into(), page.limit.into()];
            parameters.extend(page.owner.as_deref().map(Value::from));
            parameters.extend(page.state.map(|state| state.name().into()));
            let sql = match (&page.owner, page.state) {
                (None, None) => select!("WHERE id < $1 ORDER BY id DESC LIMIT $2"),
                (Some(_), None) => select!("WHERE id < $1 AND owner = $3 ORDER BY id DESC LIMIT $2"),
                (None, Some(_)) => select!("WHERE id < $1 AND state = $3 ORDER BY id DESC LIMIT $2"),
                (Some(_), Some(_)) => {
                    select!("WHERE id < $1 AND owner = $3 AND state = $4 ORDER BY id DESC LIMIT $2")
                }
            };
            Ok(readable(&transaction.query(sql, &parameters)?))
        })
        .await
    }

    /// The queue.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn queue(&self) -> Result<Queue, StoreError> {
        self.scan(|transaction| {
            let now = now(transaction)?;
            let waiting = "SELECT memory, count(*), min(created_at) FROM jobs WHERE state = 'queued' GROUP BY memory ORDER BY memory";
            let waiting = transaction.query(waiting, &[])?;
            let waiting = waiting.iter().map(|row| {
                Ok(Waiting { memory: row.count(0)?, jobs: row.count(1)?, oldest_ms: now.saturating_sub(row.count(2)?) })
            });
            let waiting = waiting.collect::<Result<_, StoreError>>()?;
            let running = one(transaction.query("SELECT count(*) FROM jobs WHERE state = 'running'", &[])?)?.count(0)?;
            let ended = "SELECT state, count(*) FROM jobs WHERE ended_at IS NOT NULL AND ended_at > $1 GROUP BY state";
            let done = "SELECT worker, count(*) FROM jobs WHERE ended_at IS NOT NULL AND ended_at > $1 AND state = 'done' AND worker IS NOT NULL \
                GROUP BY worker";
            let mut counts = |sql| {
                let rows = transaction.query(sql, &[now.saturating_sub(HOUR).into()])?;
                rows.iter().map(|row| Ok((row.text(0)?, row.count(1)?))).collect::<Result<_, StoreError>>()
            };
            let (ended_last_hour, done_last_hour) = (counts(ended)?, counts(done)?);
            Ok(Queue { waiting, running, ended_last_hour, done_last_hour })
        })
        .await
    }

    /// At most 1000 jobs whose inputs are to be deleted: ended ones, dead ones only after `keep_dead` milliseconds.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn leftovers(&self, keep_dead: u64) -> Result<Vec<Job>, StoreError> {
        self.scan(move |transaction| {
            let before = now(transaction)?.saturating_sub(keep_dead);
            let sql = select!("WHERE ended_at IS NOT NULL AND inputs > 0 AND (inputs = 2 OR ended_at <= $1) ORDER BY ended_at LIMIT 1000");
            Ok(readable(&transaction.query(sql, &[before.into()])?))
        })
        .await
    }

    /// Gives up the inputs of a job that has ended, so that a dead one can no longer be retried: they may be deleted now. False if it was
    /// retried meanwhile.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn give_up_inputs(&self, id: String) -> Result<bool, StoreError> {
        self.write(move |transaction| {
            let sql = "UPDATE jobs SET inputs = 2 WHERE id = $1 AND ended_at IS NOT NULL AND inputs > 0";
            Ok(transaction.execute(sql, &[id.as_str().into()])? == 1)
        })
        .await
    }

    /// Notes that the inputs of a job, which were given up, are deleted.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn inputs_deleted(&self, id: String) -> Result<(), StoreError> {
        self.write(move |transaction| {
            let sql = "UPDATE jobs SET inputs = 0 WHERE id = $1 AND inputs = 2";
            transaction.execute(sql, &[id.as_str().into()]).map(drop)
        })
        .await
    }

    /// At most 1000 jobs that ended more than `keep` milliseconds ago and whose inputs are deleted.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn ended_before(&self, keep: u64) -> Result<Vec<Job>, StoreError> {
        self.scan(move |transaction| {
            let before = now(transaction)?.saturating_sub(keep);
            let sql = select!(
                "WHERE ended_at IS NOT NULL AND ended_at <= $1 AND inputs = 0 ORDER BY ended_at LIMIT 1000"
            );
            Ok(readable(&transaction.query(sql, &[before.into()])?))
        })
        .await
    }

    /// Forgets jobs that have ended and whose inputs and outputs are deleted.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn forget(&self, ids: Vec<String>) -> Result<(), StoreError> {
        self.write(move |transaction| {
            let sql = "DELETE FROM jobs WHERE id = $1 AND ended_at IS NOT NULL AND inputs = 0";
            ids.iter().try_for_each(|id| transaction.execute(sql, &[id.as_str().into()]).map(drop))
        })
        .await
    }
}
