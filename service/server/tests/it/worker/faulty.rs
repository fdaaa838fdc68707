//! A way to the service that fails.

use async_trait::async_trait;
use proofmill_job::{TaskInput, TaskOutput};
use proofmill_server::{
    coordinator::{Coordinator, Trouble, WorkerFacts},
    objects::{Staging, create_private},
    service::Service,
    store::{ClaimOutcome, Want, Worked},
};
use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    time::Duration,
};

/// Passes on to a service, or fails.
pub(crate) struct Faulty {
    /// The service.
    pub(crate) service: Service,
    /// Whether nothing arrives.
    pub(crate) is_down: AtomicBool,
    /// Whether it takes no outputs: they wait.
    pub(crate) is_full: AtomicBool,
    /// Whether the worker's token is not valid.
    pub(crate) is_denied: AtomicBool,
    /// How many of 100 requests or answers are lost.
    pub(crate) failing_percent: u64,
    /// Whether files have to be brought.
    pub(crate) is_remote: bool,
    /// Whether keys arrive with another content.
    pub(crate) damages_keys: bool,
    /// How many failed.
    pub(crate) failures: AtomicUsize,
    /// How many keys were brought.
    pub(crate) brought: AtomicUsize,
    /// The state of its choices.
    pub(crate) random: AtomicU64,
}

impl Faulty {
    /// Passes on everything.
    pub(crate) fn new(service: Service) -> Self {
        Self {
            service,
            is_down: AtomicBool::new(false),
            is_full: AtomicBool::new(false),
            is_denied: AtomicBool::new(false),
            failing_percent: 0,
            is_remote: false,
            damages_keys: false,
            failures: AtomicUsize::new(0),
            brought: AtomicUsize::new(0),
            random: AtomicU64::new(1),
        }
    }

    fn service(&self) -> &dyn Coordinator {
        &self.service
    }

    /// Fails before or after the request arrived, if it is to fail.
    async fn pass<T>(&self, request: impl Future<Output = Result<T, Trouble>>) -> Result<T, Trouble> {
        if self.is_denied.load(Ordering::Relaxed) {
            return Err(Trouble::Denied("the token is revoked".to_owned()));
        }
        self.fail()?;
        let answer = request.await?;
        self.fail()?;
        Ok(answer)
    }

    fn fail(&self) -> Result<(), Trouble> {
        let mut step = |state: u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        let state = self.random.fetch_update(Ordering::Relaxed, Ordering::Relaxed, &mut step);
        let drawn = (state.unwrap_or_default() >> 33) % 100;
        if !self.is_down.load(Ordering::Relaxed) && drawn >= self.failing_percent / 2 {
            return Ok(());
        }
        self.failures.fetch_add(1, Ordering::Relaxed);
        Err(Trouble::Unavailable("the service is down".to_owned()))
    }
}

#[async_trait]
impl Coordinator for Faulty {
    async fn claim(&self, want: Want, wait: Duration) -> Result<ClaimOutcome, Trouble> {
        self.pass(self.service().claim(want, wait)).await
    }

    async fn report(&self, job: &str, fence: u64, worked: Worked) -> Result<(), Trouble> {
        self.pass(self.service().report(job, fence, worked)).await
    }

    async fn input(
        &self,
        job: &str,
        fence: u64,
        input: TaskInput,
        folder: &Path,
    ) -> Result<PathBuf, Trouble> {
        let path = self.pass(self.service().input(job, fence, input, folder)).await?;
        if !self.is_remote {
            return Ok(path);
        }
        create_private(folder)?;
        std::fs::copy(path, folder.join(input.name()))?;
        Ok(folder.join(input.name()))
    }

    fn key(&self, digest: &str) -> Option<PathBuf> {
        self.service().key(digest).filter(|_| !self.is_remote)
    }

    async fn bring_key(&self, digest: &str, place: &Path) -> Result<(), Trouble> {
        self.brought.fetch_add(1, Ordering::Relaxed);
        if self.damages_keys {
            return Ok(std::fs::write(place, "damaged")?);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        self.pass(self.service().bring_key(digest, place)).await
    }

    async fn output(&self, job: &str, fence: u64, output: TaskOutput, file: &Path) -> Result<(), Trouble> {
        while self.is_full.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.pass(self.service().output(job, fence, output, file)).await
    }

    async fn see(&self, worker: &str, facts: &WorkerFacts) -> Result<(), Trouble> {
        self.pass(self.service().see(worker, facts)).await
    }

    async fn leave(&self, worker: &str) -> Result<(), Trouble> {
        self.service().leave(worker).await
    }

    fn staging(&self) -> &Staging {
        self.service().staging()
    }
}
