//! The state that all routes share.

use super::{
    body::{BodyLimits, Quotas},
    identities::{Caller, Identities},
    metrics::Metrics,
    problem::Problem,
};
use crate::{
    service::{QueueView, Service},
    store::JobRecord,
};
use std::{
    convert::Infallible,
    ops::Deref,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::{Semaphore, watch};

/// How far a server has come in shutting down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It serves.
    #[default]
    Serving,
    /// It gives no more jobs to workers and is not ready, but answers everything else: its jobs end, and their owners take the results.
    Draining,
    /// It answers the requests that it has; waits end, and nobody can connect.
    Closing,
}

/// One token's share of a resource of which all tokens may have `most`, so that one client does not keep others out.
fn share(most: u64) -> u64 {
    most.div_ceil(4)
}

/// How long the store and the objects may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The limits of HTTP and gRPC.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The limits of bodies.
    pub bodies: BodyLimits,
    /// The most jobs of a batch.
    pub most_batch_jobs: usize,
    /// The longest time that a request waits for a job.
    pub longest_wait: Duration,
    /// The most requests at the same time.
    pub most_requests: usize,
    /// The most connections at the same time.
    pub most_connections: usize,
    /// How long a client may take to send the headers of a request, and to send the next request.
    pub longest_headers: Duration,
    /// How long a connection of HTTP/2 may have no request; it is closed after one to two times as long. One of HTTP/1 is closed
    /// after `longest_headers`.
    pub longest_idle: Duration,
    /// How long a client may leave an answer unread.
    pub longest_unread: Duration,
    /// Host names that a request may carry; any if there are none. For the loopback, so that a web page whose name leads there (DNS
    /// rebinding) is refused.
    pub hosts: Vec<String>,
    /// The token whose rights requests without a token from the loopback have.
    pub anonymous: Option<String>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            bodies: BodyLimits::default(),
            most_batch_jobs: 1000,
            longest_wait: Duration::from_secs(60),
            most_requests: 4096,
            most_connections: 4096,
            longest_headers: Duration::from_secs(20),
            longest_idle: Duration::from_secs(120),
            longest_unread: Duration::from_secs(60),
            hosts: Vec::new(),
            anonymous: None,
        }
    }
}

/// The state that all routes share. Clones are handles to one state.
#[derive(Clone)]
pub struct Face(Arc<FaceParts>);

/// The parts of a [`Face`].
pub struct FaceParts {
    pub(crate) service: Service,
    pub(crate) options: HttpOptions,
    pub(super) identities: Identities,
    pub(super) metrics: Arc<Metrics>,
    /// Quotas of bytes in files on their way.
    pub(crate) quotas: Quotas,
    /// Quotas of bytes in memory.
    pub(crate) memory: Quotas,
    /// Quotas of requests at the same time, for tokens other than workers'.
    pub(super) shares: Quotas,
    pub(super) requests: Arc<Semaphore>,
    stage: watch::Receiver<Stage>,
    /// Whether the service could serve when that was last checked.
    ready: Lately<bool>,
    queue: Lately<QueueView>,
}

/// An answer of the last second, so that frequent requests of clients are no load for the store.
struct Lately<T>(tokio::sync::Mutex<Option<(Instant, T)>>);

impl<T> Default for Lately<T> {
    fn default() -> Self {
        Self(tokio::sync::Mutex::new(None))
    }
}

impl<T: Clone> Lately<T> {
    /// The answer, or the answer of `ask` if that is too old. Other callers wait for it meanwhile.
    async fn get<E>(&self, ask: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let mut answer = self.0.lock().await;
        if let Some((at, answer)) = &*answer
            && at.elapsed() < Duration::from_secs(1)
        {
            return Ok(answer.clone());
        }
        let new = ask.await?;
        *answer = Some((Instant::now(), new.clone()));
        Ok(new)
    }
}

impl Deref for Face {
    type Target = FaceParts;

    fn deref(&self) -> &FaceParts {
        &self.0
    }
}

impl Face {
    /// A face of the service, which follows the stage.
    pub fn new(service: Service, options: HttpOptions, stage: watch::Receiver<Stage>) -> Self {
        let metrics = Arc::new(Metrics::new());
        service.observe(metrics.clone());
        let most_memory = options.bodies.most_memory;
        Self(Arc::new(FaceParts {
            identities: Identities::default(),
            quotas: Quotas::new(options.bodies.most_staged, u64::MAX, "bytes on their way"),
            memory: Quotas::new(share(most_memory), most_memory, "bytes of requests in memory"),
            shares: Quotas::new(share(options.most_requests as u64), u64::MAX, "requests at the same time"),
            requests: Arc::new(Semaphore::new(options.most_requests)),
            metrics,
            service,
            options,
            stage,
            ready: Lately::default(),
            queue: Lately::default(),
        }))
    }

    /// Whether the store and the objects answer, as of the last second: anybody may ask, and as often.
    pub(super) async fn is_ready(&self) -> bool {
        let check = async {
            Ok::<_, Infallible>(match tokio::time::timeout(PATIENCE, self.service.check()).await {
                Ok(Ok(())) => true,
                Ok(Err(error)) => {
                    tracing::error!(%error, "not ready");
                    false
                }
                Err(_) => {
                    tracing::error!("not ready: the store or the objects do not answer");
                    false
                }
            })
        };
        let Ok(is_ready) = self.ready.get(check).await;
        is_ready
    }

    /// The queue as of the last second: all waiting jobs are read for it.
    pub(crate) async fn queue(&self) -> Result<QueueView, Problem> {
        Ok(self.queue.get(self.service.queue()).await?)
    }

    /// Whether the server has come to this stage.
    pub(crate) fn has_reached(&self, stage: Stage) -> bool {
        *self.stage.borrow() >= stage
    }

    /// Completes when the server has come to this stage.
    pub(super) async fn reaches(&self, stage: Stage) {
        let mut stages = self.stage.clone();
        // Without a sender, the stage stays as it is.
        if stages.wait_for(|now| *now >= stage).await.is_err() {
            std::future::pending().await
        }
    }

    /// Refuses a token that was revoked or has expired since the request began.
    pub(super) async fn check(&self, caller: &Caller) -> Result<(), Problem> {
        match self.identities.find(self.service.store(), &caller.named).await? {
            Some(_) => Ok(()),
            None => Err(Problem::unauthorized()),
        }
    }

    /// The job once `enough` holds of it, or as it is after this time or when the server closes.
    pub(crate) async fn wait(
        &self,
        caller: &Caller,
        id: &str,
        time: Duration,
        enough: impl Fn(&JobRecord) -> bool + Send,
    ) -> Result<JobRecord, Problem> {
        let began = Instant::now();
        let time = time.min(self.options.longest_wait);
        let job = tokio::select! {
            job = self.service.wait_until(&caller.identity, id, time, enough) => job?,
            () = self.reaches(Stage::Closing) => self.service.job(&caller.identity, id).await?,
        };
        // The token may have been revoked meanwhile.
        if began.elapsed() > Duration::from_secs(1) {
            self.check(caller).await?;
        }
        Ok(job)
    }
}
