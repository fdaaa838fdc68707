//! Arguments that are a path, the content of a file, or an object that was made from one.

use proofmill::Result;
use pyo3::{exceptions::PyTypeError, prelude::*, types::PyBytes};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// The types that are read from files.
pub(crate) trait Opens: Sized + Send + Sync + 'static {
    /// The name of the Python class.
    const CLASS: &'static str;
    fn open(path: &Path) -> Result<Self>;
    fn from_bytes(bytes: Vec<u8>) -> Result<Self>;
    /// The value of an object of the Python class.
    fn of(object: &Bound<'_, PyAny>) -> Option<Arc<Self>>;
}

/// Implements [`Opens`] for a type and its Python class, whose first field is an [`Arc`] of it.
macro_rules! opens {
    ($type:ty, $class:ident, |$bytes:ident| $from_bytes:expr) => {
        impl $crate::source::Opens for $type {
            const CLASS: &'static str = stringify!($class);

            fn open(path: &std::path::Path) -> proofmill::Result<Self> {
                <$type>::open(path)
            }

            fn from_bytes($bytes: Vec<u8>) -> proofmill::Result<Self> {
                $from_bytes
            }

            fn of(object: &pyo3::Bound<'_, pyo3::PyAny>) -> Option<std::sync::Arc<Self>> {
                Some(object.cast::<$class>().ok()?.get().0.clone())
            }
        }
    };
}

pub(crate) use opens;

/// An argument of this kind; it is opened without the GIL.
pub(crate) enum Source<T> {
    Object(Arc<T>),
    Path(PathBuf),
    Bytes(Vec<u8>),
}

impl<T: Opens> Source<T> {
    /// # Errors
    /// `TypeError` that names the argument.
    pub(crate) fn new(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Some(value) = T::of(object) {
            return Ok(Self::Object(value));
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.as_bytes().to_vec()));
        }
        object.extract().map(Self::Path).map_err(|_| {
            let found = object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
            PyTypeError::new_err(format!("{name}: expected a path, bytes or a {}, found {found}", T::CLASS))
        })
    }

    pub(crate) fn open(self) -> Result<Arc<T>> {
        match self {
            Self::Object(value) => Ok(value),
            Self::Path(path) => T::open(&path).map(Arc::new),
            Self::Bytes(bytes) => T::from_bytes(bytes).map(Arc::new),
        }
    }
}
