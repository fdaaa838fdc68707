//! The worker's private folder in the staging: inputs and outputs of the jobs that it has.
//!
//! Each folder has a lock file that its process holds as long as it lives. A worker that starts deletes the folders whose locks nobody
//! holds: their processes have ended without a chance to do so.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

const PREFIX: &str = "worker-";
const LOCK: &str = ".lock";

/// A private folder, deleted with the value.
#[derive(Debug)]
pub(super) struct WorkFolder {
    path: PathBuf,
    lock_path: PathBuf,
    _lock: File,
}

impl WorkFolder {
    /// Makes a folder in the staging, and deletes those of processes that have ended.
    ///
    /// # Errors
    /// If it cannot be made, or the others cannot be deleted.
    pub(super) fn new(staging: &Path) -> io::Result<Self> {
        let staging = std::path::absolute(staging)?;
        // Without this lock, another worker could take a new lock file for a leftover before it is locked.
        let all = open_private(&staging.join("workers.lock"))?;
        all.lock()?;
        delete_leftovers(&staging)?;
        let name = format!("{PREFIX}{}", uuid::Uuid::now_v7().simple());
        let (path, lock_path) = (staging.join(&name), staging.join(name + LOCK));
        let lock = open_private(&lock_path)?;
        lock.lock()?;
        create_private(&path)?;
        Ok(Self { path, lock_path, _lock: lock })
    }

    /// A new folder with empty folders `inputs` and `outputs`, readable by the owner only; deleted with the value.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(super) fn attempt(&self) -> io::Result<TempDir> {
        let folder =
            tempfile::Builder::new().prefix("attempt-").permissions(private()).tempdir_in(&self.path)?;
        for name in ["inputs", "outputs"] {
            create_private(&folder.path().join(name))?;
        }
        Ok(folder)
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        for result in [fs::remove_dir_all(&self.path), fs::remove_file(&self.lock_path)] {
            if let Err(error) = result {
                tracing::error!(folder = %self.path.display(), %error, "cannot delete the worker's folder");
            }
        }
    }
}

fn delete_leftovers(staging: &Path) -> io::Result<()> {
    for entry in fs::read_dir(staging)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(folder) = name.strip_suffix(LOCK).filter(|name| name.starts_with(PREFIX)) else { continue };
        if open_private(&entry.path())?.try_lock().is_err() {
            continue;
        }
        match fs::remove_dir_all(staging.join(folder)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::remove_file(entry.path())?,
        }
        tracing::warn!(folder, "deleted what a worker left that ended without a chance to do so");
    }
    Ok(())
}

/// Opens a file, or makes one that only its owner can read.
pub(super) fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn create_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn private() -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o700)
}

#[cfg(test)]
mod tests {
    use super::WorkFolder;
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn folders_are_private_and_leftovers_deleted() {
        let staging = tempfile::tempdir().expect("a folder");
        fs::create_dir(staging.path().join("worker-dead")).expect("a new folder");
        fs::write(staging.path().join("worker-dead/secret"), "1").expect("written");
        fs::write(staging.path().join("worker-dead.lock"), "").expect("written");
        let alive = WorkFolder::new(staging.path()).expect("a folder");
        assert!(!staging.path().join("worker-dead").exists());
        let attempt = alive.attempt().expect("a folder");
        for folder in [attempt.path(), &attempt.path().join("inputs"), alive.path.as_path()] {
            assert_eq!(fs::metadata(folder).expect("there").permissions().mode() & 0o777, 0o700);
        }
        let other = WorkFolder::new(staging.path()).expect("a folder");
        assert!(attempt.path().exists());
        drop((alive, other));
        let left: Vec<_> = fs::read_dir(staging.path()).expect("a folder").flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}
