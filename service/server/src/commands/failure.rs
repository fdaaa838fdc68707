//! Why a command failed.

use proofmill_server::{client::ClientError, service::ServiceError, store::StoreError};
use std::{fmt::Display, io, path::Path, process::ExitCode};

/// Why a command failed, in one line.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandFailure {
    /// The job was not done.
    #[error("{0}")]
    Rejected(String),
    /// Wrong input, or a service that cannot do what was asked.
    #[error("{0}")]
    Input(String),
}

impl CommandFailure {
    /// A failure about a file: its message begins with the path.
    pub(super) fn about(path: &Path, problem: impl Display) -> Self {
        Self::Input(format!("{}: {problem}", path.display()))
    }

    /// 1 for a job that was not done, 2 for anything else.
    pub(super) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Rejected(_) => ExitCode::from(1),
            Self::Input(_) => ExitCode::from(2),
        }
    }
}

impl From<ClientError> for CommandFailure {
    fn from(error: ClientError) -> Self {
        match &error {
            ClientError::Unreachable(_) => Self::Input(format!(
                "{error}: is `proofmill serve` running there? --server names another server"
            )),
            error if error.status() == Some(401) => {
                Self::Input("the service does not know the token: --token-file names another one".to_owned())
            }
            _ => Self::Input(error.to_string()),
        }
    }
}

impl From<StoreError> for CommandFailure {
    fn from(error: StoreError) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<ServiceError> for CommandFailure {
    fn from(error: ServiceError) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<io::Error> for CommandFailure {
    fn from(error: io::Error) -> Self {
        Self::Input(error.to_string())
    }
}
