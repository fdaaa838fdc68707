//! What the service does, for all of its faces: HTTP, gRPC, workers in this process.

use crate::{
    access::{Identity, Scope},
    changes::Changes,
    coordinator::{Coordinator, Trouble, WorkerFacts},
    names::check_name,
    objects::{Objects, Staged, Staging},
    state::{Contact, State},
    store::{Claim, Inputs, Job, Key, Limits, NewJob, Page, Queue, Store, StoreError, Want, Worked, Worker},
    time::milliseconds,
};
use async_trait::async_trait;
use proofmill_job::{Input, KeyFacts, Output, Task};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    pin::pin,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};
use tokio::{
    io::AsyncReadExt,
    runtime::Handle,
    sync::oneshot,
    time::{Instant, sleep, sleep_until, timeout_at},
};

pub use crate::{
    error::ServiceError,
    names::{digest, digest_of_file, is_digest},
};

/// How often a waiter looks for changes that other servers made.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// How long objects that no job or key names are kept: they may be on their way, to another server.
const ORPHANS_AFTER: Duration = Duration::from_secs(3600);
/// How often what is not needed is deleted.
const CLEANING: Duration = Duration::from_secs(30);
/// How often a server looks for objects that no job or key names.
const SEARCH: Duration = Duration::from_secs(1800);
/// The object that names the store.
const STORE_ID: &str = "store-id";
/// The longest name of a store, in bytes.
const MOST_STORE_ID: u64 = 256;
/// The longest `traceparent` that is kept, in bytes.
const LONGEST_TRACE: usize = 128;
/// The most bytes of what a worker says of itself.
const MOST_FACTS: usize = 64 << 10;
/// After how long without a word a worker is forgotten.
const SILENT: Duration = Duration::from_secs(24 * 3600);

/// The rules of a service.
#[derive(Clone, Debug)]
pub struct Rules {
    /// How long a worker has a job without a word.
    pub lease: Duration,
    /// How much may wait and be stored.
    pub limits: Limits,
    /// How long ended jobs and their outputs are kept.
    pub keep: Duration,
    /// How long the inputs of dead jobs are kept, for retries.
    pub keep_dead: Duration,
    /// The longest time of an attempt, unless the job says a shorter one.
    pub timeout: Duration,
    /// The attempts of a job, unless it says another number.
    pub attempts: u32,
    /// The threads that a job's memory is predicted for while no worker is known: those of this machine.
    pub threads: usize,
    /// How long the store may leave a question unanswered until it is given up, and the service with it.
    pub store_patience: Duration,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(15),
            limits: Limits {
                of_owner: 10_000,
                of_all: 100_000,
                bytes_of_owner: 1 << 40,
                keys_of_owner: 1000,
            },
            keep: Duration::from_secs(7 * 24 * 3600),
            keep_dead: Duration::from_secs(24 * 3600),
            timeout: Duration::from_secs(3600),
            attempts: 3,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            store_patience: Duration::from_secs(120),
        }
    }
}

/// Says what a key file is.
#[async_trait]
pub trait Inspector: Send + Sync {
    /// What the file is.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for a file that is no key.
    async fn inspect(&self, path: &Path) -> Result<KeyFacts, ServiceError>;
}

/// Receives the jobs that end in this process, for metrics and traces.
pub trait Observer: Send + Sync {
    /// The job has ended. A job may be told twice if a worker said so twice.
    fn ended(&self, job: &Job);
}

/// The service. Clones are handles to one.
#[derive(Clone)]
pub struct Service(Arc<Parts>);

struct Parts {
    store: Store,
    objects: Arc<dyn Objects>,
    staging: Staging,
    inspector: Arc<dyn Inspector>,
    changes: Changes,
    rules: Rules,
    observers: RwLock<Vec<Arc<dyn Observer>>>,
    /// Read while objects are on their way to a job or key that names them; written while those are deleted that none names.
    arrivals: tokio::sync::RwLock<()>,
}

