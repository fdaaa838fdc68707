//! The known workers, and when they were last heard of.

use super::{SqlRow, Store, StoreError, now};

/// The most workers that are kept.
const MOST: u64 = 1000;

/// A worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerRecord {
    /// Its id.
    pub id: String,
    /// The facts that it reported about itself, as JSON.
    pub facts: String,
    /// When it started.
    pub started_at: u64,
    /// When it was last heard of.
    pub seen_at: u64,
}

impl Store {
    /// Notes that a worker is there, with the facts that it reports about itself. If there are more than 1000, the ones that were silent
    /// for the longest time are forgotten.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn see_worker(&self, id: String, facts: String) -> Result<(), StoreError> {
        self.write(move |transaction| {
            let now = now(transaction)?;
            let sql = "UPDATE workers SET facts = $2, seen_at = $3 WHERE id = $1";
            let parameters = [id.as_str().into(), facts.as_str().into(), now.into()];
            if transaction.execute(sql, &parameters)? == 1 {
                return Ok(());
            }
            let sql = "INSERT INTO workers (id, facts, started_at, seen_at) VALUES ($1, $2, $3, $3)";
            transaction.execute(sql, &parameters)?;
            let sql = "DELETE FROM workers WHERE id NOT IN (SELECT id FROM workers ORDER BY seen_at DESC, id LIMIT $1)";
            transaction.execute(sql, &[MOST.into()]).map(drop)
        })
        .await
    }

    /// Forgets a worker that has ended.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn forget_worker(&self, id: String) -> Result<(), StoreError> {
        self.write(move |transaction| {
            transaction.execute("DELETE FROM workers WHERE id = $1", &[id.as_str().into()]).map(drop)
        })
        .await
    }

    /// Forgets the workers that were not heard of in the last `within` milliseconds.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn forget_silent_workers(&self, within: u64) -> Result<(), StoreError> {
        self.write(move |transaction| {
            let before = now(transaction)?.saturating_sub(within);
            transaction.execute("DELETE FROM workers WHERE seen_at < $1", &[before.into()]).map(drop)
        })
        .await
    }

    /// The workers that were heard of in the last `within` milliseconds.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn workers(&self, within: u64) -> Result<Vec<WorkerRecord>, StoreError> {
        self.read(move |transaction| {
            let since = now(transaction)?.saturating_sub(within);
            let sql = "SELECT id, facts, started_at, seen_at FROM workers WHERE seen_at >= $1 ORDER BY started_at, id";
            let worker = |row: &SqlRow| {
                Ok(WorkerRecord {
                    id: row.text(0)?,
                    facts: row.text(1)?,
                    started_at: row.count(2)?,
                    seen_at: row.count(3)?,
                })
            };
            transaction.query(sql, &[since.into()])?.iter().map(worker).collect()
        })
        .await
    }
}
