//! Key files of services on other machines, in a folder that several workers may share.
//!
//! A key is a file with its digest as name. A job that uses it holds a shared lock on it, and a worker that deletes it needs an exclusive
//! lock. A worker that brings it holds the lock of `DIGEST.lock`, writes `DIGEST.part`, checks its digest and renames it.

use super::backoff::persist;
use crate::{
    coordinator::{Coordinator, Trouble},
    names::{digest_of_file, is_digest},
    objects::{blocking, create_private},
};
use futures::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use std::{
    collections::HashMap,
    fs::{self, File},
    io,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};
use tokio::time::sleep;

/// How often it looks whether another worker has brought a key.
const LOOK: Duration = Duration::from_millis(200);
/// How long a key is asked for again while the service is unavailable.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a hashed file is taken for intact. Otherwise jobs with wrong inputs could keep the disk busy.
const TRUSTED: Duration = Duration::from_secs(600);
/// The longest time that bringing a key may take.
const LONGEST: Duration = Duration::from_secs(6 * 3600);

/// A folder of key files.
#[derive(Clone)]
pub(super) struct KeyFolder {
    folder: Arc<PathBuf>,
    most_bytes: u64,
    /// Keys on their way, by digest.
    coming: Arc<Mutex<HashMap<String, Coming>>>,
    /// When files were hashed and found intact, by digest.
    hashed: Arc<Mutex<HashMap<String, Instant>>>,
}

type Coming = Shared<BoxFuture<'static, Result<(), Trouble>>>;

/// A key in use: it is not deleted.
#[derive(Debug)]
pub(super) struct HeldKey {
    /// The file.
    pub(super) path: PathBuf,
    digest: String,
    /// Holds the lock; none for a key of the service's own.
    lock: Option<File>,
}

impl HeldKey {
    /// Whether the file no longer has the content that its digest names. One that was brought is deleted then: the next job brings it
    /// again.
    fn is_damaged(&self) -> bool {
        // An unreadable file counts as damaged.
        if digest_of_file(&self.path).is_ok_and(|found| found == self.digest) {
            return false;
        }
        tracing::error!(key = self.digest, path = %self.path.display(), "the file of a key is damaged");
        if let Some(lock) = &self.lock
            // Another worker may have replaced the damaged file already: its file stays.
            && is_at(lock, &self.path).unwrap_or(false)
            && let Err(error) = remove(&self.path)
        {
            tracing::error!(key = self.digest, %error, "cannot delete it");
        }
        true
    }
}

impl KeyFolder {
    /// The keys in a folder, which is made when the first one comes.
    pub(super) fn new(folder: &Path, most_bytes: u64) -> io::Result<Self> {
        let folder = Arc::new(std::path::absolute(folder)?);
        Ok(Self { folder, most_bytes, coming: Arc::default(), hashed: Arc::default() })
    }

    /// The file of a key, brought if it is not there.
    pub(super) async fn get(
        &self,
        coordinator: &Arc<dyn Coordinator>,
        digest: &str,
    ) -> Result<HeldKey, Trouble> {
        if let Some(path) = coordinator.key(digest) {
            return Ok(HeldKey { path: std::path::absolute(path)?, digest: digest.to_owned(), lock: None });
        }
        if !is_digest(digest) {
            return Err(Trouble::Unavailable(format!("{digest:?} is no key's digest")));
        }
        loop {
            let (place, named) = (self.folder.join(digest), digest.to_owned());
            if let Some(key) = blocking(move || use_key(place, named)).await? {
                return Ok(key);
            }
            self.coming(coordinator, digest).await?;
        }
    }

    /// Whether the file of one of these keys no longer has the content that its digest names. Files that were hashed lately are not
    /// read again.
    pub(super) async fn are_damaged(&self, mut held: Vec<HeldKey>) -> io::Result<bool> {
        let now = Instant::now();
        {
            let mut hashed = self.hashed.lock().unwrap_or_else(PoisonError::into_inner);
            hashed.retain(|_, then| now.duration_since(*then) < TRUSTED);
            held.retain(|key| !hashed.contains_key(&key.digest));
        }
        let hashed = self.hashed.clone();
        blocking(move || {
            let (damaged, right): (Vec<_>, Vec<_>) = held.into_iter().partition(HeldKey::is_damaged);
            let right = right.into_iter().map(|key| (key.digest.clone(), now));
            hashed.lock().unwrap_or_else(PoisonError::into_inner).extend(right);
            Ok(!damaged.is_empty())
        })
        .await
    }

