//! Jobs, the queue and workers as others see them.

use super::{Service, ServiceError};
use crate::{
    coordinator::WorkerFacts,
    state::JobState,
    store::{JobRecord, Queue, SmallOutputs, StoreError, WorkerRecord},
    time::milliseconds,
};
use proofmill_job::{KeyKind, Task};
use serde::{Deserialize, Serialize};

/// A job as its owner sees it.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = View)]
pub struct JobView {
    /// Its id.
    pub id: String,
    /// Its task.
    pub task: Task,
    /// The name or digest by which the submission named its first key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its state.
    pub state: JobState,
    /// What keeps it waiting, if no worker can take it as it is. Only where one job is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<String>,
    /// Its attempts so far.
    pub attempts: u32,
    /// Its priority.
    pub priority: i64,
    /// The phase that the worker is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Why it failed, or why the last attempt was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How it was done: phases with their times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished: Option<proofmill_job::Finished>,
    /// Its outputs that are small JSON, unless they are encrypted. Only where one job is shown that is done.
    #[serde(default, skip_serializing_if = "SmallOutputs::is_empty")]
    #[schema(value_type = BTreeMap<String, Object>)]
    pub outputs: SmallOutputs,
    /// When it was submitted, in milliseconds since 1970 by the database's clock, as the other times.
    pub created_at: u64,
    /// When its last attempt began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<u64>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
}

impl From<JobRecord> for JobView {
    fn from(job: JobRecord) -> Self {
        let JobRecord {
            id,
            task,
            label,
            progress,
            priority,
            phase,
            error,
            finished,
            created_at,
            started_at,
            ended_at,
            ..
        } = job;
        let (state, attempts) = (progress.state, progress.attempts);
        let (obstacle, outputs) = (None, SmallOutputs::new());
        Self {
            id,
            task,
            label,
            state,
            obstacle,
            attempts,
            priority,
            phase,
            error,
            finished,
            outputs,
            created_at,
            started_at,
            ended_at,
        }
    }
}

/// The queue, and which of its jobs no worker can take.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct QueueView {
    /// The queue.
    #[serde(flatten)]
    pub queue: Queue,
    /// The memory of the largest worker that was heard of lately and does not divide jobs, in bytes; none if there is no such worker.
    pub largest_worker: Option<u64>,
    /// The number of waiting jobs that take more memory than any worker has.
    pub too_large: u64,
}

impl Service {
    /// A job as its owner sees it, with what keeps it waiting, or with its small outputs.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn view(&self, job: JobRecord) -> Result<JobView, ServiceError> {
        let (memory, owner) = (job.memory, job.owner.clone());
        let mut view = JobView::from(job);
        if view.state == JobState::Done && !view.task.outputs().is_empty() {
            view.outputs = self.0.store.job_with_outputs(view.id.clone(), None).await?.1;
        }
        if view.state == JobState::Queued
            && let Some((largest, _)) =
                self.largest_worker(false).await?.filter(|(largest, _)| *largest < memory)
            && !self.is_for_a_cluster(&owner, &view.task, memory).await?
        {
            let gibibytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
            let (needs, has) = (gibibytes(memory), gibibytes(largest));
            view.obstacle =
                Some(format!("needs {needs:.1} GiB of memory, the largest worker has {has:.1} GiB"));
        }
        Ok(view)
    }

    /// Whether there is a worker that divides such a job.
    async fn is_for_a_cluster(&self, owner: &str, task: &Task, memory: u64) -> Result<bool, ServiceError> {
        let (Task::Prove { key, .. }, Some((largest, _))) = (task, self.largest_worker(true).await?) else {
            return Ok(false);
        };
        let key = self.0.store.key(owner.to_owned(), key.clone()).await;
        Ok(memory <= largest && key.is_ok_and(|key| key.facts.kind == KeyKind::Groth16))
    }

    /// The queue.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn queue(&self) -> Result<QueueView, ServiceError> {
        let queue = self.0.store.queue().await?;
        let memory = |worker: Option<(u64, usize)>| worker.map(|(memory, _)| memory);
        let largest_worker = memory(self.largest_worker(false).await?);
        let most = largest_worker.max(memory(self.largest_worker(true).await?));
        let too_large = queue.waiting.iter().filter(|waiting| most.is_some_and(|most| waiting.memory > most));
        let too_large = too_large.map(|waiting| waiting.jobs).sum();
        Ok(QueueView { queue, largest_worker, too_large })
    }

    /// Memory and threads of the largest known worker: one that divides jobs, or one that does not.
    pub(super) async fn largest_worker(&self, divides: bool) -> Result<Option<(u64, usize)>, StoreError> {
        let workers = self.workers().await?;
        let workers = workers.iter().filter(|(_, facts)| facts.divides == divides);
        Ok(workers.map(|(_, facts)| (facts.memory, facts.threads)).max())
    }

    /// The workers that were heard of lately, with the facts that they reported about themselves.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn workers(&self) -> Result<Vec<(WorkerRecord, WorkerFacts)>, StoreError> {
        let workers = self.0.store.workers(milliseconds(3 * self.0.rules.lease)).await?;
        let facts = |worker: WorkerRecord| {
            let facts = serde_json::from_str(&worker.facts).unwrap_or_default();
            (worker, facts)
        };
        Ok(workers.into_iter().map(facts).collect())
    }
}
