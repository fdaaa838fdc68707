//! The files of a command: an output never replaces an input, nor another output.

use proofmill_console::Failure;
use std::{
    collections::HashMap,
    ffi::OsString,
    fs,
    ops::Deref,
    path::{Path, PathBuf},
};

/// A file that a command reads; `-` is standard input.
#[derive(Clone, Debug)]
pub(crate) struct InputFile(PathBuf);

/// A file that a command writes; `-` is standard output.
#[derive(Clone, Debug)]
pub(crate) struct OutputFile(PathBuf);

/// `-` stands for this device.
macro_rules! file {
    ($type:ident, $device:literal) => {
        impl From<OsString> for $type {
            fn from(name: OsString) -> Self {
                Self(if name == "-" { $device.into() } else { name.into() })
            }
        }

        impl AsRef<Path> for $type {
            fn as_ref(&self) -> &Path {
                &self.0
            }
        }

        impl Deref for $type {
            type Target = Path;

            fn deref(&self) -> &Path {
                &self.0
            }
        }
    };
}

file!(InputFile, "/dev/stdin");
file!(OutputFile, "/dev/stdout");

/// A file in a list of those that a command reads and writes in turn.
#[derive(Clone, Debug)]
pub(crate) struct ListedFile {
    /// The file, if it is read.
    pub(crate) input: InputFile,
    /// The file, if it is written.
    pub(crate) output: OutputFile,
}

impl From<OsString> for ListedFile {
    fn from(name: OsString) -> Self {
        Self { input: name.clone().into(), output: name.into() }
    }
}

/// The files that a command reads and writes. Commands that write none need not list those that they read.
#[derive(Debug, Default)]
pub(crate) struct CommandFiles<'a> {
    pub(crate) inputs: Vec<&'a Path>,
    pub(crate) outputs: Vec<&'a Path>,
}

impl CommandFiles<'_> {
    /// Refuses an output that is also an input or another output, under the same name or through a link.
    ///
    /// # Errors
    /// [`Failure::Input`] with both names.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let mut named: HashMap<Identity, (&str, &Path)> = HashMap::new();
        for input in &self.inputs {
            named.extend(Identity::of(input).map(|identity| (identity, ("the input", *input))));
        }
        for output in &self.outputs {
            let Some(identity) = Identity::of(output) else { continue };
            if let Some((role, other)) = named.insert(identity, ("the output", output)) {
                let (output, other) = (output.display(), other.display());
                return Err(Failure::Input(format!(
                    "{output}: would replace {role} {other}: choose another file"
                )));
            }
        }
        Ok(())
    }
}

/// The identity of a file, which all its names share.
#[derive(PartialEq, Eq, Hash)]
enum Identity {
    /// The device and the number of a regular file.
    File(u64, u64),
    /// The place of a file that does not exist: its name in its folder's canonical form.
    Place(PathBuf),
}

impl Identity {
    /// `None` for devices and pipes, which may occur several times, and without a folder.
    fn of(path: &Path) -> Option<Self> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => {
                let file = same_file::Handle::from_path(path).ok()?;
                Some(Self::File(file.dev(), file.ino()))
            }
            Ok(_) => None,
            Err(_) => {
                let folder = proofmill_files::folder_of(path).canonicalize().ok()?;
                Some(Self::Place(folder.join(path.file_name()?)))
            }
        }
    }
}
