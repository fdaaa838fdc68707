//! Lists of jobs, and the queue.

use super::{JobRecord, readable};
use crate::{
    state::JobState,
    store::{SqlValue, Store, StoreError, now, one},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An hour in milliseconds.
const HOUR: u64 = 3_600_000;

/// A query for one page of jobs.
#[derive(Clone, Debug)]
pub struct JobQuery {
    /// Only this owner's.
    pub owner: Option<String>,
    /// Only those in this state.
    pub state: Option<JobState>,
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

impl Store {
    /// Jobs, the last submitted first.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn jobs(&self, page: JobQuery) -> Result<Vec<JobRecord>, StoreError> {
        self.scan(move |transaction| {
            // Ids are hexadecimal digits: this text is greater than the id of any job.
            let mut parameters: Vec<SqlValue> =
                vec![page.before.as_deref().unwrap_or("g").into(), page.limit.into()];
            parameters.extend(page.owner.as_deref().map(SqlValue::from));
            // In the words of the indexes, of which each has the jobs of some states.
            let sql = match (&page.owner, page.state) {
                (None, None) => select!("WHERE id < $1 ORDER BY id DESC LIMIT $2"),
                (Some(_), None) => select!("WHERE owner = $3 AND id < $1 ORDER BY id DESC LIMIT $2"),
                (None, Some(JobState::Queued)) => {
                    select!("WHERE state = 'queued' AND id < $1 ORDER BY id DESC LIMIT $2")
                }
                (Some(_), Some(JobState::Queued)) => {
                    select!("WHERE state = 'queued' AND owner = $3 AND id < $1 ORDER BY id DESC LIMIT $2")
                }
                (None, Some(JobState::Running)) => {
                    select!("WHERE state = 'running' AND id < $1 ORDER BY id DESC LIMIT $2")
                }
                (Some(_), Some(JobState::Running)) => {
                    select!("WHERE state = 'running' AND owner = $3 AND id < $1 ORDER BY id DESC LIMIT $2")
                }
                (None, Some(ended)) => {
                    parameters.push(ended.name().into());
                    select!("WHERE ended_at IS NOT NULL AND state = $3 AND id < $1 ORDER BY id DESC LIMIT $2")
                }
                (Some(_), Some(ended)) => {
                    parameters.push(ended.name().into());
                    select!("WHERE ended_at IS NOT NULL AND owner = $3 AND state = $4 AND id < $1 ORDER BY id DESC LIMIT $2")
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
}
