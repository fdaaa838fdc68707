//! Bodies of requests: bounded in size, time and memory, streamed to files.

use super::problem::Problem;
use crate::objects::{Staged, Staging};
use axum::{
    body::{Body, BodyDataStream},
    http::StatusCode,
};
use bytes::Bytes;
use futures::StreamExt;
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    io::AsyncWriteExt,
    time::{Instant, timeout},
};

/// The limits of bodies.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// The most bytes of JSON, which is held in memory.
    pub most_json: u64,
    /// The most bytes of a batch of jobs, which is held in memory.
    pub most_batch: u64,
    /// The most bytes of a job's inputs, which are streamed to files.
    pub most_inputs: u64,
    /// The most bytes of a key, which is streamed to a file.
    pub most_key: u64,
    /// The most bytes of all files that one token's requests are writing.
    pub most_staged: u64,
    /// How long a body may pause.
    pub longest_pause: Duration,
    /// The least bytes per second of a body, on average after the longest pause.
    pub least_rate: u64,
}

impl Default for BodyLimits {
    fn default() -> Self {
        Self {
            most_json: 1 << 20,
            most_batch: 16 << 20,
            most_inputs: 4 << 30,
            most_key: 256 << 30,
            most_staged: 512 << 30,
            longest_pause: Duration::from_secs(15),
            least_rate: 4096,
        }
    }
}

/// The body of a request, in pieces.
pub(super) struct Chunks {
    stream: BodyDataStream,
    limits: BodyLimits,
    /// The most bytes.
    most: u64,
    received: u64,
    /// The time that the client let us wait.
    waited: Duration,
}

impl Chunks {
    /// The body, of which at most so many bytes are read.
    pub(super) fn new(body: Body, limits: BodyLimits, most: u64) -> Self {
        Self { stream: body.into_data_stream(), limits, most, received: 0, waited: Duration::ZERO }
    }

    /// The next piece.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        let began = Instant::now();
        let Ok(next) = timeout(self.limits.longest_pause, self.stream.next()).await else {
            let pause = self.limits.longest_pause.as_secs();
            return Err(Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                format!("no more of the body came for {pause} s"),
            ));
        };
        self.waited += began.elapsed();
        let chunk = match next {
            None => return Ok(None),
            Some(Ok(chunk)) => chunk,
            Some(Err(_)) => return Err(Problem::invalid("the body ends before its length")),
        };
        self.received += chunk.len() as u64;
        if self.received > self.most {
            return Err(Problem::too_large(self.most));
        }
        let least = self.waited.saturating_sub(self.limits.longest_pause).as_secs() * self.limits.least_rate;
        if self.received < least {
            let rate = self.limits.least_rate;
            return Err(Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                format!("the body comes slower than {rate} bytes a second"),
            ));
        }
        Ok(Some(chunk))
    }

    /// The whole body.
    pub(super) async fn bytes(mut self) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.next().await? {
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}

/// A file that a request fills.
pub(super) struct Writer {
    staged: Staged,
    file: tokio::fs::File,
    hash: Sha256,
    quota: Quota,
    bytes: u64,
}

/// A file that a request has filled. It counts for its token until it is dropped.
pub(super) struct Written {
    /// The file.
    pub(super) file: Staged,
    /// SHA-256 of its content, in hexadecimal digits.
    pub(super) digest: String,
    /// Its length.
    pub(super) bytes: u64,
    /// What it takes of its token's allowance.
    pub(super) quota: Quota,
}

impl Writer {
    /// A new file.
    pub(super) fn new(staging: &Staging, quota: Quota) -> Result<Self, Problem> {
        let mut staged = staging.file()?;
        let file = tokio::fs::File::from_std(staged.as_file_mut().try_clone()?);
        Ok(Self { staged, file, hash: Sha256::new(), quota, bytes: 0 })
    }

    /// Appends a piece.
    pub(super) async fn write(&mut self, chunk: &[u8]) -> Result<(), Problem> {
        self.quota.add(chunk.len() as u64)?;
        self.hash.update(chunk);
        self.bytes += chunk.len() as u64;
        Ok(self.file.write_all(chunk).await?)
    }

    /// Ends the file.
    pub(super) async fn finish(mut self) -> Result<Written, Problem> {
        self.file.flush().await?;
        let digest = hex::encode(self.hash.finalize());
        Ok(Written { file: self.staged, digest, bytes: self.bytes, quota: self.quota })
    }
}

/// The whole body as a file.
pub(super) async fn to_file(mut chunks: Chunks, staging: &Staging, quota: Quota) -> Result<Written, Problem> {
    let mut writer = Writer::new(staging, quota)?;
    while let Some(chunk) = chunks.next().await? {
        writer.write(&chunk).await?;
    }
    writer.finish().await
}

/// What each token has at the moment of something that is bounded.
#[derive(Clone)]
pub(super) struct Quotas {
    most: u64,
    unit: &'static str,
    held: Arc<Mutex<HashMap<String, u64>>>,
}

/// What one file or request takes of its token's allowance.
pub(super) struct Quota {
    quotas: Quotas,
    token: String,
    amount: u64,
}

impl Quotas {
    /// Allowances of so many units each, which errors call so.
    pub(super) fn new(most: u64, unit: &'static str) -> Self {
        Self { most, unit, held: Arc::default() }
    }

    /// Nothing, so far.
    pub(super) fn start(&self, token: &str) -> Quota {
        Quota { quotas: self.clone(), token: token.to_owned(), amount: 0 }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Quota {
    /// Takes more.
    ///
    /// # Errors
    /// If the token would then have more than its allowance.
    pub(super) fn add(&mut self, amount: u64) -> Result<(), Problem> {
        let Quotas { most, unit, .. } = self.quotas;
        let mut held = self.quotas.held();
        let total = held.entry(self.token.clone()).or_default();
        if total.saturating_add(amount) > most {
            return Err(Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                format!("the token has {most} {unit}, which is the most: try again later"),
            ));
        }
        *total += amount;
        self.amount += amount;
        Ok(())
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let mut held = self.quotas.held();
        if let Some(total) = held.get_mut(&self.token) {
            *total = total.saturating_sub(self.amount);
            if *total == 0 {
                held.remove(&self.token);
            }
        }
    }
}
