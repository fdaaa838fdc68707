//! Bodies of requests, of HTTP and of gRPC: bounded in size, time and memory, streamed to files.

use super::problem::{Problem, ProblemKind};
use crate::objects::{Staged, Staging};
use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures::StreamExt;
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    fs::File,
    io::Write,
    ops::Deref,
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
    /// The most bytes of all bodies and answers that are held in memory; those of one token may have a quarter.
    pub most_memory: u64,
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
            most_memory: 256 << 20,
            longest_pause: Duration::from_secs(15),
            least_rate: 4096,
        }
    }
}

/// The body of a request, in pieces.
pub(crate) struct Chunks {
    stream: BodyDataStream,
    limits: BodyLimits,
    /// The most bytes.
    most: u64,
    received: u64,
    /// The time spent waiting for the client.
    waited: Duration,
}

impl Chunks {
    /// The body, of which at most so many bytes are read.
    pub(crate) fn new(body: Body, limits: BodyLimits, most: u64) -> Self {
        Self { stream: body.into_data_stream(), limits, most, received: 0, waited: Duration::ZERO }
    }

    /// The next piece.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        let began = Instant::now();
        let Ok(next) = timeout(self.limits.longest_pause, self.stream.next()).await else {
            let pause = self.limits.longest_pause.as_secs();
            return Err(Problem::new(
                ProblemKind::TooSlow,
                format!("no more of the body came for {pause} s"),
            ));
        };
        // Only the wait for the client counts: it is not to blame for a slow disk here.
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
                ProblemKind::TooSlow,
                format!("the body comes slower than {rate} bytes a second"),
            ));
        }
        Ok(Some(chunk))
    }

    /// The whole body, which counts as memory of its token.
    pub(super) async fn bytes(mut self, memory: Quota) -> Result<InMemory, Problem> {
        let mut whole = InMemory::new(memory);
        while let Some(chunk) = self.next().await? {
            whole.extend(&chunk)?;
        }
        Ok(whole)
    }
}

/// Bytes of a request in memory, which count for its token until they are dropped.
pub(super) struct InMemory {
    bytes: Vec<u8>,
    memory: Quota,
}

impl InMemory {
    /// Nothing, so far.
    pub(super) fn new(memory: Quota) -> Self {
        Self { bytes: Vec::new(), memory }
    }

    /// Appends a piece.
    pub(super) fn extend(&mut self, piece: &[u8]) -> Result<(), Problem> {
        self.memory.add(piece.len() as u64)?;
        self.bytes.extend_from_slice(piece);
        Ok(())
    }
}

impl Deref for InMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The most bytes of a file that are written by the thread that receives them. That takes less time than waking a thread that may
/// wait for the disk.
const AT_ONCE: u64 = 1 << 20;

/// After so many bytes of a file, its disk is asked for its space again.
const LOOK_AT_SPACE: u64 = 1 << 20;

/// A file that a request fills.
pub(crate) struct UploadWriter {
    staging: Staging,
    staged: Staged,
    here: File,
    file: tokio::fs::File,
    hash: Sha256,
    quota: Quota,
    bytes: u64,
}

/// A file that a request has filled. It counts for its token until it is dropped.
pub(crate) struct UploadedFile {
    /// The file.
    pub(super) file: Staged,
    /// SHA-256 of its content, in hexadecimal digits.
    pub(super) digest: String,
    /// Its length.
    pub(super) bytes: u64,
    /// Its part of the token's allowance.
    pub(super) quota: Quota,
}

impl UploadWriter {
    /// A new file.
    pub(crate) fn new(staging: &Staging, quota: Quota) -> Result<Self, Problem> {
        let (here, staged) = staging.file()?;
        let file = tokio::fs::File::from_std(here.try_clone()?);
        Ok(Self { staging: staging.clone(), staged, here, file, hash: Sha256::new(), quota, bytes: 0 })
    }

    /// Appends a piece, unless nearly no space is left.
    pub(crate) async fn write(&mut self, chunk: &[u8]) -> Result<(), Problem> {
        self.quota.add(chunk.len() as u64)?;
        self.hash.update(chunk);
        let before = self.bytes;
        self.bytes += chunk.len() as u64;
        if before / LOOK_AT_SPACE != self.bytes / LOOK_AT_SPACE {
            self.staging.check_space()?;
        }
        if self.bytes <= AT_ONCE {
            return Ok(self.here.write_all(chunk)?);
        }
        Ok(self.file.write_all(chunk).await?)
    }

