//! Reading of requests and writing of answers, shared by routes.

use super::{body::Chunks, face::Face, identities::Caller, problem::Problem};
use crate::objects::ObjectReader;
use axum::{
    body::Body,
    extract::{FromRequestParts, Request},
    http::{HeaderMap, header, request::Parts},
    response::{IntoResponse, Response},
};
use std::fmt::Display;
use tokio_util::io::ReaderStream;

/// How much of a file is read at once, in bytes.
const PIECE: usize = 64 << 10;

/// An extractor whose errors are [`Problem`]s.
pub(super) struct Checked<E>(pub(super) E);

impl<S, E> FromRequestParts<S> for Checked<E>
where
    S: Sync,
    E: FromRequestParts<S>,
    E::Rejection: Display,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let extracted = E::from_request_parts(parts, state).await;
        extracted.map(Self).map_err(|rejection| Problem::invalid(rejection.to_string()))
    }
}

/// The body as JSON.
pub(super) async fn json<T: serde::de::DeserializeOwned>(
    face: &Face,
    caller: &Caller,
    request: Request,
) -> Result<T, Problem> {
    let limits = face.options.bodies;
    let memory = face.memory.start(&caller.identity.token);
    let body = Chunks::new(request.into_body(), limits, limits.most_json).bytes(memory).await?;
    serde_json::from_slice(&body).map_err(|error| Problem::invalid(format!("the body: {error}")))
}

/// A header's text.
pub(super) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Problem> {
    let value = headers.get(name).map(|value| value.to_str());
    value.transpose().map_err(|_| Problem::invalid(format!("the header {name} is not text")))
}

/// The seconds of `Prefer: wait=N` (RFC 7240). Other preferences are ignored.
pub(super) fn preferred_wait(headers: &HeaderMap) -> Option<u64> {
    let values = headers.get_all("prefer").into_iter().filter_map(|value| value.to_str().ok());
    let preferences = values.flat_map(|value| value.split(','));
    let wait = |preference: &str| {
        let preference = preference.split(';').next()?;
        let (name, value) = preference.split_once('=')?;
        let value = value.trim().trim_matches('"');
        name.trim().eq_ignore_ascii_case("wait").then(|| value.parse().ok())?
    };
    preferences.into_iter().find_map(wait)
}

/// An answer with a file's content.
pub(super) fn file(bytes: u64, content: ObjectReader, media: &'static str) -> Response {
    let body = Body::from_stream(ReaderStream::with_capacity(content, PIECE));
    let headers = [
        (header::CONTENT_TYPE, media.to_owned()),
        (header::CONTENT_LENGTH, bytes.to_string()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    (headers, body).into_response()
}

/// The media type of a job's input or output.
pub(super) fn media(content: proofmill_job::ContentKind) -> &'static str {
    match content {
        proofmill_job::ContentKind::Json => "application/json",
        proofmill_job::ContentKind::Binary => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferences_are_read() {
        let wait = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            values.iter().for_each(|value| {
                headers.append("prefer", value.parse().expect("a header"));
            });
            preferred_wait(&headers)
        };
        assert_eq!(wait(&["wait=10"]), Some(10));
        assert_eq!(wait(&["respond-async, WAIT = \"7\"; x=1"]), Some(7));
        assert_eq!(wait(&["return=minimal", "wait=3"]), Some(3));
        assert_eq!(wait(&["wait=-1"]), None);
        assert_eq!(wait(&["wait", "wait="]), None);
        assert_eq!(wait(&["wait=99999999999999999999"]), None);
    }
}
