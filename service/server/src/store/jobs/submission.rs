//! Submissions: new jobs, their room and their turns.

use super::{InputState, JobRecord, find};
use crate::{
    state::JobProgress,
    store::{
        SqlValue, Store, StoreError, Transaction, keys,
        room::{Asked, StoreLimits},
    },
};
use proofmill_job::Task;
use std::collections::HashMap;

/// A job to submit.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// A new UUID of version 7. The same job can be submitted again if it is not known whether it was accepted.
    pub id: String,
    /// The token that submits it.
    pub owner: String,
    /// Its task, with digests for keys.
    pub task: Task,
    /// The name or digest by which the submission named its first key.
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
    /// A digest of the submission.
    pub request: String,
    /// The `traceparent` of the caller, if it sent one.
    pub trace: Option<String>,
    /// The threads that `memory` suffices for.
    pub threads: u64,
    /// The size of its inputs, in bytes.
    pub input_bytes: u64,
    /// Whether several machines can divide it.
    pub divides: bool,
}

/// The job that the same submission made before. The second value tells whether it has this id: then this transaction was committed before,
/// and its answer was lost.
fn earlier(transaction: &mut dyn Transaction, new: &NewJob) -> Result<Option<(JobRecord, bool)>, StoreError> {
    let NewJob { id, owner, idempotency_key, .. } = new;
    let sql = "SELECT id, request FROM jobs WHERE id = $1 OR (owner = $2 AND idempotency_key = $3)";
    let parameters: [SqlValue; 3] =
        [id.as_str().into(), owner.as_str().into(), idempotency_key.clone().into()];
    let rows = transaction.query(sql, &parameters)?;
    let Some(row) = rows.first() else { return Ok(None) };
    let earlier = row.text(0)?;
    if row.text(1)? != new.request {
        return Err(StoreError::Idempotency(earlier));
    }
    Ok(Some((find(transaction, &earlier, Some(owner))?.0, earlier == *id)))
}

/// Inserts a job, or finds the one that the same submission made before.
fn submit(
    store: &Store,
    transaction: &mut dyn Transaction,
    new: &NewJob,
    turns: &mut Turns<'_>,
    limits: StoreLimits,
) -> Result<(JobRecord, bool), StoreError> {
    let NewJob { id, owner, idempotency_key, .. } = new;
    // Without an idempotency key, an earlier submission is rare; the conflict below tells of it.
    if (idempotency_key.is_some() || transaction.is_repeated())
        && let Some(job) = earlier(transaction, new)?
    {
        return Ok(job);
    }
    // Locks the keys on PostgreSQL: no removal may come between this check and the commit.
    for digest in new.task.keys() {
        keys::hold(transaction, owner, digest)?;
    }
    store.take_room(transaction, &Asked { owner, jobs: 1, bytes: new.input_bytes }, limits)?;
    let (turn, now) = turns.next(transaction, owner)?;
    let expires_at = new.expires_in_ms.map(|after| now.saturating_add(after));
    let inputs = if new.task.inputs().is_empty() { InputState::None } else { InputState::Stored };
    let sql = "INSERT INTO jobs (id, owner, task, label, state, attempts, most_attempts, fence, lease_until, expires_at, not_before,
        timeout_ms, priority, turn, memory, idempotency_key, request, inputs, created_at, trace, threads, input_bytes, divides)
        VALUES ($1, $2, $3, $4, 'queued', 0, $5, 0, 0, $6, 0, $8, $9, $10, $11, $12, $13, $14, $7, $15, $16, $17, $18)
        ON CONFLICT DO NOTHING";
    let task = serde_json::to_string(&new.task).expect("a task is JSON");
    let parameters: [SqlValue; 18] = [
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
        u32::from(new.divides).into(),
    ];
    // A conflict: another transaction has inserted the same submission since the look above.
    if transaction.execute(sql, &parameters)? == 0 {
        return earlier(transaction, new)?.ok_or(StoreError::Contended);
    }
    Ok((queued(new, inputs, expires_at, now), true))
}

/// A job as it is when it is inserted.
fn queued(new: &NewJob, inputs: InputState, expires_at: Option<u64>, now: u64) -> JobRecord {
    JobRecord {
        id: new.id.clone(),
        owner: new.owner.clone(),
        task: new.task.clone(),
        label: new.label.clone(),
        progress: JobProgress::new(new.most_attempts.max(1), expires_at),
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
    }
}

/// The turns of jobs that are submitted together: those of one owner are taken at once, when the first is needed.
struct Turns<'a>(HashMap<&'a str, OwnerTurns>);

#[derive(Default)]
struct OwnerTurns {
    /// The number of turns that are not given to a job yet.
    left: u64,
    /// The next turn, and the time, once the turns are taken.
    next: Option<(u64, u64)>,
}

impl<'a> Turns<'a> {
    fn of(jobs: &'a [NewJob]) -> Self {
        let mut turns = HashMap::<_, OwnerTurns>::new();
        jobs.iter().for_each(|new| turns.entry(new.owner.as_str()).or_default().left += 1);
        Self(turns)
    }

    /// The next turn of this owner, and the time.
    fn next(&mut self, transaction: &mut dyn Transaction, owner: &str) -> Result<(u64, u64), StoreError> {
        let turns = self.0.get_mut(owner).expect("the owner of a job");
        let (turn, now) = match turns.next {
            Some(next) => next,
            None => {
                // Start-time fair queueing: an idle owner joins at the served turn, a busy one
                // goes on after its last turn. The row lock keeps concurrent submissions from
                // equal turns.
                let sql = "UPDATE tokens SET last_turn = $2 - 1 +
                    CASE WHEN last_turn < (SELECT turn FROM served) THEN (SELECT turn FROM served) ELSE last_turn + 1 END
                    WHERE id = $1 RETURNING last_turn - $2 + 1, now_ms()";
                let rows = transaction.query(sql, &[owner.into(), turns.left.into()])?;
                let row = rows.first().ok_or_else(|| StoreError::NotFound("the token is gone".to_owned()))?;
                (row.count(0)?, row.count(1)?)
            }
        };
        turns.next = Some((turn + 1, now));
        turns.left -= 1;
        Ok((turn, now))
    }

    /// Gives back the turns that no job needed: refused jobs do not move the owner's later ones back.
    fn end(self, transaction: &mut dyn Transaction) -> Result<(), StoreError> {
        let unused = self.0.into_iter().filter(|(_, turns)| turns.next.is_some() && turns.left > 0);
        unused.into_iter().try_for_each(|(owner, turns)| {
            let sql = "UPDATE tokens SET last_turn = last_turn - $2 WHERE id = $1";
            transaction.execute(sql, &[owner.into(), turns.left.into()]).map(drop)
        })
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
        limits: StoreLimits,
    ) -> Result<Vec<Result<(JobRecord, bool), StoreError>>, StoreError> {
        let store = self.clone();
        self.write(move |transaction| {
            let mut answers = Vec::with_capacity(jobs.len());
            let mut turns = Turns::of(&jobs);
            for new in &jobs {
                // A refused job has changed nothing, so the others of this transaction can be accepted.
                match submit(&store, transaction, new, &mut turns, limits) {
                    Err(
                        error @ (StoreError::Unavailable(_) | StoreError::Contended | StoreError::Corrupt(_)),
                    ) => return Err(error),
                    answer => answers.push(answer),
                }
            }
            turns.end(transaction)?;
            Ok(answers)
        })
        .await
    }
}
