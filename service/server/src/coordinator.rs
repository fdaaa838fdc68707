//! What a worker needs of the service. A worker in the server's process calls the [`Service`](crate::service::Service) itself, others
//! reach it through HTTP.

use crate::{
    objects::Staging,
    store::{Claim, Want, Worked},
};
use async_trait::async_trait;
use proofmill_job::{Input, Output};
use serde::{Deserialize, Serialize};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// The version of what workers on other machines and the service say to each other. It grows when one of them could misread the other.
pub const PROTOCOL: u32 = 3;

/// The most bytes of an output that comes with a report: JSON that is not larger is no object.
pub const MOST_SMALL: usize = 16 << 10;

/// What a worker needs of the service.
#[async_trait]
pub trait Coordinator: Send + Sync {
    /// The next jobs; waits so long for one if there is none. [`Claim::TooLarge`] comes at once.
    async fn claim(&self, want: Want, wait: Duration) -> Result<Claim, Trouble>;

    /// What the worker says of the job that it claimed with this fence.
    async fn report(&self, job: &str, fence: u64, worked: Worked) -> Result<(), Trouble>;

    /// The file of an input, which lies in the service's objects or was brought into `folder`, which is made if it is not there.
    async fn input(&self, job: &str, fence: u64, input: Input, folder: &Path) -> Result<PathBuf, Trouble>;

    /// Where the file of a key lies on this machine already, if it does.
    fn key(&self, digest: &str) -> Option<PathBuf>;

    /// Brings the file of a key, which is not checked, to this place.
    async fn bring_key(&self, digest: &str, place: &Path) -> Result<(), Trouble>;

    /// Stores an output, which the prover wrote into a folder of the staging and which does not come with the report.
    async fn output(&self, job: &str, fence: u64, output: Output, file: &Path) -> Result<(), Trouble>;

    /// Says that the worker is there.
    async fn see(&self, worker: &str, facts: &WorkerFacts) -> Result<(), Trouble>;

    /// Says that the worker ends.
    async fn leave(&self, worker: &str) -> Result<(), Trouble>;

    /// Where the worker's own files lie: outputs on their way.
    fn staging(&self) -> &Staging;
}

/// Why the service did not do what a worker asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Trouble {
    /// The job is not the worker's any more: it stops the prover.
    #[error("{0}")]
    Lost(String),
    /// The service cannot be reached or cannot answer: the worker tries again.
    #[error("{0}")]
    Unavailable(String),
    /// The service refuses this request, and would again; it goes on with others.
    #[error("{0}")]
    Refused(String),
    /// The service does not know the worker's token, or something like that: trying again does not help.
    #[error("{0}")]
    Denied(String),
}

/// What a worker says of itself.
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
