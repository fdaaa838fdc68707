//! The queue and the workers, for autoscalers and people.

use super::{face::Face, identities::Caller, metrics::Present, problem::Problem};
use crate::{access::Scope, coordinator::WorkerFacts, service::QueueView};
use axum::{
    Json,
    extract::State as Shared,
    http::header,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A worker.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WorkerView {
    /// Its id.
    pub id: String,
    /// When it started, in milliseconds since 1970.
    pub started_at: u64,
    /// When it was last heard of.
    pub seen_at: u64,
    /// The facts that it reports about itself.
    #[serde(flatten)]
    pub facts: WorkerFacts,
}

/// How many jobs wait, for how long, and for which memory.
#[utoipa::path(get, path = "/v1/queue", tag = "queue", responses(
    (status = 200, description = "The queue", body = QueueView),
))]
pub(super) async fn queue(Shared(face): Shared<Face>, caller: Caller) -> Result<Json<QueueView>, Problem> {
    caller.require(Scope::Observe)?;
    Ok(Json(face.queue().await?))
}

/// The workers that were heard of lately.
#[utoipa::path(get, path = "/v1/workers", tag = "queue", responses(
    (status = 200, description = "The workers", body = Vec<WorkerView>),
))]
pub(super) async fn workers(
    Shared(face): Shared<Face>,
    caller: Caller,
) -> Result<Json<Vec<WorkerView>>, Problem> {
    caller.require(Scope::Observe)?;
    let workers = face.service.workers().await?;
    let view = |(worker, facts): (crate::store::WorkerRecord, WorkerFacts)| WorkerView {
        facts,
        id: worker.id,
        started_at: worker.started_at,
        seen_at: worker.seen_at,
    };
    Ok(Json(workers.into_iter().map(view).collect()))
}

/// Metrics for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "queue", responses(
    (status = 200, description = "Metrics in the text format of OpenMetrics", body = String, content_type = "application/openmetrics-text"),
))]
pub(super) async fn metrics(Shared(face): Shared<Face>, caller: Caller) -> Result<Response, Problem> {
    caller.require(Scope::Observe)?;
    let queue = face.queue().await?.queue;
    let oldest = queue.waiting.iter().map(|waiting| waiting.oldest_ms).max().unwrap_or(0);
    let text = face.metrics.text(&Present {
        waiting: queue.waiting.iter().map(|waiting| waiting.jobs).sum(),
        oldest: Duration::from_millis(oldest),
        running: queue.running,
        workers: face.service.workers().await?.len() as u64,
    });
    let media = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, media)], text).into_response())
}
