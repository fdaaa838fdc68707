//! The identities of tokens, remembered for a second. Not every request asks the store, and a revoked token is refused within a
//! second.

use super::problem::Problem;
use crate::{
    access::{Identity, Scope},
    store::{Store, StoreError},
};
use axum::{extract::FromRequestParts, http::request::Parts};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// How long an identity is remembered.
const REMEMBERED_FOR: Duration = Duration::from_millis(900);
/// The most identities that are remembered.
const MOST: usize = 1024;

/// How a request names its token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Named {
    /// By the digest of its secret.
    Hash(String),
    /// By its name, as the server's options allow from the loopback.
    Name(String),
}

/// The caller of a request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The token.
    pub(crate) identity: Identity,
    /// How the request named it.
    pub(super) named: Named,
}

impl Caller {
    /// Refuses what the token does not allow.
    pub(crate) fn require(&self, scope: Scope) -> Result<(), Problem> {
        Ok(self.identity.require(scope)?)
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().cloned().ok_or_else(Problem::unauthorized)
    }
}

/// The identities of tokens.
#[derive(Default)]
pub(super) struct Identities(Mutex<HashMap<Named, (Instant, Identity)>>);

impl Identities {
    /// The identity of a token; `None` if the token is not valid.
    pub(super) async fn find(&self, store: &Store, named: &Named) -> Result<Option<Identity>, StoreError> {
        if let Some((since, identity)) = self.known().get(named)
            && since.elapsed() < REMEMBERED_FOR
        {
            return Ok(Some(identity.clone()));
        }
        // The second begins with the question: the token may be revoked before the answer arrives.
        let asked = Instant::now();
        let token = match named {
            Named::Hash(hash) => store.valid_token(hash.clone()).await?,
            Named::Name(name) => {
                let named = store.tokens().await?.into_iter().find(|token| token.name == *name);
                match named {
                    Some(token) => store.valid_token(token.hash).await?,
                    None => None,
                }
            }
        };
        let mut known = self.known();
        let Some(token) = token else {
            known.remove(named);
            return Ok(None);
        };
        let identity = Identity::from(token);
        if known.len() >= MOST {
            known.retain(|_, (since, _)| since.elapsed() < REMEMBERED_FOR);
        }
        if known.len() < MOST {
            known.insert(named.clone(), (asked, identity.clone()));
        }
        Ok(Some(identity))
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Named, (Instant, Identity)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
