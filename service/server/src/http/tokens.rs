//! Tokens, for administrators.

use super::{
    face::Face,
    identities::Caller,
    problem::{Problem, ProblemBody},
    reply::{self, Checked},
};
use crate::{
    access::{Scope, new_token},
    store::TokenRecord,
};
use axum::{
    Json,
    extract::{Path, Request, State as Shared},
    http::StatusCode,
};
use serde::{Deserialize, Serialize};

/// A token to make.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// Its name: letters, digits, `.`, `-` and `_`; no SHA-256.
    #[schema(pattern = "^(?![0-9a-f]{64}$)[A-Za-z0-9._-]{1,128}$")]
    pub name: String,
    /// What it allows: `submit`, `priority`, `keys`, `work`, `observe`, `admin`.
    #[schema(value_type = Vec<Scope>, min_items = 1)]
    pub scopes: Vec<String>,
    /// After how many seconds it expires.
    #[serde(default)]
    pub expires_in_s: Option<u64>,
}

/// A token that was just made.
#[derive(Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct NewTokenView {
    /// Its name.
    pub name: String,
    /// Its secret, which is shown only now.
    pub secret: String,
}

/// A token.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TokenView {
    /// Its id: the owner of its jobs and keys.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it allows.
    pub scopes: Vec<String>,
    /// When it was made, in milliseconds since 1970.
    pub created_at: u64,
    /// When it expires.
    pub expires_at: Option<u64>,
    /// When it was revoked.
    pub revoked_at: Option<u64>,
}

impl From<TokenRecord> for TokenView {
    fn from(TokenRecord { id, name, scopes, created_at, expires_at, revoked_at, .. }: TokenRecord) -> Self {
        let scopes = scopes.split(' ').filter(|scope| !scope.is_empty()).map(str::to_owned).collect();
        Self { id, name, scopes, created_at, expires_at, revoked_at }
    }
}

/// Makes a token.
#[utoipa::path(post, path = "/v1/tokens", tag = "tokens", request_body = NewToken, responses(
    (status = 201, description = "The token's secret", body = NewTokenView),
    (status = 409, description = "The name is taken", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn add(
    Shared(face): Shared<Face>,
    caller: Caller,
    request: Request,
) -> Result<(StatusCode, Json<NewTokenView>), Problem> {
    caller.require(Scope::Admin)?;
    let NewToken { name, scopes, expires_in_s } = reply::json(&face, &caller, request).await?;
    let scopes: Vec<Scope> =
        scopes.iter().map(|scope| scope.parse()).collect::<Result<_, _>>().map_err(Problem::invalid)?;
    if scopes.is_empty() {
        return Err(Problem::invalid("a token without scopes allows nothing: name one"));
    }
    let expires_in = expires_in_s.map(|seconds| seconds.saturating_mul(1000));
    let secret = new_token(face.service.store(), &name, &scopes, expires_in).await?;
    Ok((StatusCode::CREATED, Json(NewTokenView { name, secret: secret.expose().to_owned() })))
}

/// Lists the tokens, in the order of their making.
#[utoipa::path(get, path = "/v1/tokens", tag = "tokens", responses(
    (status = 200, description = "The tokens, without their secrets", body = Vec<TokenView>),
))]
pub(super) async fn list(
    Shared(face): Shared<Face>,
    caller: Caller,
) -> Result<Json<Vec<TokenView>>, Problem> {
    caller.require(Scope::Admin)?;
    Ok(Json(face.service.store().tokens().await?.into_iter().map(TokenView::from).collect()))
}

/// Revokes a token: within a second, requests with it are refused. Its jobs go on.
#[utoipa::path(delete, path = "/v1/tokens/{name}", tag = "tokens", params(("name" = String, Path)), responses(
    (status = 204, description = "The token is revoked"),
    (status = 404, description = "No such token", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn revoke(
    Shared(face): Shared<Face>,
    caller: Caller,
    Checked(Path(name)): Checked<Path<String>>,
) -> Result<StatusCode, Problem> {
    caller.require(Scope::Admin)?;
    face.service.store().revoke_token(name).await?;
    Ok(StatusCode::NO_CONTENT)
}
