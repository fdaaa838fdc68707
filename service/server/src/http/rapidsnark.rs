//! The routes of rapidsnark's proverServer. A second input is queued instead of aborting the first; each token sees its own last job.
//!
//! The circuit `NAME` stands for the token's key `NAME` and its program `NAME.wasm` (or a graph under that name).

use super::{
    body::{Chunks, RequestMemory, to_file},
    face::Face,
    identities::Caller,
    problem::{Problem, ProblemBody, ProblemKind},
    receive::Incoming,
    reply::Checked,
};
use crate::{
    access::Scope,
    service::Submission,
    state::JobState,
    store::{JobQuery, JobRecord},
};
use axum::{
    Extension, Json,
    extract::{Path, Request, State as Shared},
    http::StatusCode,
};
use proofmill_job::{Task, TaskInput, TaskOutput};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;

/// How many jobs of the token are looked at for one that came through these routes or could have.
const LOOKED_AT: u32 = 100;
/// The most bytes of a proof or of public signals in a status.
const MOST_OUTPUT: u64 = 8 << 20;

/// The status of the token's last job, as proverServer reports that of its only job.
#[derive(Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub(super) struct Status {
    /// `ready`, `busy`, `success`, `failed` or `aborted`.
    status: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The proof, as JSON in a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
    /// The public signals, as JSON in a text.
    #[serde(rename = "pubData", skip_serializing_if = "Option::is_none")]
    public: Option<String>,
}

/// Queues a proof for a circuit from its `input.json`.
#[utoipa::path(post, path = "/input/{circuit}", tag = "proverServer", params(("circuit" = String, Path, description = "The key's name; its program is called `CIRCUIT.wasm`")),
    request_body(content = serde_json::Value, content_type = "application/json"), responses(
    (status = 200, description = "The proof is queued"),
    (status = 404, description = "No such key", body = ProblemBody, content_type = "application/problem+json"),
    (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
    (status = 429, description = "Too many jobs wait", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn input(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path(circuit)): Checked<Path<String>>,
    request: Request,
) -> Result<StatusCode, Problem> {
    caller.require(Scope::Submit)?;
    let limits = face.options.bodies;
    let chunks = Chunks::new(request.into_body(), limits, limits.most_inputs);
    face.service.staging().check_space()?;
    let quota = face.quotas.start(&caller.identity.token);
    let written = to_file(chunks, face.service.staging(), quota).await?;
    let task = Task::Prove { program: Some(format!("{circuit}.wasm")), key: circuit };
    let submission = Submission { task, priority: 0, expires_in_s: None, timeout_s: None, attempts: None };
    Incoming::new(submission, vec![(TaskInput::Signals, written)]).submit(&face, &caller).await?;
    Ok(StatusCode::OK)
}

/// The token's last proof.
#[utoipa::path(get, path = "/status", tag = "proverServer", responses(
    (status = 200, description = "Its status", body = Status),
))]
pub(super) async fn status(
    Shared(face): Shared<Face>,
    caller: Caller,
) -> Result<(Extension<RequestMemory>, Json<Status>), Problem> {
    caller.require(Scope::Submit)?;
    let memory = RequestMemory::new(face.memory.start(&caller.identity.token));
    let Some(job) = last(&face, &caller).await? else {
        return Ok((Extension(memory), Json(of_state("ready"))));
    };
    let status = match job.progress.state {
        JobState::Queued | JobState::Running => of_state("busy"),
        JobState::Cancelled => of_state("aborted"),
        JobState::Done => Status {
            proof: Some(output(&face, &caller, &memory, &job, TaskOutput::Proof).await?),
            public: Some(output(&face, &caller, &memory, &job, TaskOutput::Public).await?),
            ..of_state("success")
        },
        JobState::Failed | JobState::Dead | JobState::Expired => {
            let error = job.error.unwrap_or_else(|| format!("the job is {}", job.progress.state.name()));
            Status { error: Some(error), ..of_state("failed") }
        }
    };
    Ok((Extension(memory), Json(status)))
}

/// Cancels the token's last proof, if it has not ended.
#[utoipa::path(post, path = "/cancel", tag = "proverServer", responses(
    (status = 200, description = "It is cancelled, or there was nothing to cancel"),
))]
pub(super) async fn cancel(Shared(face): Shared<Face>, caller: Caller) -> Result<StatusCode, Problem> {
    caller.require(Scope::Submit)?;
    let running = last(&face, &caller).await?.filter(|job| !job.progress.state.has_ended());
    if let Some(job) = running {
        match face.service.cancel(&caller.identity, &job.id).await.map_err(Problem::from) {
            // It has ended meanwhile.
            Err(problem) if problem.kind == ProblemKind::Conflict => {}
            answer => drop(answer?),
        }
    }
    Ok(StatusCode::OK)
}

fn of_state(status: &str) -> Status {
    Status { status: status.to_owned(), ..Status::default() }
}

/// The token's last job that proves from a circuit's inputs.
async fn last(face: &Face, caller: &Caller) -> Result<Option<JobRecord>, Problem> {
    let owner = Some(caller.identity.token.clone());
    let page = JobQuery { owner, state: None, before: None, limit: LOOKED_AT };
    let jobs = face.service.store().jobs(page).await?;
    Ok(jobs.into_iter().find(|job| matches!(job.task, Task::Prove { program: Some(_), .. })))
}

async fn output(
    face: &Face,
    caller: &Caller,
    memory: &RequestMemory,
    job: &JobRecord,
    output: TaskOutput,
) -> Result<String, Problem> {
    let (_, bytes, content) = face.service.output(&caller.identity, &job.id, output).await?;
    if bytes > MOST_OUTPUT {
        let path = format!("/v1/jobs/{}/{}", job.id, output.name());
        return Err(Problem::new(ProblemKind::TooLarge, format!("the output is too large here: GET {path}")));
    }
    // The output is in memory twice: as text and as JSON.
    memory.add(2 * bytes)?;
    let mut text = String::new();
    content.take(MOST_OUTPUT).read_to_string(&mut text).await?;
    Ok(text)
}
