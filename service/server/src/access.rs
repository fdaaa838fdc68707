//! Tokens and what they allow. Secrets are random, and the store has only their digests.

use crate::{
    error::ServiceError,
    names::{check_name, digest},
    store::{Store, StoreError, TokenRecord},
};
use std::{fmt, str::FromStr};

/// The prefix of every secret, by which people and programs recognise leaked secrets.
const PREFIX: &str = "proofmill_";
/// The number of random bytes in a secret.
const SECRET: usize = 32;

/// What a token allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, utoipa::ToSchema)]
#[schema(rename_all = "kebab-case")]
pub enum Scope {
    /// Submit jobs, and see and cancel its own.
    Submit,
    /// Submit jobs that go before others.
    Priority,
    /// Add, list and remove its own keys.
    Keys,
    /// Take jobs, as a worker: it sees their inputs.
    Work,
    /// See the queue, the workers and the metrics.
    Observe,
    /// See and cancel all jobs, make and revoke tokens.
    Admin,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 6] =
        [Self::Submit, Self::Priority, Self::Keys, Self::Work, Self::Observe, Self::Admin];

    /// Its name in the store, in JSON and in commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::Priority => "priority",
            Self::Keys => "keys",
            Self::Work => "work",
            Self::Observe => "observe",
            Self::Admin => "admin",
        }
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|scope| scope.name() == name);
        found.ok_or_else(|| format!("{name} is no scope: expected one of {names}"))
    }
}

/// The token of a caller, and what it allows.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The token's id.
    pub token: String,
    /// The token's name.
    pub name: String,
    /// The scopes that it allows.
    pub scopes: Vec<Scope>,
}

impl Identity {
    /// Refuses a scope that the token does not have.
    ///
    /// # Errors
    /// [`ServiceError::Forbidden`].
    pub fn require(&self, scope: Scope) -> Result<(), ServiceError> {
        if self.has(scope) {
            return Ok(());
        }
        Err(ServiceError::Forbidden(format!("the token {} has no scope {}", self.name, scope.name())))
    }

    /// Whether the token allows this.
    pub fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&Scope::Admin)
    }

    /// The owner whose jobs it sees; `None` for an administrator, who sees all jobs.
    pub fn owner(&self) -> Option<String> {
        (!self.scopes.contains(&Scope::Admin)).then(|| self.token.clone())
    }
}

/// The secret of a token. It is shown once, when the token is made.
pub struct Secret(zeroize::Zeroizing<String>);

impl Secret {
    /// The text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Makes a token. `expires_in` is in milliseconds.
///
/// # Errors
/// [`StoreError::Taken`] if there is one of this name, [`ServiceError::Invalid`] for a bad name.
pub async fn new_token(
    store: &Store,
    name: &str,
    scopes: &[Scope],
    expires_in: Option<u64>,
) -> Result<Secret, ServiceError> {
    check_name("token", name)?;
    let mut random = zeroize::Zeroizing::new([0; SECRET]);
    getrandom::fill(&mut *random).map_err(std::io::Error::other)?;
    let secret = zeroize::Zeroizing::new(format!("{PREFIX}{}", hex::encode(random.as_slice())));
    let token = TokenRecord {
        id: uuid::Uuid::now_v7().simple().to_string(),
        name: name.to_owned(),
        hash: digest(secret.as_bytes()),
        scopes: scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(" "),
        created_at: 0,
        expires_at: None,
        revoked_at: None,
    };
    store.add_token(token, expires_in).await?;
    Ok(Secret(secret))
}

/// The digest of a secret, by which the store knows its token; `None` for a text that cannot be a secret. The time that this
/// takes tells nothing about valid secrets.
pub fn hash(secret: &str) -> Option<String> {
    let is_secret = secret.starts_with(PREFIX) && secret.len() == PREFIX.len() + 2 * SECRET;
    is_secret.then(|| digest(secret.as_bytes()))
}

/// The identity of the token with this secret; `None` if no valid token has it.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub async fn identify(store: &Store, secret: &str) -> Result<Option<Identity>, StoreError> {
    match hash(secret) {
        Some(hash) => Ok(store.valid_token(hash).await?.map(Identity::from)),
        None => Ok(None),
    }
}

impl From<TokenRecord> for Identity {
    fn from(token: TokenRecord) -> Self {
        let scopes = token.scopes.split(' ').filter_map(|scope| scope.parse().ok()).collect();
        Self { token: token.id, name: token.name, scopes }
    }
}
