//! Keys: files that jobs name, each stored once under its digest.

use super::{
    SqlRow, Store, StoreError, Transaction, now, one,
    room::{Asked, StoreLimits},
};
use proofmill_job::KeyFacts;

/// A key of an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// SHA-256 of the file, in hexadecimal digits.
    pub digest: String,
    /// The id of the token that owns it.
    pub owner: String,
    /// The name that the owner gave it.
    pub name: Option<String>,
    /// The size of the file.
    pub bytes: u64,
    /// The facts about the file.
    pub facts: KeyFacts,
    /// When the owner added it.
    pub created_at: u64,
}

/// `SELECT` of the columns that `key` reads.
macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT digest, owner, name, bytes, facts, created_at FROM keys ", $rest)
    };
}

fn key(row: &SqlRow) -> Result<KeyRecord, StoreError> {
    let facts = serde_json::from_str(&row.text(4)?)
        .map_err(|error| StoreError::Corrupt(format!("facts of a key: {error}")))?;
    Ok(KeyRecord {
        digest: row.text(0)?,
        owner: row.text(1)?,
        name: row.optional(2, SqlRow::text)?,
        bytes: row.count(3)?,
        facts,
        created_at: row.count(5)?,
    })
}

/// The owner's key of this digest or name.
pub(super) fn find(
    transaction: &mut dyn Transaction,
    owner: &str,
    name: &str,
) -> Result<KeyRecord, StoreError> {
    let sql = select!("WHERE owner = $1 AND (digest = $2 OR name = $2)");
    first(&transaction.query(sql, &[owner.into(), name.into()])?, name)
}

/// As [`find`]; nobody removes the key before this transaction ends.
pub(super) fn hold(
    transaction: &mut dyn Transaction,
    owner: &str,
    digest: &str,
) -> Result<KeyRecord, StoreError> {
    const HELD: &str = select!("WHERE owner = $1 AND digest = $2 FOR KEY SHARE");
    const FOUND: &str = select!("WHERE owner = $1 AND digest = $2");
    let sql = if transaction.locks_rows() { HELD } else { FOUND };
    first(&transaction.query(sql, &[owner.into(), digest.into()])?, digest)
}

fn first(rows: &[SqlRow], name: &str) -> Result<KeyRecord, StoreError> {
    match rows.first() {
        Some(row) => key(row),
        None => {
            Err(StoreError::NotFound(format!("there is no key {name}: `proofmill keys list` lists yours")))
        }
    }
}

impl Store {
    /// Adds a key to its owner's, or names it anew; `created_at` is not read. A name moves from the key that had it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Stored`] for a new key that is beyond the limits.
    pub async fn add_key(&self, key: KeyRecord, limits: StoreLimits) -> Result<(), StoreError> {
        let store = self.clone();
        self.write(move |transaction| {
            let KeyRecord { digest, owner, name, bytes, facts, .. } = key.clone();
            store.ask_room_for_key(transaction, &owner, &digest, bytes, limits, true)?;
            let facts = serde_json::to_string(&facts).expect("facts are JSON");
            let now = now(transaction)?;
            if let Some(name) = &name {
                // Names are unique per owner: another key loses the name before this one gets it.
                let sql = "UPDATE keys SET name = NULL WHERE owner = $1 AND name = $2 AND digest <> $3";
                transaction.execute(sql, &[owner.as_str().into(), name.as_str().into(), digest.as_str().into()])?;
            }
            let sql = "INSERT INTO keys (digest, owner, name, bytes, facts, created_at) VALUES ($1, $2, $3, $4, $5, $6)
                ON CONFLICT (digest, owner) DO UPDATE SET name = coalesce(excluded.name, keys.name), facts = excluded.facts";
            let parameters =
                [digest.into(), owner.into(), name.into(), bytes.into(), facts.into(), now.into()];
            transaction.execute(sql, &parameters).map(drop)
        })
        .await
    }

    /// Refuses a key of so many bytes for which its owner has no room, before it is sent; others may take the room meanwhile.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Stored`].
    pub async fn check_room_for_key(
        &self,
        owner: String,
        digest: String,
        bytes: u64,
        limits: StoreLimits,
    ) -> Result<(), StoreError> {
        let store = self.clone();
        self.read(move |transaction| {
            store.ask_room_for_key(transaction, &owner, &digest, bytes, limits, false)
        })
        .await
    }

    fn ask_room_for_key(
        &self,
        transaction: &mut dyn Transaction,
        owner: &str,
        digest: &str,
        bytes: u64,
        limits: StoreLimits,
        takes: bool,
    ) -> Result<(), StoreError> {
        let sql =
            "SELECT count(*), coalesce(max(CASE WHEN digest = $2 THEN 1 END), 0) FROM keys WHERE owner = $1";
        let counts = one(transaction.query(sql, &[owner.into(), digest.into()])?)?;
        if counts.integer(1)? != 0 {
            return Ok(());
        }
        let keys = counts.count(0)?;
        if keys >= limits.keys_of_owner {
            let problem = format!("{keys} keys are the most of one token: remove those that you do not need");
            return Err(StoreError::Stored(problem));
        }
        self.ask_room(transaction, &Asked { owner, jobs: 0, bytes }, limits, takes)
    }

    /// The owner's key of this digest or name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn key(&self, owner: String, name: String) -> Result<KeyRecord, StoreError> {
        self.read(move |transaction| find(transaction, &owner, &name)).await
    }

    /// The owner's keys, in the order in which they were added.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn keys(&self, owner: String) -> Result<Vec<KeyRecord>, StoreError> {
        self.read(move |transaction| {
            let sql = select!("WHERE owner = $1 ORDER BY created_at, digest");
            transaction.query(sql, &[owner.as_str().into()])?.iter().map(key).collect()
        })
        .await
    }

    /// Removes a key from its owner's, by digest or name, and returns it. Its file is still needed by the keys of other owners and by
    /// jobs: [`Self::is_key_needed`] tells.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    pub async fn remove_key(&self, owner: String, name: String) -> Result<KeyRecord, StoreError> {
        self.write(move |transaction| {
            let key = find(transaction, &owner, &name)?;
            let sql = "DELETE FROM keys WHERE owner = $1 AND digest = $2";
            transaction.execute(sql, &[owner.as_str().into(), key.digest.as_str().into()])?;
            Ok(key)
        })
        .await
    }

    /// Whether any owner has the key of this digest, or a job that has not ended uses it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn is_key_needed(&self, digest: String) -> Result<bool, StoreError> {
        self.scan(move |transaction| {
            let sql = "SELECT 1 FROM keys WHERE digest = $1
                UNION ALL SELECT 1 FROM jobs WHERE state IN ('queued', 'running', 'dead') AND task LIKE '%' || $1 || '%' LIMIT 1";
            Ok(!transaction.query(sql, &[digest.as_str().into()])?.is_empty())
        })
        .await
    }
}
