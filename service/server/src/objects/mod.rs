//! Files of the service: keys, inputs, outputs. In a folder, readable by its owner only, or in an object storage.
//!
//! Names are `keys/DIGEST`, `jobs/JOB/inputs/INPUT` and `jobs/JOB/FENCE/OUTPUT`: what a worker with an old fence writes stands next to the result,
//! not in its place.

mod encrypted;
mod files;
mod s3;

pub use encrypted::{Encrypted, FileKeys};
pub use files::FolderObjects;
pub use s3::S3;

use async_trait::async_trait;
use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
};
use tempfile::{NamedTempFile, TempDir, TempPath};
use tokio::{io::AsyncRead, task::spawn_blocking};

/// The space that is kept free for what has been accepted, in bytes, or this part of a small disk.
const RESERVE: u64 = 1 << 30;
const RESERVED_PART: u64 = 20;

/// Files by name. Methods that write make their effect durable before they return.
#[async_trait]
pub trait Objects: Send + Sync {
    /// Stores a file under a name, in place of the one that had it.
    async fn put(&self, name: &str, file: Staged) -> io::Result<()>;

    /// The content, and its length in bytes; [`io::ErrorKind::NotFound`] if there is none of this name.
    async fn get(&self, name: &str) -> io::Result<(u64, ObjectReader)>;

    /// The file, where it lies on this machine; `None` if it does not.
    fn path(&self, name: &str) -> Option<PathBuf>;

    /// Deletes everything whose name begins with this prefix, which ends at a slash or with a whole name. Succeeds if there is nothing.
    async fn delete(&self, prefix: &str) -> io::Result<()>;

    /// The names that begin with this prefix, up to the next slash.
    async fn list(&self, prefix: &str) -> io::Result<Vec<String>>;

    /// Whether it encrypts the files of jobs.
    fn encrypts(&self) -> bool {
        false
    }

    /// Makes sure that the files of jobs are encrypted, or not encrypted, as this server would put them.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] if they are not.
    async fn check_encryption(&self) -> io::Result<()> {
        let problem = "the files of jobs are encrypted: --encrypt-inputs names the file with the key";
        match self.get(encrypted::MARK).await {
            Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, problem)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// The content of an object.
pub type ObjectReader = Pin<Box<dyn AsyncRead + Send>>;

/// A file on its way to [`Objects::put`]: it has no name that others know, and is deleted if it is not put. It is not open: many may wait.
#[derive(Debug)]
pub struct Staged(TempPath);

/// A folder for files on their way.
#[derive(Clone, Debug)]
pub struct Staging(PathBuf);

impl Staging {
    /// Makes the folder, readable by its owner only.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(folder: &Path) -> io::Result<Self> {
        create_private(folder)?;
        Ok(Self(folder.to_owned()))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Refuses new files if nearly no space, or nearly no inodes are left: the rest is for the store, and for the outputs of jobs that run.
    ///
    /// # Errors
    /// [`io::ErrorKind::StorageFull`].
    pub fn check_space(&self) -> io::Result<()> {
        #[cfg(unix)]
        {
            let disk = rustix::fs::statvfs(&self.0)?;
            let reserve = (RESERVE / disk.f_frsize.max(1)).min(disk.f_blocks / RESERVED_PART);
            // Some file systems make inodes as they are needed, and say that there are none.
            let has_inodes = disk.f_files == 0 || disk.f_favail >= disk.f_files / RESERVED_PART;
            if disk.f_bavail < reserve || !has_inodes {
                return Err(io::ErrorKind::StorageFull.into());
            }
        }
        Ok(())
    }

    /// The size of the disk, in bytes.
    ///
    /// # Errors
    /// If the system does not tell it.
    pub fn disk_bytes(&self) -> io::Result<u64> {
        #[cfg(unix)]
        {
            let disk = rustix::fs::statvfs(&self.0)?;
            Ok(disk.f_blocks.saturating_mul(disk.f_frsize))
        }
        #[cfg(not(unix))]
        Ok(u64::MAX)
    }

    /// A new empty file, open for writing.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn file(&self) -> io::Result<(File, Staged)> {
        let (file, path) = NamedTempFile::new_in(&self.0)?.into_parts();
        Ok((file, Staged(path)))
    }

    /// A new file with this content.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn file_with(&self, content: &[u8]) -> io::Result<Staged> {
        let (mut file, staged) = self.file()?;
        file.write_all(content)?;
        Ok(staged)
    }

    /// A new empty folder, which is deleted with the value.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn folder(&self) -> io::Result<TempDir> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        builder.tempdir_in(&self.0)
    }
}

impl Staged {
    /// A file that another process wrote into a [`Staging::folder`].
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn of_path(path: &Path) -> io::Result<Self> {
        File::open(path)?;
        Ok(Self(TempPath::try_from_path(path)?))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// Opens the objects at `s3://BUCKET/PREFIX` (see [`S3::open`]) or in a folder, which is made if it is not there.
///
/// # Errors
/// If the folder cannot be made, or the settings for S3 are wrong.
pub fn open(place: &str) -> io::Result<Arc<dyn Objects>> {
    if place.starts_with("s3://") {
        return Ok(Arc::new(S3::open(place)?));
    }
    match place.split_once("://") {
        Some((scheme, _)) => {
            let problem =
                format!("there are no objects of type {scheme}: expected s3://BUCKET/PREFIX or a folder");
            Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
        }
        None => Ok(Arc::new(FolderObjects::new(Path::new(place))?)),
    }
}

/// Makes a folder and those above it, readable by their owner only.
///
/// # Errors
/// If it cannot be made.
pub fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Does work that waits for the disk on a thread for such work.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}
