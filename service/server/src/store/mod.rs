//! The durable state of the service: tokens, keys, jobs, workers, in SQLite or PostgreSQL.
//!
//! The statements are written once, for both. A method is one transaction, and returns when its effects are durable.

mod clock;
mod database;
mod jobs;
mod keys;
mod postgres;
mod room;
mod sqlite;
mod tokens;
mod workers;

pub use clock::Clock;
pub use database::{
    Activity, Database, Pending, SqlRow, SqlValue, Transaction, TransactionAnswer, TransactionWork,
};
pub use jobs::{
    ClaimOutcome, InputState, JobQuery, JobRecord, NewJob, Queue, SmallOutputs, Waiting, Want, Worked,
};
pub use keys::KeyRecord;
pub use postgres::Postgres;
pub use room::StoreLimits;
pub use sqlite::Sqlite;
pub use tokens::TokenRecord;
pub use workers::WorkerRecord;

use crate::state::{JobState, Refused};
use room::Room;
use std::{
    fmt::Display,
    path::Path,
    sync::{Arc, Mutex},
};

/// The changes of the tables, in order, each from one version to the next. What has been released is never changed: a new store is made
/// by all of them, one after the other, as an old one is brought up to date.
const CHANGES: [&str; 2] = [include_str!("schema/3.sql"), include_str!("schema/4.sql")];
/// The version of the tables that the first change makes.
const FIRST_VERSION: i64 = 3;
/// The version of the tables that all changes make.
const VERSION: i64 = FIRST_VERSION + CHANGES.len() as i64 - 1;

/// The durable state of the service. Clones are handles to one store.
#[derive(Clone)]
pub struct Store {
    database: Arc<dyn Database>,
    room: Arc<Mutex<Room>>,
}

/// The reason why the store did not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database cannot be reached or cannot write; the same may succeed later. It is not known whether a change was made.
    #[error("{0}")]
    Unavailable(String),
    /// A thread of the store has ended, by an error of this program: the process has to be started again.
    #[error("a thread of the store has ended: the service has to be started again")]
    Ended,
    /// Another transaction changed the same rows; nothing was changed.
    #[error("another transaction changed the same rows")]
    Contended,
    /// Nothing of this name is there, for this owner.
    #[error("{0}")]
    NotFound(String),
    /// The job is not in a state for this.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The idempotency key was used for something else.
    #[error("this idempotency key was used for another job, {0}: use a new one")]
    Idempotency(String),
    /// So many jobs wait that no more are accepted.
    #[error("{waiting} jobs wait, which is the most {of}: try again later")]
    Full {
        /// The jobs that wait.
        waiting: u64,
        /// Whose limit it is.
        of: &'static str,
    },
    /// The token has stored as much as it may.
    #[error("{0}")]
    Stored(String),
    /// The name is taken.
    #[error("{0}")]
    Taken(String),
    /// The store holds what no version of this program writes.
    #[error("the store is damaged: {0}")]
    Corrupt(String),
    /// The store was written by a later version, or by one before the first release.
    #[error(
        "the store has version {0}, this program knows {FIRST_VERSION} to {VERSION}: use the version of Proofmill that it was last opened with, or \
         a new store"
    )]
    Version(i64),
}

impl StoreError {
    pub(crate) fn unavailable(problem: impl Display) -> Self {
        Self::Unavailable(problem.to_string())
    }

    pub(crate) fn corrupt(column: usize, expected: &str, found: Option<&SqlValue>) -> Self {
        Self::Corrupt(format!("column {column}: expected {expected}, found {found:?}"))
    }

    pub(crate) fn about(self, place: impl Display) -> Self {
        match self {
            Self::Unavailable(problem) => Self::Unavailable(format!("{place}: {problem}")),
            other => other,
        }
    }
}

impl Store {
    /// Opens the store at `sqlite:PATH`, at the path of an SQLite file, or at a `postgres://` URL (see [`Postgres::open`]); makes it if it
    /// is not there.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if it cannot be opened, [`StoreError::Version`] for one of another version.
    pub fn open(place: &str) -> Result<Self, StoreError> {
        if place.starts_with("postgres://") || place.starts_with("postgresql://") {
            return Ok(Self::new(Postgres::open(place)?));
        }
        let path = place.strip_prefix("sqlite:").unwrap_or(place);
        match path.split_once("://") {
            // The text after the scheme may have a password.
            Some((scheme, _)) => Err(StoreError::unavailable(format!(
                "there is no store of type {scheme}: expected sqlite:PATH or postgres://USER@HOST/DATABASE"
            ))),
            None => Ok(Self::new(Sqlite::open(Path::new(path))?)),
        }
    }

