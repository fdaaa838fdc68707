//! Submissions: their checks, their inputs and their keys.

use super::{Service, ServiceError, digest, input_name};
use crate::{
    access::{Identity, Scope},
    objects::Staged,
    store::{JobRecord, NewJob, StoreError},
    time::milliseconds,
};
use proofmill_job::{KeyFacts, KeyKind, Task, TaskInput};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The longest that a job may wait, in seconds: a year.
const LONGEST_WAIT: u64 = 366 * 24 * 3600;
/// The longest `traceparent` that is kept, in bytes.
const LONGEST_TRACE: usize = 128;

/// A job to submit, as a face received it.
#[derive(Clone, Debug, Deserialize, Serialize, utoipa::ToSchema)]
pub struct Submission {
    /// The task.
    #[serde(flatten)]
    pub task: Task,
    /// Greater ones go first; above 0 needs the scope `priority`.
    #[serde(default)]
    pub priority: i64,
    /// How long the job may wait, in seconds: a year at most.
    #[serde(default)]
    pub expires_in_s: Option<u64>,
    /// The longest time of an attempt, in seconds.
    #[serde(default)]
    pub timeout_s: Option<u64>,
    /// The most attempts.
    #[serde(default)]
    pub attempts: Option<u32>,
}

/// A submission with its inputs.
#[derive(Debug)]
pub struct Received {
    /// The task.
    pub submission: Submission,
    /// The inputs.
    pub inputs: Vec<(TaskInput, Staged)>,
    /// The owner's name of this submission, if it has one.
    pub idempotency_key: Option<String>,
    /// A digest of the whole submission.
    pub request: String,
    /// The `traceparent` of the caller, if it sent one.
    pub trace: Option<String>,
}

impl Received {
    /// A submission with its inputs and the digests of their contents. Which face received it makes no difference.
    pub fn new(submission: Submission, inputs: Vec<(TaskInput, Staged, String)>) -> Self {
        let mut digests: Vec<_> = inputs.iter().map(|(input, _, digest)| (input.name(), digest)).collect();
        // A client may repeat its submission with the inputs in another order.
        digests.sort();
        let request = digest(&serde_json::to_vec(&(&submission, digests)).expect("it is JSON"));
        let inputs = inputs.into_iter().map(|(input, file, _)| (input, file)).collect();
        Self { submission, inputs, idempotency_key: None, request, trace: None }
    }
}

impl Service {
    /// Submits jobs. The inputs of each are exactly those that its task needs; `request` is a digest of the whole
    /// submission. `held` is dropped when the jobs are in the store: the caller may hang up before.
    ///
    /// # Errors
    /// For all jobs: [`StoreError::Unavailable`]. For each job: [`ServiceError::Invalid`], and the errors of
    /// [`Store::submit`](crate::store::Store::submit).
    pub async fn submit(
        &self,
        identity: &Identity,
        submissions: Vec<Received>,
        held: impl Send + 'static,
    ) -> Result<Vec<Result<(JobRecord, bool), ServiceError>>, ServiceError> {
        identity.require(Scope::Submit)?;
        let (service, identity) = (self.clone(), identity.clone());
        // A caller that hangs up does not stop this midway: inputs would stay that no job has.
        let submitting = tokio::spawn(async move {
            let answers = service.submit_all(&identity, submissions).await;
            drop(held);
            answers
        });
        submitting.await.map_err(StoreError::unavailable)?
    }

    async fn submit_all(
        &self,
        identity: &Identity,
        submissions: Vec<Received>,
    ) -> Result<Vec<Result<(JobRecord, bool), ServiceError>>, ServiceError> {
        // The search for orphans waits: the inputs are stored before a job names them.
        let _arrive = self.0.arrivals.read().await;
        let mut answers: Vec<Option<Result<(JobRecord, bool), ServiceError>>> = Vec::new();
        let mut jobs = Vec::new();
        let largest = self.largest_worker(false).await?.unwrap_or((u64::MAX, self.0.rules.threads));
        for received in submissions {
            match self.prepare(identity, received, largest).await {
                Ok(job) => {
                    jobs.push(job);
                    answers.push(None);
                }
                Err(error) => answers.push(Some(Err(error))),
            }
        }
        let ids: Vec<String> = jobs.iter().map(|job| job.id.clone()).collect();
        let submitted = self.0.store.submit(jobs, self.0.rules.limits).await?;
        let mut submitted = ids.into_iter().zip(submitted);
        let mut all = Vec::with_capacity(answers.len());
        for answer in answers {
            all.push(match answer {
                Some(answer) => answer,
                None => {
                    let (id, answer) = submitted.next().expect("an answer for each job");
                    // Not those of a job that is there, which may be this one if the store tried twice.
                    if !matches!(&answer, Ok((job, _)) if job.id == id)
                        && let Err(error) = self.0.objects.delete(&format!("jobs/{id}/")).await
                    {
                        tracing::error!(job = id, %error, "cannot delete inputs that no job has yet");
                    }
                    answer.map_err(ServiceError::from)
                }
            });
        }
        self.0.changes.queued();
        Ok(all)
    }

