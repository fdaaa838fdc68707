//! The service through HTTP: `/v1/...` for owners of jobs, workers and administrators, proverServer's routes, metrics and documentation.
//!
//! Every route asks for a token, but those in `guard::OPEN`; new routes do by default. Errors are `application/problem+json` (RFC 9457).

mod body;
mod document;
mod events;
mod face;
mod guard;
mod health;
mod identities;
mod jobs;
mod keys;
mod listener;
mod metrics;
mod problem;
mod queue;
mod rapidsnark;
mod receive;
mod reply;
mod tokens;
mod work;

pub use body::BodyLimits;
pub use face::{Face, HttpOptions, Stage};
pub use jobs::{BatchAnswer, JobsPage};
pub use keys::KeyView;
pub use listener::{Tls, serve};
pub use problem::ProblemBody;
pub use queue::WorkerView;
pub use tokens::{NewToken, NewTokenView, TokenView};
pub use work::ClaimRequest;

// Shared with gRPC.
pub(crate) use body::{Chunks, RequestMemory, UploadWriter, UploadedFile};
pub(crate) use identities::Caller;
pub(crate) use problem::{Problem, ProblemKind};
pub(crate) use receive::Incoming;

use crate::grpc;
use axum::{Router, middleware::from_fn_with_state};
use utoipa_axum::{router::OpenApiRouter, routes};

/// The routes, with everything that guards them.
pub fn router(face: Face) -> Router {
    let (router, document) = documented();
    router
        .merge(document::routes(document::complete(document)))
        .merge(grpc::routes(face.clone()))
        .fallback(problem::not_found)
        .method_not_allowed_fallback(problem::method_not_allowed)
        .layer(from_fn_with_state(face.clone(), guard::guard))
        .with_state(face)
}

/// The routes and their OpenAPI document.
fn documented() -> (Router<Face>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(document::start())
        .routes(routes!(keys::list))
        .routes(routes!(keys::add, keys::show, keys::remove))
        .routes(routes!(jobs::list, jobs::submit))
        .routes(routes!(jobs::submit_batch))
        .routes(routes!(jobs::show, jobs::cancel))
        .routes(routes!(jobs::retry))
        .routes(routes!(jobs::proof))
        .routes(routes!(jobs::public))
        .routes(routes!(events::events))
        .routes(routes!(queue::queue))
        .routes(routes!(queue::workers))
        .routes(routes!(tokens::list, tokens::add))
        .routes(routes!(tokens::revoke))
        .routes(routes!(work::claim))
        .routes(routes!(work::report))
        .routes(routes!(work::input))
        .routes(routes!(work::key))
        .routes(routes!(work::output))
        .routes(routes!(work::see, work::leave))
        .routes(routes!(rapidsnark::input))
        .routes(routes!(rapidsnark::status))
        .routes(routes!(rapidsnark::cancel))
        .routes(routes!(queue::metrics))
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .split_for_parts()
}

/// The OpenAPI document, as JSON.
pub fn openapi() -> String {
    document::complete(documented().1)
}
