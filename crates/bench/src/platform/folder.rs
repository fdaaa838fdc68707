//! Temporary folders that go even when a signal ends this process.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};
use tempfile::TempDir;

/// Those that there are.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A folder that goes when this does, or in [`remove_all`].
pub(super) struct Folder(TempDir);

impl Folder {
    pub(super) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("proofmill-platform-").tempdir()?;
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).push(folder.path().to_owned());
        Ok(Self(folder))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| path != self.0.path());
    }
}

/// Removes all of them; for a process that is about to exit.
pub(super) fn remove_all() {
    for path in FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // What cannot be removed stays: there is nobody left to tell.
        _ = fs::remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_go_with_their_owners() {
        let folder = Folder::new().unwrap();
        let path = folder.path().to_owned();
        assert!(path.is_dir() && FOLDERS.lock().unwrap().contains(&path));
        drop(folder);
        assert!(!path.exists() && !FOLDERS.lock().unwrap().contains(&path));
    }
}
