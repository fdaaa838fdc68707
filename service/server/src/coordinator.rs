//! The operations of the service that a worker needs. A worker in the server's process calls the [`Service`](crate::service::Service)
//! itself; other workers reach it through HTTP.

use crate::{
    objects::Staging,
    store::{ClaimOutcome, Want, Worked},
};
use async_trait::async_trait;
use proofmill_job::{TaskInput, TaskOutput};
use serde::{Deserialize, Serialize};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// The version of the protocol between the service and workers on other machines. It grows when one of them could misread the other.
pub const PROTOCOL: u32 = 3;

/// The most bytes of an output that comes with a report. JSON outputs up to this size are not stored as objects.
pub const MOST_SMALL: usize = 16 << 10;

/// The operations of the service that a worker needs.
#[async_trait]
pub trait Coordinator: Send + Sync {
    /// The next jobs; waits up to `wait` if there is none. [`ClaimOutcome::TooLarge`] comes at once.
    async fn claim(&self, want: Want, wait: Duration) -> Result<ClaimOutcome, Trouble>;

    /// Reports on the job that the worker claimed with this fence.
    async fn report(&self, job: &str, fence: u64, worked: Worked) -> Result<(), Trouble>;

    /// The file of an input: one of the service's objects, or a file that is brought into `folder`. The folder is made if it is not
    /// there.
    async fn input(&self, job: &str, fence: u64, input: TaskInput, folder: &Path)
    -> Result<PathBuf, Trouble>;

    /// The path of a key's file, if it lies on this machine already.
    fn key(&self, digest: &str) -> Option<PathBuf>;

    /// Brings the file of a key to this place. Its digest is not checked.
    async fn bring_key(&self, digest: &str, place: &Path) -> Result<(), Trouble>;

    /// Stores an output, which the prover wrote into a folder of the staging and which does not come with the report.
    async fn output(&self, job: &str, fence: u64, output: TaskOutput, file: &Path) -> Result<(), Trouble>;

    /// Tells the service that the worker is alive, with facts about it.
    async fn see(&self, worker: &str, facts: &WorkerFacts) -> Result<(), Trouble>;

    /// Tells the service that the worker ends.
    async fn leave(&self, worker: &str) -> Result<(), Trouble>;

    /// The folder for the worker's own files: outputs on their way.
    fn staging(&self) -> &Staging;
}

/// The reason why the service did not do what a worker asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Trouble {
    /// The job is not the worker's any more: it stops the prover.
    #[error("{0}")]
    Lost(String),
    /// The service cannot be reached or cannot answer: the worker tries again.
    #[error("{0}")]
    Unavailable(String),
    /// The service refuses this request, and would refuse it again; the worker goes on with others.
    #[error("{0}")]
    Refused(String),
    /// The service does not know the worker's token, or something like that: trying again does not help.
    #[error("{0}")]
    Denied(String),
}

/// Facts that a worker reports about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WorkerFacts {
    /// The name of its machine.
    pub host: String,
    /// Version of Proofmill.
    pub version: String,
    /// The CPU's name.
    pub cpu: String,
    /// Level (CPU features) of its provers.
    pub level: String,
    /// Threads for all of its jobs.
    pub threads: usize,
    /// The most jobs at the same time.
    pub most_jobs: usize,
    /// Memory for all of its jobs, in bytes.
    pub memory: u64,
    /// The jobs that it has now.
    pub jobs: Vec<String>,
    /// The machine's price in dollars an hour, if known.
    pub dollars_per_hour: Option<f64>,
    /// The power that the machine draws now, in watts, if known.
    pub watts: Option<f64>,
    /// Whether it divides jobs among the machines of a cluster, and takes only those that need it.
    #[serde(default)]
    pub divides: bool,
    /// Whether it takes no more jobs because it shuts down.
    pub draining: bool,
}
