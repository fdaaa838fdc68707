//! Objects in a bucket of an S3 server.
//!
//! A file above [`PART`] is sent in parts; S3 shows the object when the last one is there, so there is never half an object. A process
//! that is killed in between leaves parts that nobody sees: a lifecycle rule of the bucket (`AbortIncompleteMultipartUpload`) deletes them.

use super::{ObjectReader, Objects, Staged};
use crate::names::is_loopback;
use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures::{StreamExt, TryStreamExt};
use object_store::{
    BackoffConfig, ClientOptions, Error, MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload,
    RetryConfig,
    aws::{AmazonS3, AmazonS3Builder},
    path::Path,
};
use std::{collections::BTreeSet, env, io, path::PathBuf, time::Duration};
use tokio::{fs::File, io::AsyncReadExt, task::JoinSet, time::timeout};
use tokio_util::io::StreamReader;

/// The size of a part, in bytes; larger where the file would have too many.
const PART: u64 = 8 << 20;
/// The most parts of a file, which S3 bounds by 10,000.
const MOST_PARTS: u64 = 9_000;
/// Parts on their way at the same time: the memory of an upload is so many parts and one more.
const PARALLEL: usize = 2;
/// The longest time to send a part, with all repetitions.
const PART_TIME: Duration = Duration::from_secs(120);
/// The longest time in which nothing arrives.
const SILENCE: Duration = Duration::from_secs(30);

/// A bucket, or the objects with a prefix in it.
#[derive(Debug)]
pub struct S3 {
    store: AmazonS3,
    bucket: String,
    prefix: String,
}

impl S3 {
    /// The objects below `s3://BUCKET/PREFIX`. Region, endpoint and credentials are in the usual environment variables (`AWS_REGION`,
    /// `AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, those for roles), or come from the machine's
    /// role. An endpoint without TLS is used on the loopback only, unless `AWS_ALLOW_HTTP` is `true`. The server is not contacted yet.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] for a malformed place or settings.
    pub fn open(place: &str) -> io::Result<Self> {
        let invalid = |problem: String| io::Error::new(io::ErrorKind::InvalidInput, problem);
        let rest = place.strip_prefix("s3://").unwrap_or_default();
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        if bucket.is_empty() || !bucket.bytes().all(is_name) {
            return Err(invalid("the objects' place is malformed: expected s3://BUCKET/PREFIX".to_owned()));
        }
        // The TLS library asks for the process's choice; it was made before if this fails.
        drop(rustls::crypto::ring::default_provider().install_default());
        let options = ClientOptions::new()
            .with_connect_timeout(Duration::from_secs(5))
            .with_read_timeout(SILENCE)
            .with_timeout_disabled();
        let retry = RetryConfig {
            backoff: BackoffConfig { max_backoff: Duration::from_secs(2), ..BackoffConfig::default() },
            max_retries: 5,
            retry_timeout: Duration::from_secs(30),
        };
        let mut builder = AmazonS3Builder::from_env().with_client_options(options);
        if let Some(endpoint) = plain_endpoint() {
            let is_allowed = env::var("AWS_ALLOW_HTTP").is_ok_and(|value| value == "true");
            if !is_allowed && !is_near(&endpoint) {
                return Err(invalid(format!(
                    "the S3 endpoint of bucket {bucket} has no TLS: use https, or set AWS_ALLOW_HTTP=true"
                )));
            }
            builder = builder.with_allow_http(true);
        }
        let store = builder.with_bucket_name(bucket).with_retry(retry).build();
        let store = store.map_err(|error| invalid(format!("bucket {bucket}: {}", one_line(&error))))?;
        Ok(Self { store, bucket: bucket.to_owned(), prefix: prefix.trim_matches('/').to_owned() })
    }

    fn place(&self, name: &str) -> Path {
        Path::from(format!("{}/{name}", self.prefix))
    }

    fn about(&self, name: &str, error: &Error) -> io::Error {
        let kind = match error {
            Error::NotFound { .. } => io::ErrorKind::NotFound,
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => io::ErrorKind::PermissionDenied,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, format!("object {name} in bucket {}: {}", self.bucket, one_line(error)))
    }

    async fn put_whole(&self, name: &str, content: Bytes) -> io::Result<()> {
        let place = self.place(name);
        in_time(self.store.put(&place, PutPayload::from_bytes(content)))
            .await
            .map(drop)
            .map_err(|error| self.about(name, &error))
    }

    async fn put_in_parts(&self, name: &str, file: File, length: u64) -> io::Result<()> {
        let about = |error: Error| self.about(name, &error);
        let place = self.place(name);
        let mut upload = in_time(self.store.put_multipart(&place)).await.map_err(about)?;
        let sent = match send(upload.as_mut(), file, length).await {
            Ok(()) => in_time(upload.complete()).await.map(drop).map_err(about),
            Err(UploadError::File(error)) => Err(error),
            Err(UploadError::Store(error)) => Err(about(error)),
        };
        if sent.is_err() {
            // The parts are of no use; if this fails, too, the bucket's rules delete them.
            drop(in_time(upload.abort()).await);
        }
        sent
    }
}

