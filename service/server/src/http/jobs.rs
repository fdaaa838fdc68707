//! Jobs: submit, see, wait, cancel, retry, take the results.

use super::{
    body::Chunks,
    face::Face,
    identities::Caller,
    problem::{Problem, ProblemBody},
    receive::{self, JobForm, JobRequest},
    reply::{self, Checked},
};
use crate::{
    access::Scope,
    service::{JobView, ServiceError},
    state::JobState,
    store::{JobRecord, StoreError},
};
use axum::{
    Json,
    extract::{Path, Query, Request, State as Shared},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use proofmill_job::TaskOutput;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The most jobs of a page.
const MOST_OF_PAGE: u32 = 1000;

/// A page of jobs, the last submitted first.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct JobsPage {
    /// The jobs.
    pub jobs: Vec<JobView>,
    /// The `cursor` of the next page, if there is one.
    pub next: Option<String>,
}

/// The answer to one job of a batch.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BatchAnswer {
    /// The status that the job alone would have been answered with.
    pub status: u16,
    /// The job, if it was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<JobView>,
    /// The reason why it was not accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<ProblemBody>,
}

/// Selects the jobs of a list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Filter {
    /// Only jobs in this state.
    state: Option<JobState>,
    /// The `next` of the page before.
    cursor: Option<String>,
    /// The most jobs, by default 100.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// How long to wait.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Wait {
    /// For how many seconds the answer waits for the job's end; the server has a limit.
    wait: Option<u64>,
}

/// Submits a job.
///
/// It is durable before the answer is sent. With an idempotency key, the same submission is accepted once: a repetition is answered with the
/// same job.
#[utoipa::path(
    post, path = "/v1/jobs", tag = "jobs",
    request_body(content((JobRequest = "application/json"), (JobForm = "multipart/form-data"))),
    params(
        ("Idempotency-Key" = Option<String>, Header, pattern = "^[!-~]{1,255}$", description = "The caller's name of this submission"),
        ("Prefer" = Option<String>, Header, description = "`wait=N`: the answer waits up to N seconds for the job's end"),
    ),
    responses(
        (status = 200, description = "The job has ended within the preferred wait, or was submitted before", body = JobView),
        (status = 202, description = "The job is accepted", body = JobView,
            headers(("Location" = String, description = "The job"), ("Preference-Applied" = String, description = "`wait=N`"))),
        (status = 404, description = "A key is not there", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 415, description = "Neither JSON nor a form", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "The idempotency key was used for another submission", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many jobs wait", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn submit(
    Shared(face): Shared<Face>,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    caller.require(Scope::Submit)?;
    let wait = reply::preferred_wait(request.headers());
    let incoming = receive::job(&face, &caller, request).await?;
    let (mut job, is_new) = incoming.submit(&face, &caller).await?;
    let mut status = if is_new { StatusCode::ACCEPTED } else { StatusCode::OK };
    let mut headers = HeaderMap::new();
    if let Some(seconds) = wait {
        let seconds = seconds.min(face.options.longest_wait.as_secs());
        job = face.wait(&caller, &job.id, Duration::from_secs(seconds), has_ended).await?;
        if job.progress.state.has_ended() {
            status = StatusCode::OK;
        }
        headers.insert("preference-applied", header_value(format!("wait={seconds}")));
    }
    headers.insert(header::LOCATION, header_value(format!("/v1/jobs/{}", job.id)));
    Ok((status, headers, Json(face.service.view(job).await?)).into_response())
}

fn header_value(text: String) -> HeaderValue {
    HeaderValue::try_from(text).expect("it is ASCII")
}

fn has_ended(job: &JobRecord) -> bool {
    job.progress.state.has_ended()
}

/// Submits many jobs, each accepted or refused on its own.
#[utoipa::path(
    post, path = "/v1/jobs/batch", tag = "jobs",
    request_body = Vec<JobRequest>,
    params(
        ("Idempotency-Key" = Option<String>, Header, pattern = "^[!-~]{1,240}$",
            description = "The caller's name of this batch: jobs without a name of their own get it with their place, as in `NAME.0`"),
    ),
    responses(
        (status = 200, description = "An answer for each job, in order", body = Vec<BatchAnswer>),
        (status = 413, description = "Too large, or too many jobs", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn submit_batch(
    Shared(face): Shared<Face>,
    caller: Caller,
    request: Request,
) -> Result<Json<Vec<BatchAnswer>>, Problem> {
    caller.require(Scope::Submit)?;
    let limits = face.options.bodies;
    let name = reply::text(request.headers(), "idempotency-key")?.map(str::to_owned);
    receive::check_key(name.as_deref())?;
    let memory = face.memory.start(&caller.identity.token);
    let body = Chunks::new(request.into_body(), limits, limits.most_batch).bytes(memory).await?;
    let jobs = receive::split(&body, face.options.most_batch_jobs)?;
    let mut answers: Vec<Result<(JobRecord, bool), Option<Problem>>> = Vec::with_capacity(jobs.len());
    let (mut accepted, mut quotas) = (Vec::new(), Vec::new());
    for (place, job) in jobs.into_iter().enumerate() {
        let job = job.get().as_bytes();
        let parsed = if job.len() as u64 > limits.most_json {
            Err(Problem::too_large(limits.most_json))
        } else {
            receive::parse(&face, &caller, job).await
        };
        let checked = parsed.and_then(|mut incoming| {
            let key = incoming.received.idempotency_key.take();
            let key = key.or_else(|| Some(format!("{}.{place}", name.as_ref()?)));
            incoming.set_key(key).map(|()| incoming)
        });
        match checked {
            Ok(mut incoming) => {
                accepted.push(incoming.received);
                quotas.append(&mut incoming.quotas);
                answers.push(Err(None));
            }
            Err(problem) => answers.push(Err(Some(problem))),
        }
    }
    let held = (quotas, caller.clone());
    let mut submitted = face.service.submit(&caller.identity, accepted, held).await?.into_iter();
    let answer = |answer| match answer {
        Err(None) => submitted.next().expect("an answer for each job").map_err(Problem::from),
        Err(Some(problem)) => Err(problem),
        Ok(job) => Ok(job),
    };
    Ok(Json(answers.into_iter().map(answer).map(BatchAnswer::from).collect()))
}

impl From<Result<(JobRecord, bool), Problem>> for BatchAnswer {
    fn from(answer: Result<(JobRecord, bool), Problem>) -> Self {
        match answer {
            Ok((job, is_new)) => {
                Self { status: if is_new { 202 } else { 200 }, job: Some(job.into()), problem: None }
            }
            Err(problem) => {
                Self { status: problem.status().as_u16(), job: None, problem: Some(problem.body()) }
            }
        }
    }
}

/// Lists jobs, the last submitted first.
#[utoipa::path(get, path = "/v1/jobs", tag = "jobs", params(Filter), responses(
    (status = 200, description = "A page of jobs", body = JobsPage),
))]
pub(super) async fn list(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Query(Filter { state, cursor, limit })): Checked<Query<Filter>>,
) -> Result<Json<JobsPage>, Problem> {
    caller.require(Scope::Submit)?;
    let limit = limit.unwrap_or(100);
    if !(1..=MOST_OF_PAGE).contains(&limit) {
        return Err(Problem::invalid(format!("limit: expected 1 to {MOST_OF_PAGE}")));
    }
    let jobs = face.service.jobs(&caller.identity, state, cursor, limit + 1).await;
    let mut jobs = jobs.map_err(|error| match error {
        ServiceError::Store(StoreError::NotFound(_)) => {
            Problem::invalid("cursor: expected the `next` of a page")
        }
        error => error.into(),
    })?;
    let has_more = jobs.len() > limit as usize;
    jobs.truncate(limit as usize);
    let next = jobs.last().filter(|_| has_more).map(|job| job.id.clone());
    Ok(Json(JobsPage { jobs: jobs.into_iter().map(JobView::from).collect(), next }))
}

