//! Admits requests by their tokens, hosts and origins, and by their number. Notes each request in the log and in the
//! metrics.

use super::{
    body::RequestMemory,
    face::Face,
    identities::{Caller, Named, Permit},
    listener::OfConnection,
    problem::{Problem, ProblemKind},
};
use crate::{
    access::{Scope, hash},
    grpc,
};
use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{ConnectInfo, MatchedPath, Request, State},
    http::{HeaderMap, HeaderValue, Method, Uri, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http_body::{Frame, SizeHint};
use std::{
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};
use tonic::{Code, Status};

/// The paths that need no token.
pub(super) const OPEN: [&str; 9] = [
    "/",
    "/docs",
    "/docs/docs.css",
    "/docs/docs.js",
    "/healthz",
    "/openapi.json",
    "/page.css",
    "/page.js",
    "/readyz",
];

/// Headers that proxies add.
const PROXIES: [&str; 4] = ["forwarded", "via", "x-forwarded-for", "x-real-ip"];

/// Guards all routes.
pub(super) async fn guard(State(face): State<Face>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("unknown", MatchedPath::as_str);
    let received = length(request.headers());
    let is_call = grpc::is_call(request.headers());
    let asked = check_host(&face, &request)
        .and_then(|()| check_origin(&request))
        .map(|()| if OPEN.contains(&route) { Asked::Open } else { Asked::By(named(&face, &request)) });
    let (token, mut response) = match admit(&face, asked).await {
        Ok(caller) => {
            let token = caller.as_ref().map(|caller| caller.identity.name.clone());
            let permit = caller.as_ref().map(|caller| caller.permit.clone());
            if let Some(caller) = caller {
                request.extensions_mut().insert(caller);
            }
            let connection = request.extensions().get().cloned();
            let mut response = next.run(request).await;
            let memory = response.extensions_mut().remove();
            let held = |body| Held { body, _permit: permit, _memory: memory, _connection: connection };
            (token, response.map(|body| Body::new(held(body))))
        }
        Err(problem) if is_call => (None, Status::from(problem).into_http()),
        Err(problem) => (None, problem.into_response()),
    };
    harden(response.headers_mut());
    let (status, elapsed) = (outcome(&response), began.elapsed());
    let milliseconds = elapsed.as_micros() as f64 / 1e3;
    if OPEN.contains(&route) {
        tracing::debug!(%method, route, %status, milliseconds, "request");
    } else {
        tracing::info!(%method, route, %status, milliseconds, token, "request");
    }
    face.metrics.request(&method, route, status, elapsed, received, length(response.headers()));
    response
}

/// The status of an answer. A failed call of gRPC is a success for HTTP, so its own status counts.
fn outcome(response: &Response) -> String {
    match Status::from_header_map(response.headers()).map(|status| status.code()) {
        None | Some(Code::Ok) => response.status().as_u16().to_string(),
        Some(code) => format!("grpc-{}", code as i32),
    }
}

/// Adds headers by which caches store no answer, and browsers guess no other media type.
fn harden(headers: &mut HeaderMap) {
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.entry(header::X_CONTENT_TYPE_OPTIONS).or_insert(HeaderValue::from_static("nosniff"));
}

/// An answer that counts as a request until it is sent.
struct Held {
    body: Body,
    _permit: Option<Arc<Permit>>,
    _memory: Option<RequestMemory>,
    _connection: Option<OfConnection>,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The kind of path that a request asks for.
enum Asked {
    /// A path that is open to everybody.
    Open,
    /// A path for holders of a token, and the token that the request names.
    By(Option<Named>),
}

/// Decides whether a request reaches its route, and for whom.
async fn admit(face: &Face, asked: Result<Asked, Problem>) -> Result<Option<Caller>, Problem> {
    let named = match asked? {
        Asked::Open => return Ok(None),
        Asked::By(named) => named.ok_or_else(Problem::unauthorized)?,
    };
    // Requests count when their tokens are known: strangers take no part of them.
    let identity = face.identities.find(face.service.store(), &named).await?;
    let identity = identity.ok_or_else(Problem::unauthorized)?;
    let Ok(permit) = face.requests.clone().try_acquire_owned() else {
        return Err(too_many());
    };
    // A part of the requests is kept for workers: many clients must not cost them their leases.
    let mut share = None;
    if !identity.has(Scope::Work) {
        if face.requests.available_permits() < face.options.most_requests / 8 {
            return Err(too_many());
        }
        share.insert(face.shares.start(&identity.token)).add(1)?;
    }
    Ok(Some(Caller { identity, named, permit: Arc::new((permit, share)) }))
}

fn too_many() -> Problem {
    let detail = "the service has as many requests as it can have: try again later";
    Problem::new(ProblemKind::Unavailable, detail)
}

/// The token that the request names.
fn named(face: &Face, request: &Request) -> Option<Named> {
    let Some(value) = request.headers().get(header::AUTHORIZATION) else {
        // A proxy on this machine passes on what comes from elsewhere.
        let is_passed_on = PROXIES.iter().any(|name| request.headers().contains_key(*name));
        let is_near =
            !is_passed_on && peer(request).is_some_and(|address| address.ip().to_canonical().is_loopback());
        return face.options.anonymous.clone().filter(|_| is_near).map(Named::Name);
    };
    let (scheme, secret) = value.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    hash(secret.trim()).map(Named::Hash)
}

fn peer(request: &Request) -> Option<SocketAddr> {
    request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0)
}

/// Refuses a request to another host's name: a web page can have its own name lead to the loopback.
fn check_host(face: &Face, request: &Request) -> Result<(), Problem> {
    let hosts = &face.options.hosts;
    if hosts.is_empty() {
        return Ok(());
    }
    match host(request) {
        Some(host) if hosts.iter().any(|known| host_name(host).eq_ignore_ascii_case(known)) => Ok(()),
        _ => Err(Problem::new(
            ProblemKind::OtherHost,
            "the request is for another host: `--allow-host NAME` permits a name",
        )),
    }
}

/// Refuses a change that another site's web page asks for.
fn check_origin(request: &Request) -> Result<(), Problem> {
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let Some(origin) = request.headers().get(header::ORIGIN).filter(|_| changes) else {
        return Ok(());
    };
    let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
    let origin = origin.as_ref().and_then(Uri::authority).map(|authority| authority.as_str());
    match (origin, host(request)) {
        (Some(origin), Some(host)) if origin.eq_ignore_ascii_case(host) => Ok(()),
        _ => Err(Problem::new(ProblemKind::Forbidden, "the request comes from another site's page")),
    }
}

/// The host that the request is for, with its port.
fn host(request: &Request) -> Option<&str> {
    let of_uri = request.uri().authority().map(|authority| authority.as_str());
    of_uri.or_else(|| request.headers().get(header::HOST)?.to_str().ok())
}

/// The host's name without its port.
fn host_name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// The length that the headers say, in bytes.
fn length(headers: &HeaderMap) -> u64 {
    let value = headers.get(header::CONTENT_LENGTH);
    value.and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or(0)
}
