//! The routes for workers on other machines: the methods of
//! [`Coordinator`].

use super::{
    body::{Chunks, to_file},
    face::{Face, Stage},
    identities::Caller,
    problem::{Problem, ProblemBody, ProblemKind},
    reply::{self, Checked},
};
use crate::{
    access::Scope,
    coordinator::{Coordinator, MOST_SMALL, PROTOCOL, WorkerFacts},
    store::{ClaimOutcome, Want, Worked},
};
use axum::{
    Json,
    extract::{Path, Request, State as Shared},
    http::StatusCode,
    response::Response,
};
use proofmill_job::{TaskInput, TaskOutput};
use serde::{Deserialize, Serialize};
use std::{io, time::Duration};

/// The most characters of a worker's id, and of a text that it reports.
const MOST_ID: usize = 128;
const MOST_TEXT: usize = 4096;

/// The jobs that a worker can take, and how long it waits for one.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ClaimRequest {
    /// The version of the worker's protocol: the server's, or it is refused.
    pub protocol: u32,
    /// The jobs that it can take.
    pub want: Want,
    /// How long it waits if there is no job, in milliseconds.
    pub wait_ms: u64,
}

/// The next job for a worker.
#[utoipa::path(post, path = "/v1/work/claim", tag = "work", request_body = ClaimRequest, responses(
    (status = 200, description = "A job, or why there is none", body = ClaimOutcome),
    (status = 403, description = "The worker is another version", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn claim(
    Shared(face): Shared<Face>,
    caller: Caller,
    request: Request,
) -> Result<Json<ClaimOutcome>, Problem> {
    caller.require(Scope::Work)?;
    let request: serde_json::Value = reply::json(&face, &caller, request).await?;
    check_protocol(&request)?;
    let ClaimRequest { want, wait_ms, .. } =
        serde_json::from_value(request).map_err(|error| Problem::invalid(format!("the body: {error}")))?;
    check_worker(&want.worker)?;
    let wait = Duration::from_millis(wait_ms).min(face.options.longest_wait);
    if face.has_reached(Stage::Draining) {
        return Ok(Json(ClaimOutcome::Empty));
    }
    // A claim that is dropped gives back the job that it may just have got.
    Ok(Json(tokio::select! {
        claim = face.service.claim(want, wait) => claim?,
        () = face.reaches(Stage::Draining) => ClaimOutcome::Empty,
    }))
}

/// Refuses a worker of another version before anything else of its request is read.
fn check_protocol(request: &serde_json::Value) -> Result<(), Problem> {
    let found = match request.get("protocol").and_then(serde_json::Value::as_u64) {
        Some(protocol) if protocol == u64::from(PROTOCOL) => return Ok(()),
        Some(protocol) => format!("protocol {protocol}"),
        None => "none".to_owned(),
    };
    let version = env!("CARGO_PKG_VERSION");
    Err(Problem::new(
        ProblemKind::Forbidden,
        format!(
            "this server is Proofmill {version} with protocol {PROTOCOL} for workers, the worker has {found}: install the server's version of Proofmill on the worker's machine"
        ),
    ))
}

fn check_worker(id: &str) -> Result<(), Problem> {
    let is_id = (1..=MOST_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    if is_id { Ok(()) } else { Err(Problem::invalid("a worker's id has 1 to 128 visible ASCII characters")) }
}

/// A worker's report on a job that it has claimed.
#[utoipa::path(post, path = "/v1/work/jobs/{id}/{fence}/report", tag = "work",
    params(("id" = String, Path), ("fence" = u64, Path, description = "Of its claim")), request_body = Worked, responses(
    (status = 204, description = "Noted"),
    (status = 409, description = "The worker no longer has the job", body = ProblemBody, content_type = "application/problem+json"),
    (status = 413, description = "An output is too large for a report", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn report(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path((id, fence))): Checked<Path<(String, u64)>>,
    request: Request,
) -> Result<StatusCode, Problem> {
    caller.require(Scope::Work)?;
    let worked = match reply::json(&face, &caller, request).await? {
        Worked::Beat { lease_ms, phase } => Worked::Beat { lease_ms, phase: phase.map(bounded) },
        Worked::Failed(message) => Worked::Failed(bounded(message)),
        Worked::Lost { message, pause_ms } => Worked::Lost { message: bounded(message), pause_ms },
        Worked::Finished { outputs, .. }
            if outputs.values().any(|output| output.get().len() > MOST_SMALL) =>
        {
            return Err(Problem::too_large(MOST_SMALL as u64));
        }
        worked => worked,
    };
    face.service.report(&id, fence, worked).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The text up to a bounded length.
fn bounded(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MOST_TEXT));
    text
}

/// An input of a job that the worker has claimed.
#[utoipa::path(get, path = "/v1/work/jobs/{id}/{fence}/inputs/{input}", tag = "work",
    params(("id" = String, Path), ("fence" = u64, Path), ("input" = TaskInput, Path)), responses(
    (status = 200, description = "Its content", body = Vec<u8>, content_type = "application/octet-stream"),
    (status = 409, description = "The worker no longer has the job", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn input(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path((id, fence, input))): Checked<Path<(String, u64, TaskInput)>>,
) -> Result<Response, Problem> {
    caller.require(Scope::Work)?;
    let (bytes, content) = face.service.open_input(&id, fence, input).await?;
    Ok(reply::file(bytes, content, "application/octet-stream"))
}

/// A key's file.
#[utoipa::path(get, path = "/v1/work/keys/{digest}", tag = "work", params(("digest" = String, Path)), responses(
    (status = 200, description = "Its content", body = Vec<u8>, content_type = "application/octet-stream"),
    (status = 404, description = "No such key", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn key(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path(digest)): Checked<Path<String>>,
) -> Result<Response, Problem> {
    caller.require(Scope::Work)?;
    let opened = face.service.open_key(&digest).await;
    let missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    if opened.as_ref().is_err_and(missing) {
        return Err(Problem::new(ProblemKind::NotFound, "there is no such key"));
    }
    let (bytes, content) = opened?;
    Ok(reply::file(bytes, content, "application/octet-stream"))
}

/// Stores an output of a job that the worker has claimed.
#[utoipa::path(put, path = "/v1/work/jobs/{id}/{fence}/outputs/{output}", tag = "work",
    params(("id" = String, Path), ("fence" = u64, Path), ("output" = TaskOutput, Path)),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"), responses(
    (status = 204, description = "Stored"),
    (status = 409, description = "The worker no longer has the job", body = ProblemBody, content_type = "application/problem+json"),
    (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn output(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path((id, fence, output))): Checked<Path<(String, u64, TaskOutput)>>,
    request: Request,
) -> Result<StatusCode, Problem> {
    caller.require(Scope::Work)?;
    face.service.expect_fence(&id, fence).await?;
    let limits = face.options.bodies;
    let chunks = Chunks::new(request.into_body(), limits, limits.most_inputs);
    let quota = face.quotas.start(&caller.identity.token);
    let written = to_file(chunks, face.service.staging(), quota).await?;
    face.service.store_output(&id, fence, output, written.file).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Says that a worker is there.
#[utoipa::path(put, path = "/v1/work/workers/{id}", tag = "work", params(("id" = String, Path, pattern = "^[!-~]{1,128}$")), request_body = WorkerFacts, responses(
    (status = 204, description = "Noted"),
))]
pub(super) async fn see(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path(id)): Checked<Path<String>>,
    request: Request,
) -> Result<StatusCode, Problem> {
    caller.require(Scope::Work)?;
    check_worker(&id)?;
    let facts: WorkerFacts = reply::json(&face, &caller, request).await?;
    face.service.see(&id, &facts).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Says that a worker ends.
#[utoipa::path(delete, path = "/v1/work/workers/{id}", tag = "work", params(("id" = String, Path, pattern = "^[!-~]{1,128}$")), responses(
    (status = 204, description = "Forgotten"),
))]
pub(super) async fn leave(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path(id)): Checked<Path<String>>,
) -> Result<StatusCode, Problem> {
    caller.require(Scope::Work)?;
    face.service.leave(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}
