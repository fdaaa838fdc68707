//! Whether the process lives, and whether it can serve.

use super::{
    face::{Face, Stage},
    problem::{Problem, ProblemBody, ProblemKind},
};
use axum::extract::State as Shared;

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
    if !face.has_reached(Stage::Draining) && face.is_ready().await {
        return Ok("ok\n");
    }
    // Strangers may ask: no details.
    Err(Problem::new(ProblemKind::Unavailable, "not ready"))
}
