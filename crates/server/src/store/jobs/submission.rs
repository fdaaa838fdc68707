//! Submissions.

use super::{Inputs, Job, find};
use crate::{
    state::Progress,
    store::{
        Store, StoreError, Transaction, Value, keys,
        room::{Asked, Limits},
    },
};
use proofmill_job::Task;

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
}