/// A job to submit, as a face received it.
#[derive(Clone, Debug, Deserialize, Serialize, utoipa::ToSchema)]
pub struct Submission {
    /// What is asked for.
    #[serde(flatten)]
    pub task: Task,
    /// Greater ones go first; above 0 needs the scope `priority`.
    #[serde(default)]
    pub priority: i64,
    /// How long the job may wait, in seconds.
    #[serde(default)]
    pub expires_in_s: Option<u64>,
    /// The longest time of an attempt, in seconds.
    #[serde(default)]
    pub timeout_s: Option<u64>,
    /// The most attempts.
    #[serde(default)]
    pub attempts: Option<u32>,
}

/// A job as its owner sees it.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct View {
    /// Its id.
    pub id: String,
    /// What it asks for.
    pub task: Task,
    /// What its owner called the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its state.
    pub state: State,
    /// What keeps it waiting, if no worker can take it as it is. Only where one job is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<String>,
    /// Its attempts so far.
    pub attempts: u32,
    /// Its priority.
    pub priority: i64,
    /// What the worker is doing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Why it failed, or why the last attempt was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How it was done: phases with their times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished: Option<proofmill_job::Finished>,
    /// When it was submitted, in milliseconds since 1970 by the database's clock, as the other times.
    pub created_at: u64,
    /// When its last attempt began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<u64>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
}