    /// Ends the file.
    pub(crate) async fn finish(mut self) -> Result<UploadedFile, Problem> {
        self.file.flush().await?;
        let digest = hex::encode(self.hash.finalize());
        Ok(UploadedFile { file: self.staged, digest, bytes: self.bytes, quota: self.quota })
    }
}

/// The whole body as a file.
pub(super) async fn to_file(
    mut chunks: Chunks,
    staging: &Staging,
    quota: Quota,
) -> Result<UploadedFile, Problem> {
    let mut writer = UploadWriter::new(staging, quota)?;
    while let Some(chunk) = chunks.next().await? {
        writer.write(&chunk).await?;
    }
    writer.finish().await
}

/// The amounts of a bounded resource that tokens hold at the moment.
#[derive(Clone)]
pub(crate) struct Quotas {
    most_of_token: u64,
    most_of_all: u64,
    unit: &'static str,
    held: Arc<Mutex<Held>>,
}

#[derive(Default)]
struct Held {
    all: u64,
    of_tokens: HashMap<String, u64>,
}

/// The part of its token's allowance that one file, body or request takes.
pub(crate) struct Quota {
    quotas: Quotas,
    token: String,
    amount: u64,
}

impl Quotas {
    /// Allowances for each token and for all tokens together. Errors name the `unit`.
    pub(super) fn new(most_of_token: u64, most_of_all: u64, unit: &'static str) -> Self {
        Self { most_of_token, most_of_all, unit, held: Arc::default() }
    }

    /// Nothing, so far.
    pub(crate) fn start(&self, token: &str) -> Quota {
        Quota { quotas: self.clone(), token: token.to_owned(), amount: 0 }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Quota {
    /// Takes more.
    ///
    /// # Errors
    /// If the token would then have more than its allowance, or all together more than theirs.
    pub(crate) fn add(&mut self, amount: u64) -> Result<(), Problem> {
        let Quotas { most_of_token, most_of_all, unit, .. } = self.quotas;
        let mut held = self.quotas.held();
        let of_token = held.of_tokens.get(&self.token).copied().unwrap_or(0).saturating_add(amount);
        let all = held.all.saturating_add(amount);
        if of_token > most_of_token {
            let detail = format!("the token has {most_of_token} {unit}, which is the most: try again later");
            return Err(Problem::new(ProblemKind::TooMany, detail));
        }
        if all > most_of_all {
            let detail = format!("the service has {most_of_all} {unit}, which is the most: try again later");
            return Err(Problem::new(ProblemKind::Unavailable, detail));
        }
        held.all = all;
        held.of_tokens.insert(self.token.clone(), of_token);
        self.amount += amount;
        Ok(())
    }

    /// Gives back everything that it has taken.
    pub(crate) fn clear(&mut self) {
        let amount = std::mem::take(&mut self.amount);
        let mut held = self.quotas.held();
        held.all = held.all.saturating_sub(amount);
        if let Some(of_token) = held.of_tokens.get_mut(&self.token) {
            *of_token = of_token.saturating_sub(amount);
            if *of_token == 0 {
                held.of_tokens.remove(&self.token);
            }
        }
    }
}

/// The memory that a request holds. In the extensions of an answer, it counts until the answer is sent.
#[derive(Clone)]
pub(crate) struct RequestMemory(Arc<Mutex<Quota>>);

impl RequestMemory {
    /// The memory that this quota counts.
    pub(crate) fn new(quota: Quota) -> Self {
        Self(Arc::new(Mutex::new(quota)))
    }

    fn quota(&self) -> MutexGuard<'_, Quota> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes more.
    ///
    /// # Errors
    /// Those of [`Quota::add`].
    pub(crate) fn add(&self, bytes: u64) -> Result<(), Problem> {
        self.quota().add(bytes)
    }

    /// Gives back everything that it has taken.
    pub(crate) fn clear(&self) {
        self.quota().clear();
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_bound_each_token_and_all() {
        let quotas = Quotas::new(2, 3, "things");
        let (mut first, mut second) = (quotas.start("a"), quotas.start("b"));
        first.add(2).expect("its share");
        assert_eq!(quotas.start("a").add(1).expect_err("beyond its share").kind, ProblemKind::TooMany);
        second.add(1).expect("of its share");
        assert_eq!(second.add(1).expect_err("beyond what all may have").kind, ProblemKind::Unavailable);
        assert_eq!(quotas.start("b").add(u64::MAX).expect_err("no overflow").kind, ProblemKind::TooMany);
        first.clear();
        second.add(1).expect("there is place again");
        drop((first, second));
        let held = quotas.held();
        assert_eq!((held.all, held.of_tokens.len()), (0, 0));
    }
}
