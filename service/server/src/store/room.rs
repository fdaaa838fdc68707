//! The room for waiting jobs and stored bytes: how much is taken, and how much there may be.
//!
//! Counting takes long when many jobs wait. So a count is kept for a moment, and everything that was accepted here since is added. A kept
//! count is never too low, but for the jobs that other servers accept in that moment.

use super::{SqlValue, Store, StoreError, Transaction, one};
use std::{
    collections::HashMap,
    sync::PoisonError,
    time::{Duration, Instant},
};

/// How long a count holds while there is room.
const HOLDS: Duration = Duration::from_millis(200);
/// A count holds at least so many times as long as it took: counting takes a small part of the time, also when nothing more has room.
const PART: u32 = 20;
/// The most owners whose counts are kept.
const MOST_OWNERS: usize = 10_000;

/// The limits of waiting jobs and of stored bytes.
#[derive(Clone, Copy, Debug)]
pub struct StoreLimits {
    /// The jobs of one owner that wait.
    pub of_owner: u64,
    /// The jobs of all that wait.
    pub of_all: u64,
    /// The bytes that are stored of one owner: keys, and inputs of jobs.
    pub bytes_of_owner: u64,
    /// The keys of one owner.
    pub keys_of_owner: u64,
}

impl StoreLimits {
    /// No limits.
    pub const NONE: Self =
        Self { of_owner: u64::MAX, of_all: u64::MAX, bytes_of_owner: u64::MAX, keys_of_owner: u64::MAX };
}

/// The kept counts, with the jobs and bytes that were accepted since.
#[derive(Default)]
pub(super) struct Room {
    of_owners: HashMap<String, Count>,
    of_all: Option<Count>,
}

struct Count {
    at: Instant,
    took: Duration,
    jobs: u64,
    bytes: u64,
}

impl Count {
    fn holds(&self, is_full: bool) -> bool {
        let age = self.at.elapsed();
        age < PART * self.took || !is_full && age < HOLDS
    }
}

/// A request for room.
pub(super) struct Asked<'a> {
    pub(super) owner: &'a str,
    pub(super) jobs: u64,
    pub(super) bytes: u64,
}

impl Room {
    /// Takes the room that is asked for, or only looks for it; `None` if there is no count.
    fn ask(&mut self, asked: &Asked<'_>, limits: StoreLimits, takes: bool) -> Option<Result<(), StoreError>> {
        let (of_owner, of_all) = (self.of_owners.get_mut(asked.owner)?, self.of_all.as_mut()?);
        let full = |waiting, of| Some(Err(StoreError::Full { waiting, of }));
        if asked.jobs > 0 && of_owner.jobs >= limits.of_owner {
            return full(of_owner.jobs, "of one token");
        }
        if asked.jobs > 0 && of_all.jobs >= limits.of_all {
            return full(of_all.jobs, "of all tokens");
        }
        let bytes = of_owner.bytes.saturating_add(asked.bytes);
        if asked.bytes > 0 && bytes > limits.bytes_of_owner {
            return Some(Err(StoreError::Stored(format!(
                "{} bytes of this token are stored and {} more are too many, the most are {}: remove keys, or wait until jobs have ended",
                of_owner.bytes, asked.bytes, limits.bytes_of_owner
            ))));
        }
        if takes {
            of_owner.bytes = bytes;
            of_owner.jobs += asked.jobs;
            of_all.jobs += asked.jobs;
        }
        Some(Ok(()))
    }

    /// Forgets counts that do not hold.
    fn forget(&mut self, owner: &str, is_full: bool) {
        self.of_all.take_if(|count| !count.holds(is_full));
        if self.of_owners.get(owner).is_some_and(|count| !count.holds(is_full)) {
            self.of_owners.remove(owner);
        }
        if self.of_owners.len() >= MOST_OWNERS {
            self.of_owners.clear();
        }
    }
}

impl Store {
    /// Takes room for something that this transaction stores. A rollback does not give it back: until the next count, the kept counts are
    /// then too high, never too low.
    pub(super) fn take_room(
        &self,
        transaction: &mut dyn Transaction,
        asked: &Asked<'_>,
        limits: StoreLimits,
    ) -> Result<(), StoreError> {
        self.ask_room(transaction, asked, limits, true)
    }

    /// As [`Self::take_room`], but others may take the room before it is taken.
    pub(super) fn ask_room(
        &self,
        transaction: &mut dyn Transaction,
        asked: &Asked<'_>,
        limits: StoreLimits,
        takes: bool,
    ) -> Result<(), StoreError> {
        // The kept counts may be too high by now: only newer ones refuse.
        for is_full in [false, true] {
            self.count(transaction, asked.owner, is_full)?;
            match self.room().ask(asked, limits, takes) {
                Some(Ok(())) => return Ok(()),
                Some(Err(error)) if is_full => return Err(error),
                _ => {}
            }
        }
        // Another thread has just forgotten the counts.
        Err(StoreError::Contended)
    }

    /// Counts the jobs and bytes for which no count is kept.
    fn count(&self, transaction: &mut dyn Transaction, owner: &str, is_full: bool) -> Result<(), StoreError> {
        let (knows_owner, knows_all) = {
            let mut room = self.room();
            room.forget(owner, is_full);
            (room.of_owners.contains_key(owner), room.of_all.is_some())
        };
        if !knows_owner {
            let at = Instant::now();
            let sql = "SELECT (SELECT count(*) FROM jobs WHERE state = 'queued' AND owner = $1),
                (SELECT CAST(coalesce(sum(input_bytes), 0) AS BIGINT) FROM jobs WHERE owner = $1 AND inputs > 0),
                (SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM keys WHERE owner = $1)";
            let parameters: [SqlValue; 1] = [owner.into()];
            let row = one(transaction.query(sql, &parameters)?)?;
            let (jobs, bytes) = (row.count(0)?, row.count(1)?.saturating_add(row.count(2)?));
            let count = Count { at, took: at.elapsed(), jobs, bytes };
            self.room().of_owners.insert(owner.to_owned(), count);
        }
        if !knows_all {
            let at = Instant::now();
            let sql = "SELECT count(*) FROM jobs WHERE state = 'queued'";
            let jobs = one(transaction.query(sql, &[])?)?.count(0)?;
            self.room().of_all = Some(Count { at, took: at.elapsed(), jobs, bytes: 0 });
        }
        Ok(())
    }

    fn room(&self) -> std::sync::MutexGuard<'_, Room> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
