//! The files of a command: an output never replaces an input, nor another output.

use proofmill_console::Failure;
use std::{
    ffi::OsString,
    fs,
    ops::Deref,
    path::{Path, PathBuf},
};

/// A file that a command reads; `-` is standard input.
#[derive(Clone, Debug)]
pub(crate) struct Input(PathBuf);

/// A file that a command writes; `-` is standard output.
#[derive(Clone, Debug)]
pub(crate) struct Output(PathBuf);

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

file!(Input, "/dev/stdin");
file!(Output, "/dev/stdout");

/// The files that a command reads and writes. Commands that write none need not list those that they read.
#[derive(Debug, Default)]
pub(crate) struct Files<'a> {
    pub(crate) inputs: Vec<&'a Path>,
    pub(crate) outputs: Vec<&'a Path>,
}

impl Files<'_> {
    /// Refuses an output that is also an input or another output, under the same name or through a link.
    ///
    /// # Errors
    /// [`Failure::Input`] with both names.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        for (index, output) in self.outputs.iter().enumerate() {
            let named = |other: &&&Path| is_same(output, other);
            let clash = match self.inputs.iter().find(named) {
                Some(input) => Some(("the input", input)),
                None => self.outputs[..index].iter().find(named).map(|other| ("the output", other)),
            };
            if let Some((role, other)) = clash {
                let (output, other) = (output.display(), other.display());
                return Err(Failure::Input(format!(
                    "{output}: would replace {role} {other}: choose another file"
                )));
            }
        }
        Ok(())
    }
}

/// Whether two paths lead to the same regular file, or would if they were created. Devices and pipes may occur several times.
fn is_same(left: &Path, right: &Path) -> bool {
    match (fs::metadata(left), fs::metadata(right)) {
        (Ok(a), Ok(b)) => a.is_file() && b.is_file() && same_file::is_same_file(left, right).unwrap_or(false),
        (Err(_), Err(_)) => place(left).is_some_and(|place| Some(place) == self::place(right)),
        _ => false,
    }
}

/// The path of a file that does not exist, in its folder's canonical form. `None` if there is no such folder.
fn place(path: &Path) -> Option<PathBuf> {
    Some(proofmill_circom::folder_of(path).canonicalize().ok()?.join(path.file_name()?))
}
