//! Objects as files in a folder.

use super::{ObjectReader, Objects, Staged, blocking, create_private};
use async_trait::async_trait;
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Objects as files in a folder on this machine, or on a file system that all servers share.
#[derive(Clone, Debug)]
pub struct FolderObjects(Arc<PathBuf>);

impl FolderObjects {
    /// The folder; made if it is not there. [`Staging`](super::Staging) has to be on the same file system.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(folder: &Path) -> io::Result<Self> {
        create_private(folder)?;
        Ok(Self(Arc::new(folder.to_owned())))
    }

    fn place(&self, name: &str) -> PathBuf {
        debug_assert!(name.split('/').all(|part| !part.is_empty() && part != ".." && part != "."), "{name}");
        self.0.join(name)
    }
}

#[async_trait]
impl Objects for FolderObjects {
    async fn put(&self, name: &str, file: Staged) -> io::Result<()> {
        let (root, place, is_of_job) = (self.0.clone(), self.place(name), name.starts_with("jobs/"));
        blocking(move || {
            let content = File::open(file.path())?;
            #[cfg(unix)]
            content.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
            let folder = place.parent().expect("a place in the folder");
            create_private(folder)?;
            // Nobody knows of a new file of a job before this returns: a journal makes name and content durable in one step. Others are
            // durable before: nobody may find half of one after a power failure.
            if !is_of_job || place.exists() {
                content.sync_all()?;
            }
            file.0.persist(&place).map_err(|error| error.error)?;
            content.sync_all()?;
            // The name has to last, too. All folders are flushed, since an earlier attempt may have made them without that.
            let mut changed = folder.ancestors().take_while(|ancestor| ancestor.starts_with(&*root));
            changed.try_for_each(|folder| File::open(folder)?.sync_all())
        })
        .await
    }

    async fn get(&self, name: &str) -> io::Result<(u64, ObjectReader)> {
        let about = |error: io::Error| io::Error::new(error.kind(), format!("object {name}: {error}"));
        let file = tokio::fs::File::open(self.place(name)).await.map_err(about)?;
        Ok((file.metadata().await.map_err(about)?.len(), Box::pin(file)))
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        Some(self.place(name))
    }

    async fn delete(&self, prefix: &str) -> io::Result<()> {
        let (place, jobs) = (self.place(prefix.trim_end_matches('/')), self.place("jobs"));
        blocking(move || {
            let found = match fs::symlink_metadata(&place) {
                Ok(found) => found,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(error),
            };
            match if found.is_dir() { fs::remove_dir_all(&place) } else { fs::remove_file(&place) } {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let Some(folder) = place.parent() else { return Ok(()) };
            // A job without files has no folder: there are many jobs.
            if folder.parent() == Some(&jobs) && fs::remove_dir(folder).is_ok() {
                return sync(&jobs);
            }
            sync(folder)
        })
        .await
    }

    async fn list(&self, prefix: &str) -> io::Result<Vec<String>> {
        let folder = self.place(prefix.trim_end_matches('/'));
        blocking(move || {
            let entries = match fs::read_dir(folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                Err(error) => return Err(error),
            };
            entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
        })
        .await
    }
}

/// Makes the names in a folder durable. One that is gone has none.
fn sync(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        Ok(folder) => folder.sync_all(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