impl From<Job> for View {
    fn from(job: Job) -> Self {
        let Job {
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
        let obstacle = None;
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
    /// The memory of the largest worker that was heard of lately, in bytes; none if there is no worker.
    pub largest_worker: Option<u64>,
    /// The number of waiting jobs that take more memory than that.
    pub too_large: u64,
}

/// The name of an input's object.
fn input_name(job: &str, input: Input) -> String {
    format!("jobs/{job}/inputs/{input}")
}

/// The name of an output's object.
fn output_name(job: &str, fence: u64, output: Output) -> String {
    format!("jobs/{job}/{fence}/{}", output.name())
}

fn key_name(digest: &str) -> String {
    format!("keys/{digest}")
}

/// Whether the service gives such names to objects.
fn is_ours(name: &str) -> bool {
    match name.strip_prefix("keys/") {
        Some(digest) => is_digest(digest),
        None => is_id(name.trim_start_matches("jobs/").trim_end_matches('/')),
    }
}

/// Whether this can be the id of a job.
fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl Service {
    /// A service.
    pub fn new(
        store: Store,
        objects: Arc<dyn Objects>,
        staging: Staging,
        inspector: Arc<dyn Inspector>,
        rules: Rules,
    ) -> Self {
        let (changes, observers, arrivals) = Default::default();
        Self(Arc::new(Parts { store, objects, staging, inspector, changes, rules, observers, arrivals }))
    }

    /// Takes the objects for this store, or makes sure that they are: those of another store would be deleted, since no job or key
    /// of this one names them. To be called before anything else.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for the objects of another store, and those of [`Objects::check_encryption`].
    pub async fn own_objects(&self) -> Result<(), ServiceError> {
        let Parts { store, objects, staging, .. } = &*self.0;
        let id = store.id().await?;
        match objects.get(STORE_ID).await {
            Ok((_, reader)) => {
                let mut found = String::new();
                reader.take(MOST_STORE_ID).read_to_string(&mut found).await?;
                let problem = "the objects belong to another store: give each store objects of its own";
                if found != id {
                    return Err(ServiceError::Invalid(problem.to_owned()));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if !objects.list("jobs/").await?.is_empty() || !objects.list("keys/").await?.is_empty() {
                    let problem = "the objects have jobs or keys but no file store-id: give the store objects of its own";
                    return Err(ServiceError::Invalid(problem.to_owned()));
                }
                objects.put(STORE_ID, staging.file_with(id.as_bytes())?).await?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(objects.check_encryption().await?)
    }

    /// Adds an observer of jobs that end.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        self.0.observers.write().unwrap_or_else(PoisonError::into_inner).push(observer);
    }

    /// Wakes those who wait for the job, and tells the observers if it has ended.
    fn changed(&self, job: &Job) {
        self.0.changes.changed(&job.id);
        if job.progress.state.has_ended() {
            let observers = self.0.observers.read().unwrap_or_else(PoisonError::into_inner);
            observers.iter().for_each(|observer| observer.ended(job));
        }
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// Files on their way.
    pub fn staging(&self) -> &Staging {
        &self.0.staging
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.0.rules
    }

    /// Wakes those who wait for jobs.
    pub fn changes(&self) -> &Changes {
        &self.0.changes
    }

    /// Adds a key file, whose digest the caller has computed, to the keys of a token.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for a file that is no key, or a bad name; [`StoreError::Stored`] beyond the token's limits.
    pub async fn add_key(
        &self,
        identity: &Identity,
        digest: String,
        name: Option<String>,
        file: Staged,
    ) -> Result<Key, ServiceError> {
        identity.require(Scope::Keys)?;
        name.as_deref().map_or(Ok(()), |name| check_name("key", name))?;
        let bytes = file.path().metadata()?.len();
        let facts = self.0.inspector.inspect(file.path()).await?;
        let _arrives = self.0.arrivals.read().await;
        self.0.objects.put(&key_name(&digest), file).await?;
        self.store_key(Key { digest, owner: identity.token.clone(), name, bytes, facts, created_at: 0 }).await
    }

    /// Gives a name to a key of the token. Without one, the key keeps that which it has.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for a bad name, [`StoreError::NotFound`] for a key that the token does not have.
    pub async fn name_key(
        &self,
        identity: &Identity,
        digest: String,
        name: Option<String>,
    ) -> Result<Key, ServiceError> {
        identity.require(Scope::Keys)?;
        name.as_deref().map_or(Ok(()), |name| check_name("key", name))?;
        // If the key is removed meanwhile, its file stays until it is named again.
        let _arrives = self.0.arrivals.read().await;
        let key = self.0.store.key(identity.token.clone(), digest).await?;
        self.store_key(Key { name, ..key }).await
    }

    async fn store_key(&self, key: Key) -> Result<Key, ServiceError> {
        let (owner, digest) = (key.owner.clone(), key.digest.clone());
        self.0.store.add_key(key, self.0.rules.limits).await?;
        Ok(self.0.store.key(owner, digest).await?)
    }

    /// Submits jobs. The inputs of each are exactly those that its task needs; `request` is a digest of all that was sent.
    ///
    /// # Errors
    /// Of all: [`StoreError::Unavailable`]. Of each: [`ServiceError::Invalid`], and those of [`Store::submit`].
    pub async fn submit(
        &self,
        identity: &Identity,
        submissions: Vec<Received>,
    ) -> Result<Vec<Result<(Job, bool), ServiceError>>, ServiceError> {
        identity.require(Scope::Submit)?;
        let (service, identity) = (self.clone(), identity.clone());
        // A caller that hangs up does not stop this midway: inputs would stay that no job has.
        let submitting = tokio::spawn(async move { service.submit_all(&identity, submissions).await });
        submitting.await.map_err(StoreError::unavailable)?
    }

    async fn submit_all(
        &self,
        identity: &Identity,
        submissions: Vec<Received>,
    ) -> Result<Vec<Result<(Job, bool), ServiceError>>, ServiceError> {
        let _arrive = self.0.arrivals.read().await;
        let mut answers: Vec<Option<Result<(Job, bool), ServiceError>>> = Vec::new();
        let mut jobs = Vec::new();
        let largest = self.largest_worker().await?;
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

    /// Threads and memory of the largest worker that is known, or the threads of this machine.
    async fn largest_worker(&self) -> Result<(usize, u64), ServiceError> {
        let workers = self.workers().await?;
        let sizes = workers.iter().map(|(_, facts)| (facts.threads, facts.memory));
        Ok(sizes
            .max_by_key(|(threads, memory)| (*memory, *threads))
            .unwrap_or((self.0.rules.threads, u64::MAX)))
    }

    /// Checks a submission and stores its inputs.
    async fn prepare(
        &self,
        identity: &Identity,
        received: Received,
        (most_threads, most_memory): (usize, u64),
    ) -> Result<NewJob, ServiceError> {
        let Received { submission, inputs, idempotency_key, request, trace } = received;
        let Submission { mut task, priority, expires_in_s, timeout_s, attempts } = submission;
        if priority > 0 {
            identity.require(Scope::Priority)?;
        }
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
        let label = task.keys().first().map(|name| (*name).to_owned());
        let (mut keys, kinds, rules) = (Vec::new(), task.kinds(), &self.0.rules);
        let mut input_bytes = 0;
        for (_, file) in &inputs {
            input_bytes += file.path().metadata()?.len();
        }
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
        // With fewer threads it takes less memory. What is too large for one thread waits for a larger worker.
        let bound = |threads| match keys.is_empty() {
            true => task.bound_without_keys(threads, input_bytes),
            false => keys.iter().fold(0, |sum: u64, key| sum.saturating_add(key.bound(threads, input_bytes))),
        };
        let threads = (1..=most_threads).rev().find(|threads| bound(*threads) <= most_memory).unwrap_or(1);
        let memory = bound(threads);
        let id = uuid::Uuid::now_v7().simple().to_string();
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
        })
    }

    /// A job of the token; for an administrator, any job.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn job(&self, identity: &Identity, id: &str) -> Result<Job, ServiceError> {
        Ok(self.0.store.job(checked(id)?, identity.owner()).await?)
    }

    /// Jobs of the token, or of all for an administrator.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn jobs(
        &self,
        identity: &Identity,
        state: Option<State>,
        before: Option<String>,
        limit: u32,
    ) -> Result<Vec<Job>, ServiceError> {
        if let Some(before) = &before {
            checked(before)?;
        }
        Ok(self.0.store.jobs(Page { owner: identity.owner(), state, before, limit }).await?)
    }

    /// The job once it has ended, or as it is after this time.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn wait(&self, identity: &Identity, id: &str, time: Duration) -> Result<Job, ServiceError> {
        self.wait_until(identity, id, time, |job| job.progress.state.has_ended()).await
    }

    /// The job once `enough` holds of it, or as it is after this time.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn wait_until(
        &self,
        identity: &Identity,
        id: &str,
        time: Duration,
        enough: impl Fn(&Job) -> bool,
    ) -> Result<Job, ServiceError> {
        let end = Instant::now() + time;
        let watch = self.0.changes.watch(id);
        loop {
            // Registered before the job is read, so that no change is missed.
            let changed = watch.next();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let job = self.job(identity, id).await?;
            let now = Instant::now();
            if enough(&job) || now >= end {
                return Ok(job);
            }
            drop(timeout_at(end.min(now + LOOK_AGAIN), changed).await);
        }
    }

