//! Errors, as `application/problem+json`: the only place that decides on their statuses.

use crate::{coordinator::Trouble, service::ServiceError, store::StoreError};
use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use std::io;
use tonic::Code;

/// After how many seconds a client that was refused for the moment tries again.
const RETRY_AFTER: u32 = 1;

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    pub(super) detail: String,
}

/// An error in the format of RFC 9457.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ProblemBody {
    /// `about:blank`: the status says what kind of error it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status in words.
    pub title: String,
    /// The status code.
    pub status: u16,
    /// What is wrong, and what to do, in one line.
    pub detail: String,
}

impl Problem {
    /// A problem with this status.
    pub(super) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into() }
    }

    /// The request is wrong.
    pub(super) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// The token is missing or wrong: the same answer for both.
    pub(super) fn unauthorized() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "expected the header `Authorization: Bearer SECRET` with a valid token",
        )
    }

    /// The request is larger than allowed.
    pub(super) fn too_large(limit: u64) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is larger than {limit} bytes, which is the most"),
        )
    }

    /// The error as that of a call of gRPC.
    pub(super) fn into_status(self) -> tonic::Status {
        let code = match self.status {
            StatusCode::UNAUTHORIZED => Code::Unauthenticated,
            StatusCode::FORBIDDEN => Code::PermissionDenied,
            StatusCode::SERVICE_UNAVAILABLE => Code::Unavailable,
            _ => Code::InvalidArgument,
        };
        tonic::Status::new(code, self.detail)
    }

    /// The error as JSON.
    pub(super) fn body(&self) -> ProblemBody {
        ProblemBody {
            kind: "about:blank".to_owned(),
            title: self.status.canonical_reason().unwrap_or("Error").to_owned(),
            status: self.status.as_u16(),
            // One line, also where a library's message has more.
            detail: self.detail.replace(['\n', '\r'], " "),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.body()).expect("it is JSON");
        let mut response =
            (self.status, [(header::CONTENT_TYPE, "application/problem+json")], body).into_response();
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            headers.insert(header::RETRY_AFTER, RETRY_AFTER.into());
        }
        response
    }
}

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Invalid(detail) => Self::invalid(detail),
            ServiceError::Forbidden(detail) => Self::new(StatusCode::FORBIDDEN, detail),
            ServiceError::Store(error) => error.into(),
            ServiceError::Io(error) => error.into(),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let status = match &error {
            StoreError::NotFound(_) => StatusCode::NOT_FOUND,
            StoreError::Refused(_) | StoreError::Taken(_) => StatusCode::CONFLICT,
            StoreError::Idempotency(_) => StatusCode::UNPROCESSABLE_ENTITY,
            StoreError::Full { .. } => StatusCode::TOO_MANY_REQUESTS,
            // SQLite's words for a full disk.
            StoreError::Unavailable(problem) if problem.contains("disk is full") => return full_disk(&error),
            StoreError::Unavailable(_) | StoreError::Contended => {
                tracing::error!(%error, "the store does not answer");
                let detail = "the store does not answer: try again later";
                return Self::new(StatusCode::SERVICE_UNAVAILABLE, detail);
            }
            _ => return internal(&error),
        };
        Self::new(status, error.to_string())
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                full_disk(&error)
            }
            io::ErrorKind::NotFound => {
                tracing::error!(%error, "an object is missing");
                Self::new(StatusCode::NOT_FOUND, "its file is not there any more")
            }
            _ => {
                tracing::error!(%error, "objects or staging do not answer");
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "the objects do not answer: try again later")
            }
        }
    }
}

impl From<Trouble> for Problem {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Lost(detail) => Self::new(StatusCode::CONFLICT, detail),
            Trouble::Denied(detail) => Self::new(StatusCode::FORBIDDEN, detail),
            Trouble::Refused(detail) => Self::invalid(detail),
            Trouble::Unavailable(error) => {
                tracing::error!(%error, "cannot answer a worker");
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "the service cannot do this now: try again later")
            }
        }
    }
}

fn full_disk(error: &dyn std::fmt::Display) -> Problem {
    tracing::error!(%error, "the disk is full");
    Problem::new(StatusCode::INSUFFICIENT_STORAGE, "the service's disk is full")
}

fn internal(error: &dyn std::fmt::Display) -> Problem {
    tracing::error!(%error, "cannot answer");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the service has an error; its log says which")
}

/// Answers requests to paths that there are not.
pub(super) async fn not_found() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "there is no such path: /openapi.json lists all")
}

/// Answers requests with a method that the path does not have.
pub(super) async fn method_not_allowed() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "the path has no such method: /openapi.json lists all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_apart() {
        let of_disk = io::Error::from(io::ErrorKind::StorageFull);
        assert_eq!(Problem::from(of_disk).status, StatusCode::INSUFFICIENT_STORAGE);
        let of_store = StoreError::Unavailable("SQLite: database or disk is full".to_owned());
        assert_eq!(Problem::from(of_store).status, StatusCode::INSUFFICIENT_STORAGE);
        let away = StoreError::Unavailable("secret://place".to_owned());
        let problem = Problem::from(away);
        assert_eq!(problem.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(!problem.detail.contains("secret"), "{problem}");
        let away = Problem::from(io::Error::other("/secret/place"));
        assert!(!away.detail.contains("secret"), "{away}");
    }
}
