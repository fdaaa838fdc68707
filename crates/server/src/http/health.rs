//! Whether the process lives, and whether it can serve.

use super::{
    face::{Face, Stage},
    problem::{Problem, ProblemBody},
};
use axum::{extract::State as Shared, http::StatusCode};
use std::time::Duration;

/// How long the store and the objects may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The process lives.
#[utoipa::path(get, path = "/healthz", tag = "health", security(()), responses(
    (status = 200, description = "The process lives", body = String, content_type = "text/plain"),
))]
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// The service can serve: its store and objects answer, and it does not shut down.
#[utoipa::path(get, path = "/readyz", tag = "health", security(()), responses(
    (status = 200, description = "The service can serve", body = String, content_type = "text/plain"),
    (status = 503, description = "It cannot", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn readyz(Shared(face): Shared<Face>) -> Result<&'static str, Problem> {
    // Who asks may be a stranger: no details.
    let not_ready = || Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not ready");
    if face.has_reached(Stage::Draining) {
        return Err(not_ready());
    }
    match tokio::time::timeout(PATIENCE, face.service.check()).await {
        Ok(Ok(())) => Ok("ok\n"),
        Ok(Err(error)) => {
            tracing::error!(%error, "not ready");
            Err(not_ready())
        }
        Err(_) => {
            tracing::error!("not ready: the store or the objects do not answer");
            Err(not_ready())
        }
    }
}
