//! Temporary folders that are removed even when a signal ends this process.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};
use tempfile::TempDir;

/// All existing folders.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A folder that is removed when this is dropped, or by [`remove_all`].
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

/// Removes all folders, in a process that is about to exit.
pub(super) fn remove_all() {
    for path in FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // Errors are ignored, because nothing can report them any more.
        _ = fs::remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_removed_on_drop() {
        let folder = Folder::new().unwrap();
        let path = folder.path().to_owned();
        assert!(path.is_dir() && FOLDERS.lock().unwrap().contains(&path));
        drop(folder);
        assert!(!path.exists() && !FOLDERS.lock().unwrap().contains(&path));
    }
}
