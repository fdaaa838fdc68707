//! The ends of leases and of waiting, and the deletion of ended jobs.

use super::{Change, JobRecord, apply, job, readable};
use crate::{
    state::{Contact, JobEvent, JobState, latest_end},
    store::{SqlRow, Store, StoreError, Transaction, now},
};

/// How long a server that looks every second may be silent without counting as away: this time in milliseconds, and a third of a lease.
const SILENCE: u64 = 2000;

/// The rows of jobs whose lease or waiting is over; another server handles the rows that it has locked.
fn due(
    transaction: &mut dyn Transaction,
    now: u64,
    longest: u64,
    may_end_leases: bool,
) -> Result<Vec<SqlRow>, StoreError> {
    // The second condition finds leases from before the clock jumped back: they would hardly end.
    const LEASES: [&str; 2] = [
        select!("WHERE state = 'running' AND (lease_until <= $1 OR lease_until > $2) LIMIT 1000"),
        select!(
            "WHERE state = 'running' AND (lease_until <= $1 OR lease_until > $2) LIMIT 1000 FOR UPDATE SKIP LOCKED"
        ),
    ];
    const WAITING: [&str; 2] = [
        select!("WHERE state = 'queued' AND expires_at IS NOT NULL AND expires_at <= $1 LIMIT 1000"),
        select!(
            "WHERE state = 'queued' AND expires_at IS NOT NULL AND expires_at <= $1 LIMIT 1000 FOR UPDATE SKIP LOCKED"
        ),
    ];
    let locks = usize::from(transaction.locks_rows());
    let mut rows = transaction.query(WAITING[locks], &[now.into()])?;
    // While the store was out of reach, live workers could not prolong their leases either.
    if may_end_leases {
        rows.extend(transaction.query(LEASES[locks], &[now.into(), latest_end(now, longest).into()])?);
    }
    Ok(rows)
}

impl Store {
    /// Ends the leases and the waiting of jobs whose time has come, and returns them. `longest` is the longest lease in milliseconds;
    /// leases end only if the contact has lasted so long that workers could prolong them.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn end_due(
        &self,
        longest: u64,
        contact: Contact,
    ) -> Result<(Vec<JobRecord>, Contact), StoreError> {
        self.write(move |transaction| {
            let now = now(transaction)?;
            let contact = contact.at(now, longest / 3 + SILENCE);
            let mut changed = Vec::new();
            for row in due(transaction, now, longest, contact.lasts(longest))? {
                let job = match job(&row) {
                    Ok(job) => job,
                    Err(StoreError::Corrupt(problem)) => {
                        tracing::error!(problem, "a job whose time is over cannot be read");
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                let (event, error) = match job.progress.state {
                    JobState::Running => (
                        JobEvent::EndLease { now, longest },
                        "the worker was not heard of until its lease ended",
                    ),
                    _ => (JobEvent::Expire { now }, "it waited longer than its owner allowed"),
                };
                let change = Change { error: Some(error.to_owned()), ..Change::default() };
                changed.push(apply(transaction, job, now, event, change)?);
            }
            Ok((changed, contact))
        })
        .await
    }

    /// At most 1000 jobs whose inputs are to be deleted: ended ones, dead ones only after `keep_dead` milliseconds.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn leftovers(&self, keep_dead: u64) -> Result<Vec<JobRecord>, StoreError> {
        self.scan(move |transaction| {
            let before = now(transaction)?.saturating_sub(keep_dead);
            // The number 2 means given up: a server may have ended before it deleted them.
            let sql = select!("WHERE ended_at IS NOT NULL AND inputs > 0 AND (inputs = 2 OR ended_at <= $1) ORDER BY ended_at LIMIT 1000");
            Ok(readable(&transaction.query(sql, &[before.into()])?))
        })
        .await
    }

    /// Gives up the inputs of a job that has ended, so that a dead one can no longer be retried: they may be deleted now. False if it was
    /// retried meanwhile.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn give_up_inputs(&self, id: String) -> Result<bool, StoreError> {
        self.write(move |transaction| {
            // From here on a retry is refused, so the objects can be deleted after this commit.
            // Inputs that are already given up count as well: a server may have ended in between.
            let sql = "UPDATE jobs SET inputs = 2 WHERE id = $1 AND ended_at IS NOT NULL AND inputs > 0";
            Ok(transaction.execute(sql, &[id.as_str().into()])? == 1)
        })
        .await
    }

    /// Notes that the inputs of a job, which were given up, are deleted.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn inputs_deleted(&self, id: String) -> Result<(), StoreError> {
        self.write(move |transaction| {
            // After the deletion, not before: a crash between the two only repeats the deletion.
            let sql = "UPDATE jobs SET inputs = 0 WHERE id = $1 AND inputs = 2";
            transaction.execute(sql, &[id.as_str().into()]).map(drop)
        })
        .await
    }

    /// At most 1000 jobs that ended more than `keep` milliseconds ago and whose inputs are deleted.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn ended_before(&self, keep: u64) -> Result<Vec<JobRecord>, StoreError> {
        self.scan(move |transaction| {
            let before = now(transaction)?.saturating_sub(keep);
            let sql = select!(
                "WHERE ended_at IS NOT NULL AND ended_at <= $1 AND inputs = 0 ORDER BY ended_at LIMIT 1000"
            );
            Ok(readable(&transaction.query(sql, &[before.into()])?))
        })
        .await
    }

    /// Forgets jobs that have ended and whose inputs and outputs are deleted.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn forget(&self, ids: Vec<String>) -> Result<(), StoreError> {
        self.write(move |transaction| {
            // A dead job without inputs may have been retried since it was listed: it stays.
            let sql = "DELETE FROM jobs WHERE id = $1 AND ended_at IS NOT NULL AND inputs = 0";
            ids.iter().try_for_each(|id| transaction.execute(sql, &[id.as_str().into()]).map(drop))
        })
        .await
    }
}
