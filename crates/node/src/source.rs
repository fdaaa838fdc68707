//! Arguments that are a path or the content of a file, and files to write.

use napi::bindgen_prelude::{Either, Uint8Array};
use proofmill::Result;
use std::{borrow::Cow, fs, path::PathBuf};

/// A file to read. JavaScript can change its bytes while other threads work, so they are copied.
pub(crate) enum Source {
    Path(PathBuf),
    Bytes(Vec<u8>),
}

impl From<Either<String, Uint8Array>> for Source {
    fn from(argument: Either<String, Uint8Array>) -> Self {
        match argument {
            Either::A(path) => Self::Path(path.into()),
            Either::B(bytes) => Self::Bytes(bytes.to_vec()),
        }
    }
}

impl Source {
    /// Its bytes.
    pub(crate) fn bytes(&self) -> std::io::Result<Cow<'_, [u8]>> {
        Ok(match self {
            Self::Path(path) => fs::read(path)?.into(),
            Self::Bytes(bytes) => bytes.into(),
        })
    }

    pub(crate) fn open<T>(
        self,
        open: impl FnOnce(PathBuf) -> Result<T>,
        from_bytes: impl FnOnce(Vec<u8>) -> Result<T>,
    ) -> Result<T> {
        match self {
            Self::Path(path) => open(path),
            Self::Bytes(bytes) => from_bytes(bytes),
        }
    }
}