    /// The store in a database that [`Sqlite::open`] or [`Postgres::open`] has opened.
    pub fn new(database: impl Database + 'static) -> Self {
        Self { database: Arc::new(database), room: Arc::default() }
    }

    /// The store's id: random, and made with it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn id(&self) -> Result<String, StoreError> {
        self.read(|transaction| one(transaction.query("SELECT id FROM identity", &[])?)?.text(0)).await
    }

    /// Whether the database can be written and read.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Ended`].
    pub async fn check(&self) -> Result<(), StoreError> {
        self.write(|transaction| now(transaction).map(drop)).await?;
        self.now().await.map(drop)
    }

    /// What each thread of the database does at this moment.
    pub fn activities(&self) -> Vec<Activity> {
        self.database.activities()
    }

    /// The database's time, in milliseconds since 1970.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn now(&self) -> Result<u64, StoreError> {
        self.read(now).await
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&mut dyn Transaction) -> Result<T, StoreError> + Send + Sync + 'static,
    ) -> Result<T, StoreError> {
        downcast(self.database.write(boxed(work)).await?)
    }

    async fn scan<T: Send + 'static>(
        &self,
        work: impl Fn(&mut dyn Transaction) -> Result<T, StoreError> + Send + Sync + 'static,
    ) -> Result<T, StoreError> {
        downcast(self.database.scan(boxed(work)).await?)
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&mut dyn Transaction) -> Result<T, StoreError> + Send + Sync + 'static,
    ) -> Result<T, StoreError> {
        downcast(self.database.read(boxed(work)).await?)
    }
}

fn boxed<T: Send + 'static>(
    work: impl Fn(&mut dyn Transaction) -> Result<T, StoreError> + Send + Sync + 'static,
) -> TransactionWork {
    Arc::new(move |transaction| Ok(Box::new(work(transaction)?)))
}

fn downcast<T: 'static>(answer: Box<dyn std::any::Any + Send>) -> Result<T, StoreError> {
    Ok(*answer.downcast().expect("the answer of this work"))
}

fn now(transaction: &mut dyn Transaction) -> Result<u64, StoreError> {
    one(transaction.query("SELECT now_ms()", &[])?)?.count(0)
}

/// The only row of a query that always has one.
fn one(rows: Vec<SqlRow>) -> Result<SqlRow, StoreError> {
    rows.into_iter().next().ok_or_else(|| StoreError::Corrupt("a query has no row".to_owned()))
}

fn state(row: &SqlRow, column: usize) -> Result<JobState, StoreError> {
    let name = row.text(column)?;
    JobState::of_name(&name).ok_or_else(|| StoreError::Corrupt(format!("{name} is no state")))
}

/// The version of the tables; `None` if there are none.
///
/// # Errors
/// [`StoreError::Version`] for tables that this program cannot bring up to date.
fn version(transaction: &mut dyn Transaction) -> Result<Option<i64>, StoreError> {
    transaction.batch("CREATE TABLE IF NOT EXISTS versions (version BIGINT NOT NULL)")?;
    let rows = transaction.query("SELECT version FROM versions", &[])?;
    match rows.first().map(|row| row.integer(0)).transpose()? {
        Some(version) if !(FIRST_VERSION..=VERSION).contains(&version) => Err(StoreError::Version(version)),
        version => Ok(version),
    }
}

/// Makes the tables if they are not there, and brings those of an earlier version up to date.
///
/// # Errors
/// As [`version`].
fn migrate(transaction: &mut dyn Transaction) -> Result<(), StoreError> {
    let found = version(transaction)?;
    let done = found.map_or(0, |version| version - FIRST_VERSION + 1);
    for change in CHANGES.iter().skip(usize::try_from(done).unwrap_or(0)) {
        transaction.batch(change)?;
    }
    match found {
        Some(VERSION) => Ok(()),
        Some(version) => {
            transaction.execute("UPDATE versions SET version = $1", &[VERSION.into()])?;
            tracing::warn!("the store was brought from version {version} to {VERSION}");
            Ok(())
        }
        None => {
            let id = uuid::Uuid::new_v4().simple().to_string();
            transaction.execute("INSERT INTO identity (id) VALUES ($1)", &[id.into()])?;
            transaction.execute("INSERT INTO versions (version) VALUES ($1)", &[VERSION.into()]).map(drop)
        }
    }
}
