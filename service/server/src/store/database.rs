//! The database as the store needs it: transactions of statements that SQLite and PostgreSQL both understand.

use super::StoreError;
use std::{
    any::Any,
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

/// A value of a parameter or column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqlValue {
    /// NULL.
    Null,
    /// BIGINT.
    Integer(i64),
    /// TEXT.
    Text(String),
    /// A value of another type, which this program never writes. The other columns and rows are still read.
    Other,
}

/// A row of a result.
#[derive(Clone, Debug)]
pub struct SqlRow(pub Vec<SqlValue>);

/// The statements of one transaction. Parameters are `$1`, `$2`, ...
pub trait Transaction {
    /// Executes a statement, and returns the number of rows that it changed.
    ///
    /// # Errors
    /// [`StoreError`] of the database.
    fn execute(&mut self, sql: &'static str, parameters: &[SqlValue]) -> Result<u64, StoreError>;

    /// The rows of a query.
    ///
    /// # Errors
    /// [`StoreError`] of the database.
    fn query(&mut self, sql: &'static str, parameters: &[SqlValue]) -> Result<Vec<SqlRow>, StoreError>;

    /// Executes several statements without parameters.
    ///
    /// # Errors
    /// [`StoreError`] of the database.
    fn batch(&mut self, sql: &'static str) -> Result<(), StoreError>;

    /// Whether several transactions write at the same time, so that rows to be changed are locked when they are read.
    fn locks_rows(&self) -> bool;

    /// Whether an earlier run of this work may have been committed, whose answer was lost: what the work leads to may be its own doing.
    fn is_repeated(&self) -> bool;
}

/// The result of a transaction's work, before it is known whether the transaction is committed.
pub type TransactionAnswer = Result<Box<dyn Any + Send>, StoreError>;
/// The work of a transaction. It may be called several times: only the last call's effects and answer count.
pub type TransactionWork = Arc<dyn Fn(&mut dyn Transaction) -> TransactionAnswer + Send + Sync>;
/// An answer to come.
pub type Pending<'a> = Pin<Box<dyn Future<Output = TransactionAnswer> + Send + 'a>>;

/// A database.
pub trait Database: Send + Sync {
    /// Does the work in a transaction; the answer comes when it is durable. An error of the work rolls it back.
    fn write(&self, work: TransactionWork) -> Pending<'_>;

    /// Does work that changes nothing, on a recent state of the database.
    fn read(&self, work: TransactionWork) -> Pending<'_>;

    /// As [`Self::read`], for work that may take long: it delays nothing that others read or write, and is ended with
    /// [`StoreError::Unavailable`] after a few seconds. Work whose answer nobody waits for any more is not begun.
    fn scan(&self, work: TransactionWork) -> Pending<'_>;

    /// What each of its threads does at this moment.
    fn activities(&self) -> Vec<Activity>;
}

/// What a thread does at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It waits for work.
    Idle,
    /// It does this piece of its work; each has another number.
    Works(u64),
    /// It has ended by a panic.
    Ended,
}

/// Tells what a thread does: the number of times that it has begun or ended work, which is odd while it works.
#[derive(Clone, Default)]
pub(super) struct ThreadStatus(Arc<AtomicU64>);

impl ThreadStatus {
    /// The number of a thread that has ended.
    const ENDED: u64 = u64::MAX;

    /// Does a piece of work.
    pub(super) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let _end = EndOfWork(self);
        self.0.fetch_add(1, Ordering::Relaxed);
        work()
    }

    /// What the thread does.
    pub(super) fn activity(&self) -> Activity {
        match self.0.load(Ordering::Relaxed) {
            Self::ENDED => Activity::Ended,
            number if number % 2 == 1 => Activity::Works(number),
            _ => Activity::Idle,
        }
    }
}

struct EndOfWork<'a>(&'a ThreadStatus);

impl Drop for EndOfWork<'_> {
    fn drop(&mut self) {
        let ThreadStatus(number) = self.0;
        if thread::panicking() {
            number.store(ThreadStatus::ENDED, Ordering::Relaxed);
        } else {
            number.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl SqlRow {
    /// The integer in this column.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] for another type.
    pub fn integer(&self, column: usize) -> Result<i64, StoreError> {
        match self.0.get(column) {
            Some(SqlValue::Integer(value)) => Ok(*value),
            other => Err(StoreError::corrupt(column, "an integer", other)),
        }
    }

    /// The non-negative integer in this column.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] for anything else.
    pub fn count(&self, column: usize) -> Result<u64, StoreError> {
        let value = self.integer(column)?;
        u64::try_from(value).map_err(|_| StoreError::corrupt(column, "a count", self.0.get(column)))
    }

    /// The text in this column.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] for another type.
    pub fn text(&self, column: usize) -> Result<String, StoreError> {
        match self.0.get(column) {
            Some(SqlValue::Text(text)) => Ok(text.clone()),
            other => Err(StoreError::corrupt(column, "text", other)),
        }
    }

    /// The value that `get` finds in this column; `None` for NULL.
    ///
    /// # Errors
    /// Those of `get`.
    pub fn optional<T>(
        &self,
        column: usize,
        get: impl FnOnce(&Self, usize) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        if self.0.get(column) == Some(&SqlValue::Null) { Ok(None) } else { get(self, column).map(Some) }
    }
}

impl From<i64> for SqlValue {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<u64> for SqlValue {
    /// Values above the greatest of BIGINT become that one.
    fn from(value: u64) -> Self {
        Self::Integer(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<u32> for SqlValue {
    fn from(value: u32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<bool> for SqlValue {
    fn from(value: bool) -> Self {
        Self::Integer(value.into())
    }
}

impl From<&str> for SqlValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for SqlValue {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl<T: Into<SqlValue>> From<Option<T>> for SqlValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