/// Why a file was not sent.
enum UploadError {
    File(io::Error),
    Store(Error),
}

/// Sends a file in parts, few at a time.
async fn send(upload: &mut dyn MultipartUpload, mut file: File, length: u64) -> Result<(), UploadError> {
    let part = usize::try_from(PART.max(length.div_ceil(MOST_PARTS))).unwrap_or(usize::MAX);
    let mut on_their_way = JoinSet::new();
    let mut left = length;
    loop {
        let content = read(&mut file, part).await.map_err(UploadError::File)?;
        if content.is_empty() {
            break;
        }
        left = left.saturating_sub(content.len() as u64);
        if on_their_way.len() >= PARALLEL {
            joined(on_their_way.join_next().await)?;
        }
        let sent = upload.put_part(PutPayload::from_bytes(content));
        on_their_way.spawn(async { in_time(sent).await.map(drop) });
    }
    while let Some(sent) = on_their_way.join_next().await {
        joined(Some(sent))?;
    }
    // Without this check, a truncated file would become a complete object.
    if left > 0 {
        return Err(UploadError::File(io::Error::other("the file became shorter while it was sent")));
    }
    Ok(())
}

fn joined(sent: Option<Result<Result<(), Error>, tokio::task::JoinError>>) -> Result<(), UploadError> {
    match sent {
        None | Some(Ok(Ok(()))) => Ok(()),
        Some(Ok(Err(error))) => Err(UploadError::Store(error)),
        Some(Err(error)) => Err(UploadError::File(io::Error::other(error))),
    }
}

/// The next bytes of a file: so many, unless it ends.
async fn read(file: &mut File, length: usize) -> io::Result<Bytes> {
    let mut content = BytesMut::with_capacity(length);
    while content.len() < length && file.read_buf(&mut content).await? > 0 {}
    Ok(content.freeze())
}

/// The result of a request, unless it takes too long.
async fn in_time<T>(request: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let late = |_| Error::Generic { store: "S3", source: "it takes too long".into() };
    timeout(PART_TIME, request).await.map_err(late)?
}

/// The endpoint in the environment, if it has no TLS.
fn plain_endpoint() -> Option<String> {
    let names = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
    let endpoint = names.into_iter().find_map(|name| env::var(name).ok())?;
    endpoint.strip_prefix("http://").map(str::to_owned)
}

fn is_near(endpoint: &str) -> bool {
    let authority = endpoint.split('/').next().unwrap_or_default();
    is_loopback(authority.rsplit_once(':').map_or(authority, |(host, _)| host))
}

/// The error in one line of bounded length: servers answer with pages.
fn one_line(error: &Error) -> String {
    let text = error.to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(400).collect()
}

#[async_trait]
impl Objects for S3 {
    async fn put(&self, name: &str, file: Staged) -> io::Result<()> {
        let mut content = File::open(file.path()).await?;
        let length = content.metadata().await?.len();
        if length > PART {
            return self.put_in_parts(name, content, length).await;
        }
        let content = read(&mut content, PART as usize + 1).await?;
        self.put_whole(name, content).await
    }

    async fn get(&self, name: &str) -> io::Result<(u64, ObjectReader)> {
        let found = self.store.get(&self.place(name)).await.map_err(|error| self.about(name, &error))?;
        let length = found.meta.size;
        let (bucket, name) = (self.bucket.clone(), name.to_owned());
        let content = found.into_stream().map_err(move |error| {
            io::Error::other(format!("object {name} in bucket {bucket}: {}", one_line(&error)))
        });
        Ok((length, Box::pin(StreamReader::new(content))))
    }

    fn path(&self, _: &str) -> Option<PathBuf> {
        None
    }

    async fn delete(&self, prefix: &str) -> io::Result<()> {
        let about = |error: Error| self.about(prefix, &error);
        let below = self.store.list(Some(&self.place(prefix))).map_ok(|object| object.location);
        let itself = (!prefix.ends_with('/')).then(|| Ok(self.place(prefix)));
        let all = futures::stream::iter(itself).chain(below).boxed();
        let gone = |result: Result<Path, Error>| match result {
            Ok(_) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        };
        let mut deleted = self.store.delete_stream(all);
        while let Some(result) = deleted.next().await {
            gone(result).map_err(about)?;
        }
        Ok(())
    }

    async fn list(&self, prefix: &str) -> io::Result<Vec<String>> {
        let folder = self.place(prefix);
        let found = self.store.list_with_delimiter(Some(&folder)).await;
        let found = found.map_err(|error| self.about(prefix, &error))?;
        let objects = found.objects.into_iter().map(|object| object.location);
        let names = found.common_prefixes.into_iter().chain(objects).filter_map(|place| {
            place
                .prefix_match(&folder)
                .and_then(|mut parts| parts.next())
                .map(|name| name.as_ref().to_owned())
        });
        Ok(names.collect::<BTreeSet<_>>().into_iter().collect())
    }
}
