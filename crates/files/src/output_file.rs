//! Files that appear under their names only when they are complete.

use std::{
    fs::{self, File},
    hash::{BuildHasher, RandomState},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::LazyLock,
};
use tempfile::NamedTempFile;

/// Removes this process's unfinished output files in a folder. For a signal handler, after which the process ends without
/// running destructors.
pub fn remove_unfinished(folder: &Path) {
    let prefix = partial_prefix();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            // The process ends: a failure cannot be reported.
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// Whether this is a pipe or a device, which is written to directly.
pub(crate) fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

pub(crate) fn open_stream(path: &Path) -> io::Result<File> {
    File::options().write(true).open(path)
}

/// The target of a rename: a symbolic link is followed, so that it stays a link. A rename would replace a read-only file without
/// a question, so one is refused.
pub(crate) fn target_of(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(target) if target.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(target) if fs::metadata(&target)?.permissions().readonly() => {
            let problem = "the file is read-only: remove it or choose another name";
            Err(io::Error::new(io::ErrorKind::PermissionDenied, problem))
        }
        Ok(target) => Ok(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        Err(error) => Err(error),
    }
}

/// The prefix of the names of this process's unfinished files. Processes in different containers can have the same number, so it
/// also has a random one.
fn partial_prefix() -> String {
    static RANDOM: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(()));
    format!(".proofmill-{}-{:016x}-", std::process::id(), *RANDOM)
}

/// The folder of a file.
pub fn folder_of(target: &Path) -> &Path {
    target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(crate) fn temporary_beside(target: &Path) -> io::Result<NamedTempFile> {
    let mut cause = None;
    // With the permissions of any new file, and an error that does not name the temporary file.
    let made = tempfile::Builder::new().prefix(&partial_prefix()).suffix(".partial").make_in(
        folder_of(target),
        |path| {
            File::options().read(true).write(true).create_new(true).open(path).map_err(|error| {
                let kind = error.kind();
                cause = Some(error);
                kind.into()
            })
        },
    );
    made.map_err(|error| cause.unwrap_or(error))
}

/// A file of any format that appears under its name only when it is complete. If dropped before [`Self::finish`], it is removed.
/// Where the file system supports it (Linux), it has no name until then, so that a killed process leaves nothing. The exception is a
/// process that was about to replace another file: the new file, which is complete, can stay next to it as `.proofmill-*.partial`.
#[derive(Debug)]
pub struct OutputFile {
    draft: Draft,
    target: PathBuf,
}

#[derive(Debug)]
enum Draft {
    #[cfg(target_os = "linux")]
    Unnamed(File),
    Named(NamedTempFile),
}

impl OutputFile {
    /// Begins a file; an existing file of this name stays until [`Self::finish`].
    ///
    /// # Errors
    /// The operating system's error, and [`io::ErrorKind::InvalidInput`] if the path exists and is not a regular file.
    pub fn create(path: &Path) -> io::Result<Self> {
        let target = target_of(path)?;
        if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        #[cfg(target_os = "linux")]
        if let Ok(file) = unnamed::create(folder_of(&target)) {
            return Ok(Self { draft: Draft::Unnamed(file), target });
        }
        Ok(Self { draft: Draft::Named(temporary_beside(&target)?), target })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn finish(self) -> io::Result<()> {
        let Self { draft, target } = self;
        match draft {
            #[cfg(target_os = "linux")]
            Draft::Unnamed(file) => unnamed::publish(file, &target),
            Draft::Named(file) => Ok(file.persist(target).map(drop)?),
        }
    }

    fn file(&mut self) -> &mut File {
        match &mut self.draft {
            #[cfg(target_os = "linux")]
            Draft::Unnamed(file) => file,
            Draft::Named(file) => file.as_file_mut(),
        }
    }
}

/// Files without a name, which disappear unless they get one.
#[cfg(target_os = "linux")]
mod unnamed {
    use super::{folder_of, partial_prefix, temporary_beside};
    use rustix::fs::{AtFlags, CWD, Mode, OFlags};
    use std::{
        fs::File,
        io::{self, Seek},
        os::fd::AsRawFd,
        path::Path,
    };

    /// Fails where files without a name do not exist or cannot be given one.
    pub(super) fn create(folder: &Path) -> io::Result<File> {
        let mode = Mode::from_raw_mode(0o666);
        let file =
            File::from(rustix::fs::open(folder, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode)?);
        // Without /proc the file could never get a name.
        std::fs::metadata(link(&file))?;
        Ok(file)
    }

    fn link(file: &File) -> String {
        format!("/proc/self/fd/{}", file.as_raw_fd())
    }

    /// Gives a file its name. Only a rename replaces a file. So if one exists, the new file has a temporary name for a moment.
    pub(super) fn publish(mut file: File, target: &Path) -> io::Result<()> {
        let name =
            |path: &Path| Ok(rustix::fs::linkat(CWD, link(&file), CWD, path, AtFlags::SYMLINK_FOLLOW)?);
        // A link never replaces a file: it succeeds only if the name is free.
        if name(target).is_ok() {
            return Ok(());
        }
        let named = tempfile::Builder::new()
            .prefix(&partial_prefix())
            .suffix(".partial")
            .make_in(folder_of(target), name);
        if let Ok(named) = named {
            named.persist(target)?;
            return Ok(());
        }
        // No link can be made in this folder: the content moves to a file with a name.
        let mut copy = temporary_beside(target)?;
        file.rewind()?;
        io::copy(&mut file, &mut copy)?;
        copy.persist(target)?;
        Ok(())
    }
}

impl Read for OutputFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.file().read(bytes)
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

impl Seek for OutputFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file().seek(position)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_file_has_no_name_where_there_are_such() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, "before").unwrap();
        for finished in [false, true] {
            let mut output = OutputFile::create(&path).unwrap();
            output.write_all(b"after").unwrap();
            let names = fs::read_dir(&folder).unwrap().count();
            match output.draft {
                #[cfg(target_os = "linux")]
                Draft::Unnamed(_) => assert_eq!(names, 1),
                Draft::Named(_) => assert_eq!(names, 2),
            }
            if finished {
                output.finish().unwrap();
            }
        }
        assert_eq!(fs::read(&path).unwrap(), b"after");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn only_this_process_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let unfinished = temporary_beside(&folder.path().join("x")).unwrap();
        let (_, kept) = temporary_beside(&folder.path().join("x")).unwrap().keep().unwrap();
        // Of another process, and of one with the same number in another container.
        let others =
            [".proofmill-0-abc.partial".to_owned(), format!(".proofmill-{}-0.partial", std::process::id())];
        let others = others.map(|name| folder.path().join(name));
        others.iter().for_each(|path| fs::write(path, "").unwrap());
        remove_unfinished(folder.path());
        assert!(!unfinished.path().exists() && !kept.exists());
        assert!(others.iter().all(|path| path.exists()), "{others:?}");
    }
}