    /// Cancels a job.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Refused`] for a job that has ended.
    pub async fn cancel(&self, identity: &Identity, id: &str) -> Result<Job, ServiceError> {
        identity.require(Scope::Submit)?;
        let job = self.0.store.cancel(checked(id)?, identity.owner()).await?;
        self.changed(&job);
        self.clean(&job).await;
        Ok(job)
    }

    /// Queues a dead job again.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Refused`] for a job that is not dead.
    pub async fn retry(&self, identity: &Identity, id: &str) -> Result<Job, ServiceError> {
        identity.require(Scope::Submit)?;
        let job = self.0.store.retry(checked(id)?, identity.owner()).await?;
        self.0.changes.changed(id);
        self.0.changes.queued();
        Ok(job)
    }

    /// The content of an output of a job that is done, and its length.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Refused`] for a job that is not done.
    pub async fn output(
        &self,
        identity: &Identity,
        id: &str,
        output: Output,
    ) -> Result<(Job, u64, crate::objects::Reader), ServiceError> {
        let job = self.job(identity, id).await?;
        if !job.task.outputs().contains(&output) {
            let (task, output) = (job.task.name(), output.name());
            return Err(StoreError::NotFound(format!("a job of type {task} has no {output}")).into());
        }
        if job.progress.state != State::Done {
            return Err(StoreError::Refused(crate::state::Refused::State(job.progress.state)).into());
        }
        let (bytes, reader) = self.0.objects.get(&output_name(id, job.progress.fence, output)).await?;
        Ok((job, bytes, reader))
    }

