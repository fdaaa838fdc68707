//! The reason why the service does not do something.

use crate::store::StoreError;
use std::io;

/// The reason why the service does not do something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// The request is wrong: the same one is refused again.
    #[error("{0}")]
    Invalid(String),
    /// The token does not allow this.
    #[error("{0}")]
    Forbidden(String),
    /// From the store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// From the objects.
    #[error("{0}")]
    Io(#[from] io::Error),
}
