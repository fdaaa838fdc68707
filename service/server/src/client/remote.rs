//! A service on another machine, for a worker.

use super::{Client, ClientError, encoded};
use crate::{
    coordinator::{Coordinator, PROTOCOL, Trouble, WorkerFacts},
    http::ClaimRequest,
    objects::{Staging, create_private},
    store::{ClaimOutcome, Want, Worked},
    time::milliseconds,
};
use async_trait::async_trait;
use proofmill_job::{TaskInput, TaskOutput};
use reqwest::{Body, Method, header::CONTENT_LENGTH};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use tokio_util::io::ReaderStream;

/// How much longer than the wait itself a claim may take.
const GRACE: Duration = Duration::from_secs(15);
/// How long a short request may take.
const SHORT: Duration = Duration::from_secs(15);

/// A service on another machine.
#[derive(Clone)]
pub struct Remote {
    client: Client,
    staging: Staging,
}

impl Remote {
    /// The service that the client reaches; the worker's own files lie in the staging.
    pub fn new(client: Client, staging: Staging) -> Self {
        Self { client, staging }
    }

    async fn done(&self, request: reqwest::RequestBuilder) -> Result<(), Trouble> {
        self.client.send(request.timeout(SHORT)).await?;
        Ok(())
    }

    async fn bring(&self, path: &str, place: &Path) -> Result<(), Trouble> {
        place.parent().map_or(Ok(()), create_private)?;
        let mut options = tokio::fs::OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(place).await?;
        let brought = self.client.download(self.client.request(Method::GET, path), file).await;
        if brought.is_err() {
            // Another attempt has to find the place free.
            drop(tokio::fs::remove_file(place).await);
        }
        Ok(brought?)
    }
}

impl From<ClientError> for Trouble {
    fn from(error: ClientError) -> Self {
        match error.status() {
            Some(404 | 409) => Self::Lost(error.to_string()),
            Some(401 | 403) => Self::Denied(error.to_string()),
            Some(_) if !error.is_temporary() => Self::Refused(error.to_string()),
            _ => Self::Unavailable(error.to_string()),
        }
    }
}

fn of_job(job: &str, fence: u64, rest: &str) -> String {
    format!("/v1/work/jobs/{}/{fence}/{rest}", encoded(job))
}

#[async_trait]
impl Coordinator for Remote {
    async fn claim(&self, want: Want, wait: Duration) -> Result<ClaimOutcome, Trouble> {
        let wait_ms = milliseconds(wait);
        let request = self.client.request(Method::POST, "/v1/work/claim").timeout(wait.saturating_add(GRACE));
        Ok(self.client.json(request.json(&ClaimRequest { protocol: PROTOCOL, want, wait_ms })).await?)
    }

    async fn report(&self, job: &str, fence: u64, worked: Worked) -> Result<(), Trouble> {
        self.done(self.client.request(Method::POST, &of_job(job, fence, "report")).json(&worked)).await
    }

    async fn input(
        &self,
        job: &str,
        fence: u64,
        input: TaskInput,
        folder: &Path,
    ) -> Result<PathBuf, Trouble> {
        let place = folder.join(input.name());
        self.bring(&of_job(job, fence, &format!("inputs/{input}")), &place).await?;
        Ok(place)
    }

    fn key(&self, _: &str) -> Option<PathBuf> {
        None
    }

    async fn bring_key(&self, digest: &str, place: &Path) -> Result<(), Trouble> {
        let brought = self.bring(&format!("/v1/work/keys/{}", encoded(digest)), place).await;
        // A key that is not there says nothing of the job.
        brought.map_err(|trouble| match trouble {
            Trouble::Lost(problem) => Trouble::Refused(problem),
            other => other,
        })
    }

    async fn output(&self, job: &str, fence: u64, output: TaskOutput, file: &Path) -> Result<(), Trouble> {
        let file = tokio::fs::File::open(file).await?;
        let bytes = file.metadata().await?.len();
        let path = of_job(job, fence, &format!("outputs/{}", output.name()));
        let request = self.client.request(Method::PUT, &path).header(CONTENT_LENGTH, bytes);
        self.client.send(request.body(Body::wrap_stream(ReaderStream::new(file)))).await?;
        Ok(())
    }

    async fn see(&self, worker: &str, facts: &WorkerFacts) -> Result<(), Trouble> {
        let path = format!("/v1/work/workers/{}", encoded(worker));
        self.done(self.client.request(Method::PUT, &path).json(facts)).await
    }

    async fn leave(&self, worker: &str) -> Result<(), Trouble> {
        self.done(self.client.request(Method::DELETE, &format!("/v1/work/workers/{}", encoded(worker)))).await
    }

    fn staging(&self) -> &Staging {
        &self.staging
    }
}