    /// Brings a key, once for all waiting attempts. It goes on after their end: the next one needs
    /// the key, too.
    fn coming(&self, coordinator: &Arc<dyn Coordinator>, digest: &str) -> Coming {
        let mut all = self.coming.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(coming) = all.get(digest) {
            return coming.clone();
        }
        let (keys, coordinator, name) = (self.clone(), coordinator.clone(), digest.to_owned());
        let task = tokio::spawn(async move {
            let result = keys.bring(&*coordinator, &name).await;
            keys.coming.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
            result
        });
        let ended = |result: Result<_, tokio::task::JoinError>| {
            result.unwrap_or_else(|error| Err(Trouble::Unavailable(error.to_string())))
        };
        let coming = task.map(ended).boxed().shared();
        all.insert(digest.to_owned(), coming.clone());
        coming
    }

    async fn bring(&self, coordinator: &dyn Coordinator, digest: &str) -> Result<(), Trouble> {
        let named = |suffix| self.folder.join(format!("{digest}{suffix}"));
        let (place, part, lock) = (self.folder.join(digest), named(".part"), named(".lock"));
        create_private(&self.folder)?;
        // Locks the name for all workers that share the folder: only one of them downloads it.
        let _lock = loop {
            let lock = lock.clone();
            if let Some(file) = blocking(move || try_lock(&lock)).await? {
                break file;
            }
            sleep(LOOK).await;
        };
        // Another worker may have brought the key while this one waited for the lock.
        if !place.exists() {
            tracing::info!(key = digest, "bringing a key");
            let bring = || async {
                // Removes the part that an earlier try or a killed worker left.
                remove(&part)?;
                coordinator.bring_key(digest, &part).await
            };
            let brought = persist(PATIENCE, LONGEST, bring).await;
            let checked = match brought {
                Ok(()) => self.check(&part, digest, &place).await,
                Err(trouble) => Err(trouble),
            };
            if checked.is_err() {
                remove(&part)?;
                remove(&lock)?;
                return checked;
            }
        }
        remove(&lock)?;
        let keys = self.clone();
        let kept = digest.to_owned();
        // The key is there, whether others can be deleted or not.
        if let Err(error) = blocking(move || keys.delete_old(&kept)).await {
            tracing::error!(folder = %self.folder.display(), %error, "cannot delete keys that were not used for long");
        }
        Ok(())
    }

    /// Gives a file its digest as name, if its content has that digest.
    async fn check(&self, part: &Path, digest: &str, place: &Path) -> Result<(), Trouble> {
        let (part, expected, place) = (part.to_owned(), digest.to_owned(), place.to_owned());
        let found = blocking(move || {
            let found = digest_of_file(&part)?;
            // The rename comes after the check: under its digest, a key is always complete.
            if found == expected {
                fs::rename(&part, &place)?;
            }
            Ok(found)
        });
        match found.await? {
            found if found == digest => Ok(()),
            found => {
                Err(Trouble::Unavailable(format!("the key {digest} arrived with another content, {found}")))
            }
        }
    }

    /// Deletes keys that nobody uses, the least recently used first, until all take no more than they may.
    fn delete_old(&self, kept: &str) -> io::Result<()> {
        let mut keys = Vec::new();
        for entry in fs::read_dir(&*self.folder)?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(data) = entry.metadata() else { continue };
            if is_digest(&name) {
                keys.push((data.modified()?, data.len(), name));
            }
        }
        keys.sort();
        let mut bytes: u64 = keys.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, length, name) in keys {
            if bytes <= self.most_bytes {
                break;
            }
            let path = self.folder.join(&name);
            let Ok(file) = File::open(&path) else { continue };
            // An exclusive lock fails while any job holds its shared lock on the key.
            if name != kept && file.try_lock().is_ok() {
                remove(&path)?;
                bytes -= length;
                tracing::info!(key = name, "deleted a key to make room");
            }
        }
        Ok(())
    }
}

/// Locks a key for use, and notes when it was used.
fn use_key(path: PathBuf, digest: String) -> io::Result<Option<HeldKey>> {
    let file = match File::options().read(true).write(true).open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    file.lock_shared()?;
    // The file may have been deleted between its opening and its lock.
    if !is_at(&file, &path)? {
        return Ok(None);
    }
    file.set_modified(SystemTime::now())?;
    Ok(Some(HeldKey { path, digest, lock: Some(file) }))
}

/// Locks a file for this process alone; `None` if another one has it.
fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let file = File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    let is_mine = file.try_lock().is_ok() && is_at(&file, path)?;
    Ok(is_mine.then_some(file))
}

/// Whether the open file still has this name: it may have been deleted before it was locked.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((open.dev(), open.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Deletes a file if it is there.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
