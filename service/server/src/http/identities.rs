//! The identities of tokens, remembered for a second. Not every request asks the store, whatever secrets come, and a revoked token is
//! refused within a second.

use super::{body::Quota, problem::Problem};
use crate::{
    access::{Identity, Scope},
    store::{Store, StoreError},
};
use axum::{extract::FromRequestParts, http::request::Parts};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::{sync::OwnedSemaphorePermit, time::sleep_until};

/// How long an identity is remembered.
const REMEMBERED_FOR: Duration = Duration::from_millis(900);
/// The least time between two questions to the store.
const LEAST_PAUSE: Duration = Duration::from_millis(20);
/// The time between two questions is at least so many times as long as the first one took.
const PART: u32 = 10;

/// How a request names its token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Named {
    /// By the digest of its secret.
    Hash(String),
    /// By its name, as the server's options allow from the loopback.
    Name(String),
}

/// The caller of a request. The request counts as one until all clones are dropped.
#[derive(Clone)]
pub(crate) struct Caller {
    /// The token.
    pub(crate) identity: Identity,
    /// How the request named it.
    pub(super) named: Named,
    /// The request's part of the requests of all tokens, and of those of its token.
    pub(super) permit: Arc<Permit>,
}

/// A part of the requests of all tokens, and of those of one token.
pub(super) type Permit = (OwnedSemaphorePermit, Option<Quota>);

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

/// The valid tokens, as the store last told them.
#[derive(Default)]
pub(super) struct Identities {
    last: Mutex<Option<Told>>,
    /// Held by the one request that asks the store.
    asking: tokio::sync::Mutex<()>,
}

/// What the store told of the valid tokens.
struct Told {
    /// When it was asked: a token may be made or revoked before the answer arrives.
    asked: Instant,
    took: Duration,
    identities: Result<HashMap<Named, Identity>, StoreError>,
}

impl Told {
    /// What it says of a token.
    fn of(&self, named: &Named) -> Result<Option<Identity>, StoreError> {
        match &self.identities {
            Ok(identities) => Ok(identities.get(named).cloned()),
            Err(error) => Err(error.clone()),
        }
    }
}

impl Identities {
    /// The identity of a token; `None` if the token is not valid.
    pub(super) async fn find(&self, store: &Store, named: &Named) -> Result<Option<Identity>, StoreError> {
        let arrived = Instant::now();
        let told = |since| {
            let last = self.last();
            last.as_ref().filter(|told| told.asked >= since).map(|told| told.of(named))
        };
        let recently = arrived.checked_sub(REMEMBERED_FOR).unwrap_or(arrived);
        if let Some(Ok(Some(identity))) = told(recently) {
            return Ok(Some(identity));
        }
        // A token that was not valid a moment ago may be new: the store is asked again. Whoever waits here meanwhile shares the answer, so
        // that strangers with secrets that they made up ask it a few times a second together.
        let _asks = self.asking.lock().await;
        if let Some(answer) = told(arrived) {
            return answer;
        }
        let pause = self.last().as_ref().map(|told| told.asked + LEAST_PAUSE.max(PART * told.took));
        if let Some(pause) = pause {
            sleep_until(pause.into()).await;
        }
        let asked = Instant::now();
        let identities = store.valid_tokens().await.map(|tokens| {
            let named = tokens.into_iter().flat_map(|token| {
                let names = [Named::Hash(token.hash.clone()), Named::Name(token.name.clone())];
                let identity = Identity::from(token);
                names.map(|named| (named, identity.clone()))
            });
            named.collect()
        });
        let told = Told { asked, took: asked.elapsed(), identities };
        let answer = told.of(named);
        *self.last() = Some(told);
        answer
    }

    fn last(&self) -> MutexGuard<'_, Option<Told>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
