//! Tokens and what they allow.

use super::{SqlRow, Store, StoreError, Transaction, now};

/// A token without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRecord {
    /// Its id, a UUID: the owner of jobs and keys.
    pub id: String,
    /// The name that it was given.
    pub name: String,
    /// SHA-256 of the secret, in hexadecimal digits.
    pub hash: String,
    /// The names of its scopes, separated by spaces.
    pub scopes: String,
    /// When it was made.
    pub created_at: u64,
    /// When it expires, if it does.
    pub expires_at: Option<u64>,
    /// When it was revoked, if it was.
    pub revoked_at: Option<u64>,
}

fn token(row: &SqlRow) -> Result<TokenRecord, StoreError> {
    Ok(TokenRecord {
        id: row.text(0)?,
        name: row.text(1)?,
        hash: row.text(2)?,
        scopes: row.text(3)?,
        created_at: row.count(4)?,
        expires_at: row.optional(5, SqlRow::count)?,
        revoked_at: row.optional(6, SqlRow::count)?,
    })
}

/// `SELECT` of the columns that `token` reads.
macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT id, name, hash, scopes, created_at, expires_at, revoked_at FROM tokens ", $rest)
    };
}

impl Store {
    /// Adds a token; `created_at` and `revoked_at` are not read. `expires_in` is in milliseconds.
    ///
    /// # Errors
    /// [`StoreError::Taken`] if there is a token of this name.
    pub async fn add_token(&self, token: TokenRecord, expires_in: Option<u64>) -> Result<(), StoreError> {
        self.write(move |transaction| {
            let taken = transaction.query("SELECT id FROM tokens WHERE name = $1", &[token.name.as_str().into()])?;
            if let Some(row) = taken.first() {
                // An earlier run of this work has added the token.
                if row.text(0)? == token.id {
                    return Ok(());
                }
                return Err(StoreError::Taken(format!("there is a token named {}", token.name)));
            }
            let now = now(transaction)?;
            let sql = "INSERT INTO tokens (id, name, hash, scopes, created_at, expires_at, last_turn) VALUES ($1, $2, $3, $4, $5, $6, 0)";
            let TokenRecord { id, name, hash, scopes, .. } = token.clone();
            let expires_at = expires_in.map(|after| now.saturating_add(after));
            transaction.execute(sql, &[id.into(), name.into(), hash.into(), scopes.into(), now.into(), expires_at.into()])?;
            Ok(())
        })
        .await
    }

    /// The token with this hash, unless it has expired or was revoked.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn valid_token(&self, hash: String) -> Result<Option<TokenRecord>, StoreError> {
        self.read(move |transaction| {
            let sql = select!(
                "WHERE hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now_ms())"
            );
            transaction.query(sql, &[hash.as_str().into()])?.first().map(token).transpose()
        })
        .await
    }

    /// The tokens that have not expired and were not revoked. One that cannot be read is not valid.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn valid_tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        self.read(|transaction| {
            let sql = select!("WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now_ms())");
            let rows = transaction.query(sql, &[])?;
            let logged =
                |row| token(row).inspect_err(|error| tracing::error!(%error, "a token cannot be read")).ok();
            Ok(rows.iter().filter_map(logged).collect())
        })
        .await
    }

    /// All tokens, in the order of their making.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        self.read(|transaction| tokens(transaction)).await
    }

    /// Revokes the token of this name. Its jobs go on.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if there is none that is valid.
    pub async fn revoke_token(&self, name: String) -> Result<(), StoreError> {
        self.write(move |transaction| {
            let sql = "UPDATE tokens SET revoked_at = now_ms() WHERE name = $1 AND revoked_at IS NULL";
            match transaction.execute(sql, &[name.as_str().into()])? {
                // The first run may have revoked it before its answer was lost.
                0 if transaction.is_repeated() => Ok(()),
                0 => Err(StoreError::NotFound(format!("no valid token is named {name}"))),
                _ => Ok(()),
            }
        })
        .await
    }
}

fn tokens(transaction: &mut dyn Transaction) -> Result<Vec<TokenRecord>, StoreError> {
    transaction.query(select!("ORDER BY created_at, id"), &[])?.iter().map(token).collect()
}
