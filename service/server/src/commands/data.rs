//! The data directory: what a server keeps between starts, and where clients find its address and token.

use super::failure::CommandFailure;
use etcetera::BaseStrategy;
use proofmill_server::objects::{Staging, create_private};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// A data directory.
#[derive(Clone, Debug)]
pub(super) struct DataFolder(PathBuf);

impl DataFolder {
    /// The directory that the user named, or the usual one of the platform.
    pub(super) fn new(named: Option<&Path>) -> Result<Self, CommandFailure> {
        if let Some(path) = named {
            return Ok(Self(path.to_owned()));
        }
        let strategy = etcetera::choose_base_strategy();
        let strategy =
            strategy.map_err(|error| CommandFailure::Input(format!("{error}: --data DIR names a folder")))?;
        Ok(Self(strategy.data_dir().join("proofmill").join("server")))
    }

    /// Makes the directory if it is not there, readable by its owner only.
    pub(super) fn create(&self) -> Result<(), CommandFailure> {
        create_private(&self.0).map_err(|error| {
            CommandFailure::about(
                &self.0,
                format!("cannot be the data folder: {error}: --data names another"),
            )
        })
    }

    /// Waits until no other process prepares the directory.
    pub(super) fn lock(&self) -> Result<File, CommandFailure> {
        lock(&self.0).map_err(|error| CommandFailure::about(&self.0, error))
    }

    /// A file or folder in it.
    pub(super) fn place(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The secret of the administrator's token.
    pub(super) fn token(&self) -> PathBuf {
        self.place("token")
    }

    /// The address of the server that used the directory last.
    pub(super) fn address(&self) -> PathBuf {
        self.place("address")
    }
}

/// Writes a file in one step, readable by its owner only.
pub(super) fn write_private(path: &Path, content: &str) -> Result<(), CommandFailure> {
    let write = || {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(content.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(|error| CommandFailure::about(path, error))
}

/// A staging folder of this process; it lasts as long as the value.
pub(super) struct OwnStaging {
    pub(super) staging: Staging,
    folder: PathBuf,
    _lock: File,
}

impl OwnStaging {
    /// Makes one in this folder, and deletes those of processes that are dead.
    pub(super) fn new(parent: &Path) -> Result<Self, CommandFailure> {
        let make = || {
            create_private(parent)?;
            let _turn = lock(parent)?;
            delete_left_overs(parent)?;
            // Not the process's id, which another container may have, too.
            let folder = parent.join(uuid::Uuid::now_v7().simple().to_string());
            create_private(&folder)?;
            let own = lock(&folder)?;
            Ok::<_, io::Error>(Self { staging: Staging::new(&folder.join("files"))?, folder, _lock: own })
        };
        make().map_err(|error| CommandFailure::about(parent, error))
    }
}

impl Drop for OwnStaging {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// Deletes the staging folders whose processes are dead: nobody holds their locks.
fn delete_left_overs(parent: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parent)? {
        let folder = entry?.path();
        if !folder.is_dir() {
            continue;
        }
        let is_dead = match open_lock(&folder) {
            Ok(file) => file.try_lock().is_ok(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if is_dead {
            fs::remove_dir_all(&folder)?;
        }
    }
    Ok(())
}

/// Takes the lock of a folder, once other processes have left it.
fn lock(folder: &Path) -> io::Result<File> {
    let file = open_lock(folder)?;
    file.lock()?;
    Ok(file)
}

fn open_lock(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(folder.join("lock"))
}