    /// A job as its owner sees it, with what keeps it waiting.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn view(&self, job: Job) -> Result<View, ServiceError> {
        let memory = job.memory;
        let mut view = View::from(job);
        if view.state == State::Queued
            && let Some(largest) = self.largest_memory().await?.filter(|largest| *largest < memory)
        {
            let gibibytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
            let (needs, has) = (gibibytes(memory), gibibytes(largest));
            view.obstacle =
                Some(format!("needs {needs:.1} GiB of memory, the largest worker has {has:.1} GiB"));
        }
        Ok(view)
    }

    /// The queue.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn queue(&self) -> Result<QueueView, ServiceError> {
        let (queue, largest_worker) = (self.0.store.queue().await?, self.largest_memory().await?);
        let too_large =
            queue.waiting.iter().filter(|waiting| largest_worker.is_some_and(|most| waiting.memory > most));
        let too_large = too_large.map(|waiting| waiting.jobs).sum();
        Ok(QueueView { queue, largest_worker, too_large })
    }

    /// The memory of the largest worker that is known.
    async fn largest_memory(&self) -> Result<Option<u64>, ServiceError> {
        Ok(self.workers().await?.iter().map(|(_, facts)| facts.memory).max())
    }

    /// The workers that were heard of lately, with what they said of themselves.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn workers(&self) -> Result<Vec<(Worker, WorkerFacts)>, ServiceError> {
        let workers = self.0.store.workers(milliseconds(3 * self.0.rules.lease)).await?;
        let facts = |worker: Worker| {
            let facts = serde_json::from_str(&worker.facts).unwrap_or_default();
            (worker, facts)
        };
        Ok(workers.into_iter().map(facts).collect())
    }

    /// Ends leases and waiting, and deletes what is not needed, again and again; for one task of each server. Returns when the store will
    /// not answer any more: the process has to be started again.
    pub async fn maintain(&self) -> ServiceError {
        // Leases do not wait for an object storage.
        tokio::select! {
            error = self.watch_store() => error.into(),
            never = self.end_leases() => never,
            never = self.clean_up() => never,
        }
    }

    /// Returns when a thread of the store has ended, or leaves a question without an answer for too long. That the database is out of
    /// reach is an answer.
    async fn watch_store(&self) -> StoreError {
        let store = &self.0.store;
        loop {
            let mut answer = pin!(store.check_all());
            // Counted, so that a process that is stopped for a while does not end when it goes on.
            let mut seconds = 0;
            let answer = loop {
                tokio::select! {
                    answer = &mut answer => break answer,
                    () = sleep(Duration::from_secs(1)) => seconds += 1,
                }
                if seconds >= self.0.rules.store_patience.as_secs() {
                    return StoreError::unavailable(format!("the store has not answered for {seconds} s"));
                }
            };
            if let Err(StoreError::Ended) = answer {
                return StoreError::Ended;
            }
            sleep(Duration::from_secs(1)).await;
        }
    }

    async fn end_leases(&self) -> ! {
        let mut contact = Contact::default();
        loop {
            let began = Instant::now();
            match self.0.store.end_due(milliseconds(self.0.rules.lease), contact).await {
                Ok((jobs, now)) => {
                    contact = now;
                    for job in &jobs {
                        let (job_id, state) = (&job.id, job.progress.state.name());
                        tracing::warn!(job = job_id, state, error = job.error, "time is over");
                        self.changed(job);
                    }
                    if !jobs.is_empty() {
                        self.0.changes.queued();
                    }
                }
                Err(error) => tracing::error!(%error, "cannot end leases"),
            }
            sleep_until(began + Duration::from_secs(1)).await;
        }
    }

    async fn clean_up(&self) -> ! {
        let (mut next_search, mut orphans) = (Instant::now() + SEARCH, HashMap::new());
        loop {
            let began = Instant::now();
            if let Err(error) = self.delete_leftovers().await {
                tracing::error!(%error, "cannot delete what is not needed");
            }
            if began >= next_search {
                next_search = began + SEARCH;
                if let Err(error) = self.delete_orphans(&mut orphans).await {
                    tracing::error!(%error, "cannot look for files that nothing names");
                }
            }
            sleep_until(began + CLEANING).await;
        }
    }

    async fn delete_leftovers(&self) -> Result<(), ServiceError> {
        let Parts { store, objects, rules, .. } = &*self.0;
        for job in store.leftovers(milliseconds(rules.keep_dead)).await? {
            self.clean(&job).await;
        }
        let began = Instant::now();
        // The rest later: jobs that end now have inputs to be deleted.
        while began.elapsed() < rules.lease / 4 {
            let jobs = store.ended_before(milliseconds(rules.keep)).await?;
            let mut ids = Vec::with_capacity(jobs.len());
            for job in jobs {
                match objects.delete(&format!("jobs/{}/", job.id)).await {
                    Ok(()) => ids.push(job.id),
                    Err(error) => tracing::error!(job = job.id, %error, "cannot delete its outputs"),
                }
            }
            if ids.is_empty() {
                break;
            }
            store.forget(ids).await?;
        }
        Ok(store.forget_silent_workers(milliseconds(SILENT)).await?)
    }

    /// Deletes objects that no job or key has named for a while. `orphans` is when they were first seen so: the objects' own times are
    /// those of a clock that may jump.
    async fn delete_orphans(&self, orphans: &mut HashMap<String, Instant>) -> Result<(), ServiceError> {
        let (now, mut seen) = (Instant::now(), HashMap::new());
        let jobs = self.0.objects.list("jobs/").await?.into_iter().map(|id| format!("jobs/{id}/"));
        let keys = self.0.objects.list("keys/").await?.into_iter().map(|digest| key_name(&digest));
        for name in jobs.chain(keys) {
            if !is_ours(&name) || self.is_named(&name).await? {
                continue;
            }
            let since = orphans.get(&name).copied().unwrap_or(now);
            // It may have been named since; and while something is on its way, this waits for the next search.
            match self.0.arrivals.try_write() {
                Ok(_alone) if now >= since + ORPHANS_AFTER && !self.is_named(&name).await? => {
                    self.0.objects.delete(&name).await?;
                }
                _ => drop(seen.insert(name, since)),
            }
        }
        *orphans = seen;
        Ok(())
    }

    /// Whether a job or key has this object.
    async fn is_named(&self, name: &str) -> Result<bool, ServiceError> {
        if let Some(digest) = name.strip_prefix("keys/") {
            return Ok(self.0.store.is_key_needed(digest.to_owned()).await?);
        }
        let id = name.trim_start_matches("jobs/").trim_end_matches('/');
        match self.0.store.job(id.to_owned(), None).await {
            Ok(_) => Ok(true),
            Err(StoreError::NotFound(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes the inputs of a job that has ended. What fails is tried again later.
    async fn clean(&self, job: &Job) {
        let clean = async {
            let are_given_up = match job.inputs {
                Inputs::None => false,
                Inputs::Stored => self.0.store.give_up_inputs(job.id.clone()).await?,
                Inputs::Leftover => true,
            };
            if !are_given_up {
                return Ok(());
            }
            self.0.objects.delete(&format!("jobs/{}/inputs/", job.id)).await?;
            self.0.store.inputs_deleted(job.id.clone()).await?;
            Ok::<_, ServiceError>(())
        };
        if let Err(error) = clean.await {
            tracing::error!(job = job.id, %error, "cannot delete its inputs");
        }
    }
}

/// A submission with its inputs.
#[derive(Debug)]
pub struct Received {
    /// What is asked for.
    pub submission: Submission,
    /// The inputs.
    pub inputs: Vec<(Input, Staged)>,
    /// The owner's name of this submission.
    pub idempotency_key: Option<String>,
    /// A digest of all that was sent.
    pub request: String,
    /// The `traceparent` of the caller, if it sent one.
    pub trace: Option<String>,
}

impl Received {
    /// A submission with its inputs and the digests of their contents. Which face received it makes no difference.
    pub fn new(submission: Submission, inputs: Vec<(Input, Staged, String)>) -> Self {
        let mut digests: Vec<_> = inputs.iter().map(|(input, _, digest)| (input.name(), digest)).collect();
        digests.sort();
        let request = digest(&serde_json::to_vec(&(&submission, digests)).expect("it is JSON"));
        let inputs = inputs.into_iter().map(|(input, file, _)| (input, file)).collect();
        Self { submission, inputs, idempotency_key: None, request, trace: None }
    }
}

fn checked(id: &str) -> Result<String, StoreError> {
    if is_id(id) { Ok(id.to_owned()) } else { Err(StoreError::NotFound(format!("{id:?} is no job's id"))) }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(_) | StoreError::NotFound(_) => Self::Lost(error.to_string()),
            error => Self::Unavailable(error.to_string()),
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// A claim on its way to a worker. If nobody takes it, the job is given back.
struct Offer {
    service: Service,
    claim: Option<Claim>,
}

impl Drop for Offer {
    fn drop(&mut self) {
        let (Some(Claim::Job(job, _)), Ok(runtime)) = (self.claim.take(), Handle::try_current()) else {
            return;
        };
        let service = self.service.clone();
        runtime.spawn(async move {
            if let Err(error) = service.report(&job.id, job.progress.fence, Worked::Released).await {
                tracing::warn!(job = job.id, %error, "cannot give it back: its lease will end");
            }
        });
    }
}

#[async_trait]
impl Coordinator for Service {
    async fn claim(&self, mut want: Want, wait: Duration) -> Result<Claim, Trouble> {
        want.lease_ms = self.lease(want.lease_ms);
        let end = Instant::now() + wait;
        loop {
            let queued = self.0.changes.next_queued();
            tokio::pin!(queued);
            queued.as_mut().enable();
            let claim = self.claim_for_caller(want.clone()).await?;
            if let Claim::Job(job, _) = &claim {
                self.0.changes.changed(&job.id);
            }
            let now = Instant::now();
            // One for which the worker has too little memory now need not be waited for: its own jobs' ends are no changes here.
            if claim != Claim::Empty || now >= end {
                return Ok(claim);
            }
            drop(timeout_at(end.min(now + LOOK_AGAIN), queued).await);
        }
    }

    async fn report(&self, job: &str, fence: u64, mut worked: Worked) -> Result<(), Trouble> {
        if let Worked::Beat { lease_ms, .. } = &mut worked {
            *lease_ms = self.lease(*lease_ms);
        }
        let progress = self.0.store.report(job.to_owned(), fence, worked).await?;
        if !progress.state.has_ended() {
            self.0.changes.changed(job);
            if progress.state == State::Queued {
                self.0.changes.queued();
            }
            return Ok(());
        }
        match self.0.store.job(job.to_owned(), None).await {
            Ok(job) => {
                self.changed(&job);
                if !progress.state.needs_inputs() {
                    let service = self.clone();
                    // Its owner need not wait for this.
                    tokio::spawn(async move { service.clean(&job).await });
                }
            }
            // What was said is durable.
            Err(error) => {
                tracing::error!(job, %error, "cannot delete its inputs yet");
                self.0.changes.changed(job);
            }
        }
        Ok(())
    }

    async fn input(&self, job: &str, fence: u64, input: Input, folder: &Path) -> Result<PathBuf, Trouble> {
        self.expect_fence(job, fence).await?;
        let name = input_name(job, input);
        if let Some(path) = self.0.objects.path(&name) {
            return Ok(path);
        }
        let place = folder.join(input.name());
        self.bring(&name, &place).await?;
        Ok(place)
    }

    fn key(&self, digest: &str) -> Option<PathBuf> {
        self.0.objects.path(&key_name(digest))
    }

    async fn bring_key(&self, digest: &str, place: &Path) -> Result<(), Trouble> {
        self.bring(&key_name(digest), place).await
    }

    async fn output(&self, job: &str, fence: u64, output: Output, file: &Path) -> Result<(), Trouble> {
        self.store_output(job, fence, output, Staged::of_path(file)?).await
    }

    async fn see(&self, worker: &str, facts: &WorkerFacts) -> Result<(), Trouble> {
        let facts = serde_json::to_string(facts).expect("facts are JSON");
        if facts.len() > MOST_FACTS {
            return Err(Trouble::Refused(format!("a worker says at most {MOST_FACTS} bytes of itself")));
        }
        Ok(self.0.store.see_worker(worker.to_owned(), facts).await?)
    }

    async fn leave(&self, worker: &str) -> Result<(), Trouble> {
        Ok(self.0.store.forget_worker(worker.to_owned()).await?)
    }

    fn staging(&self) -> &Staging {
        &self.0.staging
    }
}

impl Service {
    /// The length of a lease: a longer one than the servers' would be taken for one from before a clock jumped, and end at once.
    fn lease(&self, asked_ms: u64) -> u64 {
        asked_ms.min(milliseconds(self.0.rules.lease))
    }

    /// Claims a job, and gives it back if the caller is gone by then: its connection may be cut at any time.
    async fn claim_for_caller(&self, want: Want) -> Result<Claim, StoreError> {
        let (answer, caller) = oneshot::channel();
        let service = self.clone();
        tokio::spawn(async move {
            let claim = service.0.store.claim(want).await;
            drop(answer.send(claim.map(|claim| Offer { service, claim: Some(claim) })));
        });
        let mut offer = caller.await.map_err(StoreError::unavailable)??;
        Ok(offer.claim.take().expect("an offer that was not taken"))
    }

    /// Stores an output of the job that a worker has claimed with this fence.
    ///
    /// # Errors
    /// [`Trouble::Lost`] if the worker no longer has the job.
    pub async fn store_output(
        &self,
        job: &str,
        fence: u64,
        output: Output,
        file: Staged,
    ) -> Result<(), Trouble> {
        self.expect_fence(job, fence).await?;
        Ok(self.0.objects.put(&output_name(job, fence, output), file).await?)
    }

    /// The content of an input of the job that a worker has claimed with this fence, and its length in bytes.
    ///
    /// # Errors
    /// [`Trouble::Lost`] if the worker no longer has the job.
    pub async fn open_input(
        &self,
        job: &str,
        fence: u64,
        input: Input,
    ) -> Result<(u64, crate::objects::Reader), Trouble> {
        self.expect_fence(job, fence).await?;
        Ok(self.0.objects.get(&input_name(job, input)).await?)
    }

    /// The content of a key's file, and its length in bytes.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if there is none.
    pub async fn open_key(&self, digest: &str) -> io::Result<(u64, crate::objects::Reader)> {
        if !is_digest(digest) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.0.objects.get(&key_name(digest)).await
    }

    /// Whether the store can be written and the objects, which [`Self::own_objects`] took, can be read.
    ///
    /// # Errors
    /// What does not answer.
    pub async fn check(&self) -> Result<(), ServiceError> {
        self.0.store.check().await?;
        self.0.objects.get(STORE_ID).await?;
        Ok(())
    }

    /// Refuses a worker that no longer has the job.
    async fn expect_fence(&self, job: &str, fence: u64) -> Result<(), Trouble> {
        let job = self.0.store.job(job.to_owned(), None).await?;
        let is_its = job.progress.state == State::Running && job.progress.fence == fence;
        if is_its { Ok(()) } else { Err(Trouble::Lost("the lease has passed to another worker".to_owned())) }
    }

    async fn bring(&self, name: &str, place: &Path) -> Result<(), Trouble> {
        let (_, mut content) = self.0.objects.get(name).await?;
        let mut file =
            tokio::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(place).await?;
        tokio::io::copy(&mut content, &mut file).await?;
        Ok(file.sync_all().await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{objects::Files, store::Sqlite};

    struct NoInspector;

    #[async_trait]
    impl Inspector for NoInspector {
        async fn inspect(&self, _: &Path) -> Result<KeyFacts, ServiceError> {
            Err(ServiceError::Invalid("no key".to_owned()))
        }
    }

    #[tokio::test]
    async fn files_that_nothing_names_are_deleted_after_a_while() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(Sqlite::open(&folder.path().join("store.sqlite")).expect("a store"));
        let objects = Arc::new(Files::new(&folder.path().join("objects")).expect("objects"));
        let staging = Staging::new(&folder.path().join("staging")).expect("staging");
        let service = Service::new(store, objects.clone(), staging, Arc::new(NoInspector), Rules::default());
        let (job, key) = (input_name(&"0".repeat(32), Input::Witness), key_name(&"1".repeat(64)));
        for name in [&job, &key, "jobs/other"] {
            objects.put(name, service.staging().file_with(b"x").expect("a file")).await.expect("stored");
        }
        let is_there = async |name: &str| objects.get(name).await.is_ok();
        let mut orphans = HashMap::new();
        for _ in 0..2 {
            service.delete_orphans(&mut orphans).await.expect("looked");
            assert!(is_there(&job).await && is_there(&key).await, "they may be on their way");
        }
        assert_eq!(orphans.len(), 2);
        orphans.values_mut().for_each(|since| *since -= ORPHANS_AFTER);
        let arrives = service.0.arrivals.read().await;
        service.delete_orphans(&mut orphans).await.expect("looked");
        assert!(is_there(&job).await && is_there(&key).await, "one may arrive now");
        drop(arrives);
        service.delete_orphans(&mut orphans).await.expect("looked");
        assert!(!is_there(&job).await && !is_there(&key).await);
        assert!(orphans.is_empty() && is_there("jobs/other").await, "not the service's file");
    }
}
