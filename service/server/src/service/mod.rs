//! The operations of the service, for all of its faces: HTTP, gRPC, workers in this process.

use crate::{
    access::{Identity, Scope},
    changes::Changes,
    objects::{ObjectReader, Objects, Staging},
    state::JobState,
    store::{JobQuery, JobRecord, Store, StoreError, StoreLimits},
};
use async_trait::async_trait;
use proofmill_job::{KeyFacts, TaskInput, TaskOutput};
use std::{
    io,
    path::Path,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};
use tokio::{
    io::AsyncReadExt,
    time::{Instant, timeout_at},
};

mod housekeeping;
mod keys;
mod submission;
mod views;
mod work;

pub use crate::{
    error::ServiceError,
    names::{digest, digest_of_file, is_digest},
};
pub use submission::{Received, Submission};
pub use views::{JobView, QueueView};

/// How often a waiter looks for changes that other servers made.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// The object that names the store.
const STORE_ID: &str = "store-id";
/// The longest name of a store, in bytes.
const MOST_STORE_ID: u64 = 256;

/// The rules of a service.
#[derive(Clone, Debug)]
pub struct Rules {
    /// How long a worker keeps a job without a report.
    pub lease: Duration,
    /// The limits of waiting jobs and of stored bytes.
    pub limits: StoreLimits,
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
            limits: StoreLimits {
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

/// Finds the facts about a key file.
#[async_trait]
pub trait Inspector: Send + Sync {
    /// The facts about the file.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for a file that is no key.
    async fn inspect(&self, path: &Path) -> Result<KeyFacts, ServiceError>;
}

/// Receives the jobs that end in this process, for metrics and traces.
pub trait JobObserver: Send + Sync {
    /// The job has ended. A job may be told twice if a worker said so twice.
    fn ended(&self, job: &JobRecord);
}

/// The service. Clones are handles to one.
#[derive(Clone)]
pub struct Service(Arc<ServiceParts>);

struct ServiceParts {
    store: Store,
    objects: Arc<dyn Objects>,
    staging: Staging,
    inspector: Arc<dyn Inspector>,
    changes: Changes,
    rules: Rules,
    observers: RwLock<Vec<Arc<dyn JobObserver>>>,
    /// Read while objects are on their way to a job or key that names them; written while those are deleted that none names.
    arrivals: tokio::sync::RwLock<()>,
}

/// The name of an input's object.
fn input_name(job: &str, input: TaskInput) -> String {
    format!("jobs/{job}/inputs/{input}")
}

/// The name of an output's object.
fn output_name(job: &str, fence: u64, output: TaskOutput) -> String {
    format!("jobs/{job}/{fence}/{}", output.name())
}

fn key_name(digest: &str) -> String {
    format!("keys/{digest}")
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
        Self(Arc::new(ServiceParts {
            store,
            objects,
            staging,
            inspector,
            changes,
            rules,
            observers,
            arrivals,
        }))
    }

    /// Takes the objects for this store, or checks that they belong to it. Objects of another store would be deleted, since no job
    /// or key of this one names them. To be called before anything else.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] for the objects of another store, and those of [`Objects::check_encryption`].
    pub async fn own_objects(&self) -> Result<(), ServiceError> {
        let ServiceParts { store, objects, staging, .. } = &*self.0;
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
    pub fn observe(&self, observer: Arc<dyn JobObserver>) {
        self.0.observers.write().unwrap_or_else(PoisonError::into_inner).push(observer);
    }

    /// Wakes the waiters for the job, and tells the observers if it has ended.
    fn changed(&self, job: &JobRecord) {
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

    /// Wakes waiters for jobs.
    pub fn changes(&self) -> &Changes {
        &self.0.changes
    }

    /// Whether the store can be written and the objects, which [`Self::own_objects`] took, can be read.
    ///
    /// # Errors
    /// If the store or the objects do not answer.
    pub async fn check(&self) -> Result<(), ServiceError> {
        self.0.store.check().await?;
        self.0.objects.get(STORE_ID).await?;
        Ok(())
    }

    /// A job of the token; for an administrator, any job.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn job(&self, identity: &Identity, id: &str) -> Result<JobRecord, ServiceError> {
        Ok(self.0.store.job(checked(id)?, identity.owner()).await?)
    }

    /// Jobs of the token, or of all for an administrator.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn jobs(
        &self,
        identity: &Identity,
        state: Option<JobState>,
        before: Option<String>,
        limit: u32,
    ) -> Result<Vec<JobRecord>, ServiceError> {
        if let Some(before) = &before {
            checked(before)?;
        }
        Ok(self.0.store.jobs(JobQuery { owner: identity.owner(), state, before, limit }).await?)
    }

    /// The job once it has ended, or as it is after this time.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn wait(
        &self,
        identity: &Identity,
        id: &str,
        time: Duration,
    ) -> Result<JobRecord, ServiceError> {
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
        enough: impl Fn(&JobRecord) -> bool,
    ) -> Result<JobRecord, ServiceError> {
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
    pub async fn cancel(&self, identity: &Identity, id: &str) -> Result<JobRecord, ServiceError> {
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
    pub async fn retry(&self, identity: &Identity, id: &str) -> Result<JobRecord, ServiceError> {
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
        output: TaskOutput,
    ) -> Result<(JobRecord, u64, ObjectReader), ServiceError> {
        let (job, mut small) = self.0.store.job_with_outputs(checked(id)?, identity.owner()).await?;
        if !job.task.outputs().contains(&output) {
            let (task, output) = (job.task.name(), output.name());
            return Err(StoreError::NotFound(format!("a job of type {task} has no {output}")).into());
        }
        if job.progress.state != JobState::Done {
            return Err(StoreError::Refused(crate::state::Refused::State(job.progress.state)).into());
        }
        if let Some(content) = small.remove(&output) {
            let content = String::from(Box::<str>::from(content)).into_bytes();
            return Ok((job, content.len() as u64, Box::pin(io::Cursor::new(content))));
        }
        let (bytes, reader) = self.0.objects.get(&output_name(id, job.progress.fence, output)).await?;
        Ok((job, bytes, reader))
    }
}

fn checked(id: &str) -> Result<String, StoreError> {
    if is_id(id) { Ok(id.to_owned()) } else { Err(StoreError::NotFound(format!("{id:?} is no job's id"))) }
}
