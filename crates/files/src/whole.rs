//! Texts and bytes, written to files in one call.

use crate::{
    FileError, FileName, Output, Target,
    output_file::{is_stream, open_stream, target_of, temporary_beside},
};
use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// Writes several text files, such as a proof and its public signals: all of them completely, or none. A target that exists and
/// is not a regular file (`/dev/stdout`, a pipe) is written to directly.
///
/// # Errors
/// The operating system's error.
pub fn write_texts(files: &[(&Path, &str)]) -> Result<(), FileError> {
    let named = |path: &Path| {
        let name = FileName::new(path);
        move |source| FileError::new(&name, source)
    };
    let mut written = Vec::with_capacity(files.len());
    // All texts are written before the first one gets its name: an error here, such as a full
    // disk, changes nothing.
    for (path, text) in files {
        written.push((*path, Written::new(path, text.as_bytes()).map_err(named(path))?));
    }
    let mut created = Vec::new();
    for (path, file) in written {
        match file.publish() {
            Ok(target) => created.extend(target),
            Err(source) => {
                // Remove the new files that were already published. If that fails, the error that led here matters more.
                created.iter().for_each(|path| drop(fs::remove_file(path)));
                return Err(named(path)(source));
            }
        }
    }
    Ok(())
}

/// [`write_texts`] for one file.
///
/// # Errors
/// The operating system's error.
pub fn write_text(path: &Path, text: &str) -> Result<(), FileError> {
    write_texts(&[(path, text)])
}

/// Writes bytes to a file, completely or not at all.
///
/// # Errors
/// The operating system's error.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut output = Output::create(Target::File(path))?;
    output.append(bytes)?;
    output.finish()
}

/// A text that is written to disk, but not yet renamed to its target.
enum Written {
    File(NamedTempFile, PathBuf),
    /// A target that is not a regular file, and its text, which is written last.
    Stream(File, Vec<u8>),
}

impl Written {
    fn new(path: &Path, bytes: &[u8]) -> io::Result<Self> {
        if is_stream(path) {
            return Ok(Self::Stream(open_stream(path)?, bytes.to_vec()));
        }
        let target = target_of(path)?;
        let mut file = temporary_beside(&target)?;
        file.write_all(bytes)?;
        Ok(Self::File(file, target))
    }

    /// Gives the file its name. Returns the path if there was no such file before.
    fn publish(self) -> io::Result<Option<PathBuf>> {
        match self {
            Self::File(file, target) => {
                // Only a new file can be taken back later: a replaced one is gone.
                let is_new = !target.exists();
                file.persist(&target)?;
                Ok(is_new.then_some(target))
            }
            Self::Stream(mut stream, bytes) => stream.write_all(&bytes).map(|()| None),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn all_the_texts_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, new, bad) =
            (folder.path().join("kept"), folder.path().join("new"), folder.path().join("no/no"));
        fs::write(&kept, "before").unwrap();
        write_texts(&[(&kept, "a"), (&new, "b"), (&bad, "c")]).unwrap_err();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "before");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "{folder:?}");
        write_texts(&[(&kept, "a"), (&new, "b")]).unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap() + &fs::read_to_string(&new).unwrap(), "ab");
        write_text(folder.path(), "a folder is not overwritten").unwrap_err();
        let error = write_text(&bad, "c").unwrap_err().to_string();
        assert!(error.contains("no/no: No such file") && !error.contains("partial"), "{error}");
    }

    #[test]
    fn a_read_only_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("proof.json");
        fs::write(&path, "kept").unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        for error in [write_text(&path, "new").unwrap_err(), write_bytes(&path, b"new").unwrap_err()] {
            assert!(
                error
                    .to_string()
                    .ends_with("proof.json: the file is read-only: remove it or choose another name")
            );
        }
        Output::create(&path).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "kept");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }
}
