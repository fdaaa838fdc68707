//! The progress of a job, as server-sent events.

use super::{
    face::{Face, Stage},
    identities::Caller,
    problem::{Problem, ProblemBody},
    reply::Checked,
};
use crate::{access::Scope, service::JobView, state::JobState, store::JobRecord};
use axum::{
    extract::{Path, State as Shared},
    response::sse::{Event, KeepAlive, Sse},
};
use futures::{Stream, stream};
use std::{convert::Infallible, time::Duration};

/// How often a comment is sent while nothing happens.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// How often a stream looks whether its token is still valid.
const CHECK: Duration = Duration::from_secs(1);

/// The state and phase that a client was told last.
#[derive(PartialEq)]
struct Told {
    state: JobState,
    fence: u64,
    phase: Option<String>,
}

impl Told {
    fn of(job: &JobRecord) -> Self {
        Self { state: job.progress.state, fence: job.progress.fence, phase: job.phase.clone() }
    }
}

/// What happens to a job, until it has ended: an event `state` with the job for each change of its state or phase. The first event has the
/// present state, also when a client comes back with `Last-Event-ID`.
#[utoipa::path(get, path = "/v1/jobs/{id}/events", tag = "jobs", params(("id" = String, Path)), responses(
    (status = 200, description = "Events whose data are jobs", body = String, content_type = "text/event-stream"),
    (status = 404, description = "No such job", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn events(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path(id)): Checked<Path<String>>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    caller.require(Scope::Submit)?;
    let first = face.service.job(&caller.identity, &id).await?;
    let ended = first.progress.state.has_ended();
    let following = Following { face, caller, id, told: Told::of(&first) };
    let following = if ended { None } else { Some(following) };
    let rest = stream::unfold(following, |following| async move {
        let mut following = following?;
        let job = following.next().await?;
        let ended = job.progress.state.has_ended();
        Some((event(job), if ended { None } else { Some(following) }))
    });
    let events = futures::StreamExt::chain(stream::once(async move { event(first) }), rest);
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT)))
}

struct Following {
    face: Face,
    caller: Caller,
    id: String,
    told: Told,
}

impl Following {
    /// The job after its next change; `None` when the stream is to end.
    async fn next(&mut self) -> Option<JobRecord> {
        loop {
            let told = &self.told;
            let job =
                self.face.wait(&self.caller, &self.id, CHECK, |job| Told::of(job) != *told).await.ok()?;
            let now = Told::of(&job);
            if now != self.told {
                self.told = now;
                return Some(job);
            }
            if self.face.has_reached(Stage::Closing) {
                return None;
            }
            self.face.check(&self.caller).await.ok()?;
        }
    }
}

fn event(job: JobRecord) -> Result<Event, Infallible> {
    let id = format!("{}-{}", job.progress.fence, job.progress.state.name());
    let data = serde_json::to_string(&JobView::from(job)).expect("it is JSON");
    Ok(Event::default().event("state").id(id).data(data))
}
