//! Keys: add, list, remove.

use super::{
    body::{Chunks, to_file},
    face::Face,
    identities::Caller,
    problem::{Problem, ProblemBody},
    reply::Checked,
};
use crate::{
    access::Scope,
    service::is_digest,
    store::{KeyRecord, StoreError},
};
use axum::{
    Json,
    body::HttpBody,
    extract::{Path, Query, Request, State as Shared},
    http::StatusCode,
};
use proofmill_job::KeyFacts;
use serde::{Deserialize, Serialize};

/// A key as its owner sees it.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct KeyView {
    /// SHA-256 of the file, in hexadecimal digits.
    pub digest: String,
    /// The name that its owner gave it.
    pub name: Option<String>,
    /// The size of the file.
    pub bytes: u64,
    /// The facts about the file.
    pub facts: KeyFacts,
    /// When it was added, in milliseconds since 1970.
    pub created_at: u64,
}

impl From<KeyRecord> for KeyView {
    fn from(KeyRecord { digest, name, bytes, facts, created_at, .. }: KeyRecord) -> Self {
        Self { digest, name, bytes, facts, created_at }
    }
}

/// The name of a key.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Naming {
    /// A name for the key: letters, digits, `.`, `-` and `_`. It moves from the key that had it.
    #[param(pattern = "^(?![0-9a-f]{64}$)[A-Za-z0-9._-]{1,128}$")]
    name: Option<String>,
}

/// Adds a key file. For a key that is there, the body may be empty: it gets the name.
#[utoipa::path(
    put, path = "/v1/keys/{key}", tag = "keys",
    params(("key" = String, Path, pattern = "^[0-9a-f]{64}$", description = "SHA-256 of the file, in lower-case hexadecimal digits"), Naming),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses(
        (status = 200, description = "The key was there", body = KeyView),
        (status = 201, description = "The key is added", body = KeyView),
        (status = 400, description = "The file has another digest, or is no key", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn add(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path(digest)): Checked<Path<String>>,
    Checked(Query(Naming { name })): Checked<Query<Naming>>,
    request: Request,
) -> Result<(StatusCode, Json<KeyView>), Problem> {
    caller.require(Scope::Keys)?;
    if !is_digest(&digest) {
        return Err(Problem::invalid("expected the SHA-256 of the file in 64 lower-case hexadecimal digits"));
    }
    let is_known = match face.service.store().key(caller.identity.token.clone(), digest.clone()).await {
        Ok(_) => true,
        Err(StoreError::NotFound(_)) => false,
        Err(error) => return Err(error.into()),
    };
    if is_known && request.body().is_end_stream() {
        let key = face.service.name_key(&caller.identity, digest, name).await?;
        return Ok((StatusCode::OK, Json(key.into())));
    }
    face.service.staging().check_space()?;
    // Before the body, if the request says its length.
    let bytes = request.body().size_hint().lower();
    face.service.check_room_for_key(&caller.identity, &digest, bytes).await?;
    let limits = face.options.bodies;
    let chunks = Chunks::new(request.into_body(), limits, limits.most_key);
    let quota = face.quotas.start(&caller.identity.token);
    let written = to_file(chunks, face.service.staging(), quota).await?;
    if written.digest != digest {
        let (found, bytes) = (written.digest, written.bytes);
        return Err(Problem::invalid(format!("the file of {bytes} bytes has the digest {found}")));
    }
    let key = face.service.add_key(&caller.identity, digest, name, written.file).await?;
    let status = if is_known { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(key.into())))
}

/// Lists the token's keys, in the order in which they were added.
#[utoipa::path(get, path = "/v1/keys", tag = "keys", responses(
    (status = 200, description = "The keys", body = Vec<KeyView>),
))]
pub(super) async fn list(Shared(face): Shared<Face>, caller: Caller) -> Result<Json<Vec<KeyView>>, Problem> {
    caller.require(Scope::Keys)?;
    let keys = face.service.store().keys(caller.identity.token.clone()).await?;
    Ok(Json(keys.into_iter().map(KeyView::from).collect()))
}

/// A key of the token.
#[utoipa::path(get, path = "/v1/keys/{key}", tag = "keys", params(("key" = String, Path, description = "Its name or digest")), responses(
    (status = 200, description = "The key", body = KeyView),
    (status = 404, description = "No such key", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn show(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path(name)): Checked<Path<String>>,
) -> Result<Json<KeyView>, Problem> {
    caller.require(Scope::Keys)?;
    Ok(Json(face.service.store().key(caller.identity.token.clone(), name).await?.into()))
}

/// Removes a key from the token's. Jobs that use it go on.
#[utoipa::path(delete, path = "/v1/keys/{key}", tag = "keys", params(("key" = String, Path, description = "Its name or digest")), responses(
    (status = 200, description = "The removed key", body = KeyView),
    (status = 404, description = "No such key", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn remove(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path(name)): Checked<Path<String>>,
) -> Result<Json<KeyView>, Problem> {
    caller.require(Scope::Keys)?;
    Ok(Json(face.service.store().remove_key(caller.identity.token.clone(), name).await?.into()))
}
