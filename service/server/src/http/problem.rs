//! Errors, as `application/problem+json` or as statuses of gRPC: the only place that decides on both.

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
pub(crate) struct Problem {
    pub(crate) kind: ProblemKind,
    pub(crate) detail: String,
}

/// The kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    /// The request is wrong.
    Invalid,
    /// The token is missing or wrong.
    Unauthorized,
    /// The token does not allow this.
    Forbidden,
    /// It is not there, or is another token's.
    NotFound,
    /// The path has no such method.
    NoMethod,
    /// The body comes too slowly.
    TooSlow,
    /// The present state does not permit it.
    Conflict,
    /// The body or the answer is too large.
    TooLarge,
    /// The body's media type is not known.
    MediaType,
    /// The request is for another host.
    OtherHost,
    /// The idempotency key was used for another submission.
    OtherSubmission,
    /// The token, or the queue, has as much as it may have for now.
    TooMany,
    /// The service has an error.
    Internal,
    /// The service cannot answer now.
    Unavailable,
    /// The disk is full.
    DiskFull,
}

impl ProblemKind {
    /// The status of HTTP, and that of a call of gRPC.
    fn statuses(self) -> (StatusCode, Code) {
        match self {
            Self::Invalid => (StatusCode::BAD_REQUEST, Code::InvalidArgument),
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, Code::Unauthenticated),
            Self::Forbidden => (StatusCode::FORBIDDEN, Code::PermissionDenied),
            Self::NotFound => (StatusCode::NOT_FOUND, Code::NotFound),
            Self::NoMethod => (StatusCode::METHOD_NOT_ALLOWED, Code::Unimplemented),
            Self::TooSlow => (StatusCode::REQUEST_TIMEOUT, Code::DeadlineExceeded),
            Self::Conflict => (StatusCode::CONFLICT, Code::FailedPrecondition),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, Code::OutOfRange),
            Self::MediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::InvalidArgument),
            Self::OtherHost => (StatusCode::MISDIRECTED_REQUEST, Code::InvalidArgument),
            Self::OtherSubmission => (StatusCode::UNPROCESSABLE_ENTITY, Code::AlreadyExists),
            Self::TooMany => (StatusCode::TOO_MANY_REQUESTS, Code::ResourceExhausted),
            Self::Internal => (StatusCode::INTERNAL_SERVER_ERROR, Code::Internal),
            Self::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, Code::Unavailable),
            Self::DiskFull => (StatusCode::INSUFFICIENT_STORAGE, Code::ResourceExhausted),
        }
    }
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
    /// A problem of this kind.
    pub(crate) fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }

    /// The request is wrong.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(ProblemKind::Invalid, detail)
    }

    /// The token is missing or wrong: the same answer for both.
    pub(crate) fn unauthorized() -> Self {
        Self::new(
            ProblemKind::Unauthorized,
            "expected the header `Authorization: Bearer SECRET` with a valid token",
        )
    }

    /// The request is larger than allowed.
    pub(crate) fn too_large(limit: u64) -> Self {
        Self::new(ProblemKind::TooLarge, format!("the body is larger than {limit} bytes, which is the most"))
    }

    /// The status of HTTP.
    pub(super) fn status(&self) -> StatusCode {
        self.kind.statuses().0
    }

    /// The error as JSON.
    pub(super) fn body(&self) -> ProblemBody {
        let status = self.status();
        ProblemBody {
            kind: "about:blank".to_owned(),
            title: status.canonical_reason().unwrap_or("Error").to_owned(),
            status: status.as_u16(),
            // One line, also where a library's message has more.
            detail: self.detail.replace(['\n', '\r'], " "),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.body()).expect("it is JSON");
        let mut response =
            (self.status(), [(header::CONTENT_TYPE, "application/problem+json")], body).into_response();
        let headers = response.headers_mut();
        if self.kind == ProblemKind::Unauthorized {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if matches!(self.kind, ProblemKind::TooMany | ProblemKind::Unavailable) {
            headers.insert(header::RETRY_AFTER, RETRY_AFTER.into());
        }
        response
    }
}

impl From<Problem> for tonic::Status {
    fn from(problem: Problem) -> Self {
        Self::new(problem.kind.statuses().1, problem.detail)
    }
}

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Invalid(detail) => Self::invalid(detail),
            ServiceError::Forbidden(detail) => Self::new(ProblemKind::Forbidden, detail),
            ServiceError::Store(error) => error.into(),
            ServiceError::Io(error) => error.into(),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let kind = match &error {
            StoreError::NotFound(_) => ProblemKind::NotFound,
            StoreError::Refused(_) | StoreError::Taken(_) => ProblemKind::Conflict,
            StoreError::Idempotency(_) => ProblemKind::OtherSubmission,
            StoreError::Full { .. } => ProblemKind::TooMany,
            StoreError::Stored(_) => ProblemKind::DiskFull,
            // SQLite's words for a full disk.
            StoreError::Unavailable(problem) if problem.contains("disk is full") => return full_disk(&error),
            StoreError::Unavailable(_) | StoreError::Contended | StoreError::Ended => {
                tracing::error!(%error, "the store does not answer");
                let detail = "the store does not answer: try again later";
                return Self::new(ProblemKind::Unavailable, detail);
            }
            _ => return internal(&error),
        };
        Self::new(kind, error.to_string())
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
                Self::new(ProblemKind::NotFound, "its file is not there any more")
            }
            _ => {
                tracing::error!(%error, "objects or staging do not answer");
                Self::new(ProblemKind::Unavailable, "the objects do not answer: try again later")
            }
        }
    }
}

impl From<Trouble> for Problem {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Lost(detail) => Self::new(ProblemKind::Conflict, detail),
            Trouble::Denied(detail) => Self::new(ProblemKind::Forbidden, detail),
            Trouble::Refused(detail) => Self::invalid(detail),
            Trouble::Unavailable(error) => {
                tracing::error!(%error, "cannot answer a worker");
                Self::new(ProblemKind::Unavailable, "the service cannot do this now: try again later")
            }
        }
    }
}

fn full_disk(error: &dyn std::fmt::Display) -> Problem {
    tracing::error!(%error, "the disk is full");
    Problem::new(ProblemKind::DiskFull, "the service's disk is full")
}

fn internal(error: &dyn std::fmt::Display) -> Problem {
    tracing::error!(%error, "cannot answer");
    Problem::new(ProblemKind::Internal, "the service has an error; its log says which")
}

/// Answers requests to unknown paths.
pub(super) async fn not_found() -> Problem {
    Problem::new(ProblemKind::NotFound, "there is no such path: /openapi.json lists all")
}

/// Answers requests with a method that the path does not have.
pub(super) async fn method_not_allowed() -> Problem {
    Problem::new(ProblemKind::NoMethod, "the path has no such method: /openapi.json lists all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_apart() {
        let of_disk = io::Error::from(io::ErrorKind::StorageFull);
        assert_eq!(Problem::from(of_disk).kind, ProblemKind::DiskFull);
        let of_store = StoreError::Unavailable("SQLite: database or disk is full".to_owned());
        assert_eq!(Problem::from(of_store).kind, ProblemKind::DiskFull);
        let away = StoreError::Unavailable("secret://place".to_owned());
        let problem = Problem::from(away);
        assert_eq!(problem.kind, ProblemKind::Unavailable);
        assert!(!problem.detail.contains("secret"), "{problem}");
        let away = Problem::from(io::Error::other("/secret/place"));
        assert!(!away.detail.contains("secret"), "{away}");
    }
}
