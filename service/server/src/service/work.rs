//! The service's operations for workers.

use super::{LOOK_AGAIN, Service, input_name, key_name, output_name};
use crate::{
    coordinator::{Coordinator, Trouble, WorkerFacts},
    objects::{ObjectReader, Staged, Staging, create_private},
    state::JobState,
    store::{ClaimOutcome, StoreError, Want, Worked},
    time::milliseconds,
};
use async_trait::async_trait;
use proofmill_job::{TaskInput, TaskOutput};
use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::{
    runtime::Handle,
    sync::oneshot,
    time::{Instant, timeout_at},
};

/// The most bytes of the facts that a worker reports about itself.
const MOST_FACTS: usize = 64 << 10;

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

/// A claim on its way to a worker. If nobody takes it, the jobs are given back.
struct Offer {
    service: Service,
    claim: Option<ClaimOutcome>,
}

impl Drop for Offer {
    fn drop(&mut self) {
        let (Some(ClaimOutcome::Jobs(jobs, _)), Ok(runtime)) = (self.claim.take(), Handle::try_current())
        else {
            return;
        };
        let service = self.service.clone();
        runtime.spawn(async move {
            for job in jobs {
                if let Err(error) = service.report(&job.id, job.progress.fence, Worked::Released).await {
                    tracing::warn!(job = job.id, %error, "cannot give it back: its lease will end");
                }
            }
        });
    }
}

#[async_trait]
impl Coordinator for Service {
    async fn claim(&self, mut want: Want, wait: Duration) -> Result<ClaimOutcome, Trouble> {
        want.lease_ms = self.lease(want.lease_ms);
        let end = Instant::now() + wait;
        loop {
            let queued = self.0.changes.next_queued();
            tokio::pin!(queued);
            // Listens before it looks: a job that arrives between the two is not missed.
            queued.as_mut().enable();
            if want.divides {
                let largest = self.largest_worker(false).await?;
                want.least = largest.map_or(0, |(memory, _)| memory.saturating_add(1));
            }
            let claim = self.claim_for_caller(want.clone()).await?;
            if let ClaimOutcome::Jobs(jobs, _) = &claim {
                jobs.iter().for_each(|job| self.0.changes.changed(&job.id));
            }
            let now = Instant::now();
            // A job that is too large for the worker's free memory is not waited for: the ends of the worker's own jobs would
            // not wake this call.
            if claim != ClaimOutcome::Empty || now >= end {
                return Ok(claim);
            }
            drop(timeout_at(end.min(now + LOOK_AGAIN), queued).await);
        }
    }

    async fn report(&self, job: &str, fence: u64, mut worked: Worked) -> Result<(), Trouble> {
        if let Worked::Beat { lease_ms, .. } = &mut worked {
            *lease_ms = self.lease(*lease_ms);
        }
        if let Worked::Finished { outputs, .. } = &mut worked
            && self.0.objects.encrypts()
        {
            // The database would keep small outputs in the clear: they become encrypted objects.
            for (output, content) in std::mem::take(outputs) {
                let file = self.0.staging.file_with(content.get().as_bytes())?;
                self.store_output(job, fence, output, file).await?;
            }
        }
        let job = self.0.store.report(job.to_owned(), fence, worked).await?;
        self.changed(&job);
        let state = job.progress.state;
        if state == JobState::Queued {
            self.0.changes.queued();
        }
        if state.has_ended() && !state.needs_inputs() {
            let service = self.clone();
            // Its owner need not wait for this.
            tokio::spawn(async move { service.clean(&job).await });
        }
        Ok(())
    }

    async fn input(
        &self,
        job: &str,
        fence: u64,
        input: TaskInput,
        folder: &Path,
    ) -> Result<PathBuf, Trouble> {
        let name = input_name(job, input);
        if let Some(path) = self.0.objects.path(&name) {
            return Ok(path);
        }
        self.expect_fence(job, fence).await?;
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

    async fn output(&self, job: &str, fence: u64, output: TaskOutput, file: &Path) -> Result<(), Trouble> {
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

    /// Claims jobs, and gives them back if the caller is gone by then: its connection may be cut at any time.
    async fn claim_for_caller(&self, want: Want) -> Result<ClaimOutcome, StoreError> {
        // A task of its own: a claim that is cut off midway would leave jobs without a worker.
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
        output: TaskOutput,
        file: Staged,
    ) -> Result<(), Trouble> {
        self.expect_fence(job, fence).await?;
        // The fence is a part of the name: a late worker overwrites no output of a later attempt.
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
        input: TaskInput,
    ) -> Result<(u64, ObjectReader), Trouble> {
        self.expect_fence(job, fence).await?;
        Ok(self.0.objects.get(&input_name(job, input)).await?)
    }

    /// Refuses a worker that no longer has the job.
    ///
    /// # Errors
    /// [`Trouble::Lost`].
    pub(crate) async fn expect_fence(&self, job: &str, fence: u64) -> Result<(), Trouble> {
        let job = self.0.store.job(job.to_owned(), None).await?;
        let is_its = job.progress.state == JobState::Running && job.progress.fence == fence;
        if is_its { Ok(()) } else { Err(Trouble::Lost("the lease has passed to another worker".to_owned())) }
    }

    async fn bring(&self, name: &str, place: &Path) -> Result<(), Trouble> {
        let (_, mut content) = self.0.objects.get(name).await?;
        place.parent().map_or(Ok(()), create_private)?;
        let mut file =
            tokio::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(place).await?;
        tokio::io::copy(&mut content, &mut file).await?;
        Ok(file.sync_all().await?)
    }
}