/// A job, at once or when it has ended.
#[utoipa::path(get, path = "/v1/jobs/{id}", tag = "jobs", params(("id" = String, Path), Wait), responses(
    (status = 200, description = "The job", body = JobView),
    (status = 404, description = "No such job", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn show(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path(id)): Checked<Path<String>>,
    Checked(Query(Wait { wait })): Checked<Query<Wait>>,
) -> Result<Json<JobView>, Problem> {
    caller.require(Scope::Submit)?;
    let job = face.wait(&caller, &id, Duration::from_secs(wait.unwrap_or(0)), has_ended).await?;
    Ok(Json(face.service.view(job).await?))
}

/// Cancels a job.
#[utoipa::path(delete, path = "/v1/jobs/{id}", tag = "jobs", params(("id" = String, Path)), responses(
    (status = 200, description = "The cancelled job", body = JobView),
    (status = 404, description = "No such job", body = ProblemBody, content_type = "application/problem+json"),
    (status = 409, description = "It has ended", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn cancel(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path(id)): Checked<Path<String>>,
) -> Result<Json<JobView>, Problem> {
    Ok(Json(face.service.cancel(&caller.identity, &id).await?.into()))
}

/// Queues a dead job again.
#[utoipa::path(post, path = "/v1/jobs/{id}/retry", tag = "jobs", params(("id" = String, Path)), responses(
    (status = 200, description = "The queued job", body = JobView),
    (status = 404, description = "No such job, or its inputs are deleted", body = ProblemBody, content_type = "application/problem+json"),
    (status = 409, description = "It is not dead", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn retry(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path(id)): Checked<Path<String>>,
) -> Result<Json<JobView>, Problem> {
    Ok(Json(face.service.retry(&caller.identity, &id).await?.into()))
}

/// The proof of a job that is done.
#[utoipa::path(get, path = "/v1/jobs/{id}/proof", tag = "jobs", params(("id" = String, Path)), responses(
    (status = 200, description = "The proof: snarkjs's JSON, or the bytes of a STARK", content((serde_json::Value = "application/json"), (Vec<u8> = "application/octet-stream"))),
    (status = 404, description = "No such job, or none that proves", body = ProblemBody, content_type = "application/problem+json"),
    (status = 409, description = "It is not done", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn proof(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path(id)): Checked<Path<String>>,
) -> Result<Response, Problem> {
    output(&face, &caller, &id, TaskOutput::Proof).await
}

/// The public signals of a job that is done.
#[utoipa::path(get, path = "/v1/jobs/{id}/public", tag = "jobs", params(("id" = String, Path)), responses(
    (status = 200, description = "The public signals", body = Vec<String>),
    (status = 404, description = "No such job, or none with public signals", body = ProblemBody, content_type = "application/problem+json"),
    (status = 409, description = "It is not done", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn public(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path(id)): Checked<Path<String>>,
) -> Result<Response, Problem> {
    output(&face, &caller, &id, TaskOutput::Public).await
}

async fn output(face: &Face, caller: &Caller, id: &str, output: TaskOutput) -> Result<Response, Problem> {
    caller.require(Scope::Submit)?;
    let (job, bytes, content) = face.service.output(&caller.identity, id, output).await?;
    Ok(reply::file(bytes, content, reply::media(job.task.content(output))))
}