    /// Checks a submission and stores its inputs.
    async fn prepare(
        &self,
        identity: &Identity,
        received: Received,
        (most_memory, most_threads): (u64, usize),
    ) -> Result<NewJob, ServiceError> {
        let Received { submission, inputs, idempotency_key, request, trace } = received;
        let Submission { mut task, priority, expires_in_s, timeout_s, attempts } = submission;
        if priority > 0 {
            identity.require(Scope::Priority)?;
        }
        if let Some(seconds) = expires_in_s.filter(|seconds| *seconds > LONGEST_WAIT) {
            return Err(ServiceError::Invalid(format!(
                "expires_in_s: expected at most {LONGEST_WAIT}, found {seconds}"
            )));
        }
        check_inputs(&task, &inputs)?;
        let label = task.keys().first().map(|name| (*name).to_owned());
        let rules = &self.0.rules;
        let mut input_bytes = 0;
        for (_, file) in &inputs {
            input_bytes += file.path().metadata()?.len();
        }
        let keys = self.find_keys(identity, &mut task).await?;
        // With fewer threads, the job takes less memory. A job that is too large for one thread waits for a larger worker.
        let bound = |threads| match keys.is_empty() {
            true => task.bound_without_keys(threads, input_bytes),
            false => keys.iter().fold(0, |sum: u64, key| sum.saturating_add(key.bound(threads, input_bytes))),
        };
        let threads = greatest(most_threads, |threads| bound(threads) <= most_memory);
        let memory = bound(threads);
        let divides = matches!(task, Task::Prove { .. }) && keys[0].kind == KeyKind::Groth16;
        let id = uuid::Uuid::now_v7().simple().to_string();
        // Inputs are stored before the job itself: a worker may claim it at once, and needs them.
        for (input, file) in inputs {
            self.0.objects.put(&input_name(&id, input), file).await?;
        }
        let timeout = timeout_s.map_or(rules.timeout, Duration::from_secs).min(rules.timeout);
        Ok(NewJob {
            id,
            owner: identity.token.clone(),
            task,
            label,
            priority,
            memory,
            most_attempts: attempts.unwrap_or(rules.attempts).clamp(1, 100),
            timeout_ms: milliseconds(timeout),
            expires_in_ms: expires_in_s.map(|seconds| seconds.saturating_mul(1000)),
            idempotency_key,
            request,
            trace: trace.filter(|trace| trace.len() <= LONGEST_TRACE),
            threads: threads as u64,
            input_bytes,
            divides,
        })
    }

    /// Finds the keys that a task names, checks their kinds, and puts their digests in the place of their names.
    async fn find_keys(&self, identity: &Identity, task: &mut Task) -> Result<Vec<KeyFacts>, ServiceError> {
        let (mut keys, kinds) = (Vec::new(), task.kinds());
        for (name, kinds) in task.keys_mut().into_iter().zip(kinds) {
            let key = self.0.store.key(identity.token.clone(), name.clone()).await?;
            if !kinds.contains(&key.facts.kind) {
                let expected: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
                let (expected, found) = (expected.join(" or "), key.facts.kind);
                return Err(ServiceError::Invalid(format!(
                    "{name}: expected a key of kind {expected}, found {found}"
                )));
            }
            keys.push(key.facts);
            *name = key.digest;
        }
        Ok(keys)
    }
}

/// The greatest number of threads, at least one and at most these, for which `fits` holds; it does not hold for more than one for which it
/// does not. Workers say their threads themselves: the search takes few steps for any number.
fn greatest(most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut least, mut most) = (1, most.max(1));
    while least < most {
        let middle = least + (most - least).div_ceil(2);
        if fits(middle) {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    least
}

/// Checks that every input that a task needs is there once, and no other.
fn check_inputs(task: &Task, inputs: &[(TaskInput, Staged)]) -> Result<(), ServiceError> {
    for input in task.inputs() {
        if !inputs.iter().any(|(found, _)| found == input) {
            return Err(ServiceError::Invalid(format!("the input {input} is missing")));
        }
    }
    for (index, (input, _)) in inputs.iter().enumerate() {
        if !task.inputs().contains(input) || inputs[..index].iter().any(|(other, _)| other == input) {
            let task = task.name();
            return Err(ServiceError::Invalid(format!(
                "a job of type {task} takes no input {input}, or only one"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::greatest;

    #[test]
    fn threads_are_as_many_as_fit() {
        for most in [1, 2, 3, 7, 24, 1000] {
            for limit in 0..30 {
                let expected = (1..=most).rev().find(|threads| *threads <= limit).unwrap_or(1);
                assert_eq!(greatest(most, |threads| threads <= limit), expected, "{most} {limit}");
            }
        }
        assert_eq!(greatest(usize::MAX, |_| false), 1);
        assert_eq!(greatest(usize::MAX, |_| true), usize::MAX);
        assert_eq!(greatest(0, |_| true), 1);
    }
}
