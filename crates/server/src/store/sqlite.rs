//! SQLite: one thread writes, and commits what waits together; another one reads.
//!
//! Commits wait for the disk (`synchronous = FULL`). While one waits, more transactions arrive; the next commit takes all of them, each in
//! a savepoint of its own. So the rate of transactions is not bound to the rate of the disk's flushes.
//!
//! Several servers may use one file on one machine: SQLite's locks make their writers take turns. A network file system is no place for it.

use super::{
    StoreError,
    database::{Answer, Database, Pending, Row, Transaction, Value, Work},
    migrate,
};
use rusqlite::{Connection, OpenFlags, functions::FunctionFlags, types::ValueRef};
use std::{
    fs::{self, OpenOptions},
    io,
    path::Path,
    sync::mpsc,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use tokio::sync::oneshot;

/// The most transactions of one commit.
const MOST_TOGETHER: usize = 256;
/// How long a writer waits for another process.
const PATIENCE: Duration = Duration::from_secs(20);

/// A database in a file.
pub struct Sqlite {
    writer: mpsc::Sender<Task>,
    reader: mpsc::Sender<Task>,
}

/// A transaction that waits, and the channel for its answer.
struct Task {
    work: Work,
    reply: oneshot::Sender<Answer>,
}

impl Sqlite {
    /// Opens the database, or makes it; only the owner can read it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] for a file that cannot be opened, [`StoreError::Version`] for one of a later version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        create_private(path)
            .map_err(|error| StoreError::unavailable(format!("{}: {error}", path.display())))?;
        let about = |error: StoreError| error.about(path.display());
        let clock = Clock::start();
        let mut connection = connect(path, clock).map_err(about)?;
        let settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;";
        connection.execute_batch(settings).map_err(StoreError::from).map_err(about)?;
        commit(&mut connection, |connection| migrate(&mut Statements(connection))).map_err(about)?;
        let reader = connect(path, clock).map_err(about)?;
        Ok(Self {
            writer: start("store", connection, write_all),
            reader: start("store-reads", reader, read_all),
        })
    }
}

impl Database for Sqlite {
    fn write(&self, work: Work) -> Pending<'_> {
        send(&self.writer, work)
    }

    fn read(&self, work: Work) -> Pending<'_> {
        send(&self.reader, work)
    }
}

fn send(thread: &mpsc::Sender<Task>, work: Work) -> Pending<'_> {
    Box::pin(async move {
        let (reply, answer) = oneshot::channel();
        let ended = || StoreError::unavailable("the store's thread has ended");
        thread.send(Task { work, reply }).map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    })
}

/// Starts a thread that passes everything that waits to `serve`, until all senders are gone.
fn start(
    name: &str,
    mut connection: Connection,
    serve: fn(&mut Connection, Vec<Task>),
) -> mpsc::Sender<Task> {
    let (sender, tasks) = mpsc::channel();
    let body = move || {
        while let Ok(first) = tasks.recv() {
            let mut together = vec![first];
            together.extend(tasks.try_iter().take(MOST_TOGETHER - 1));
            serve(&mut connection, together);
        }
    };
    thread::Builder::new().name(name.to_owned()).spawn(body).expect("a thread can be started");
    sender
}

/// Commits all tasks together; if that fails, none of them.
fn write_all(connection: &mut Connection, tasks: Vec<Task>) {
    let mut answers = Vec::with_capacity(tasks.len());
    let committed = commit(connection, |connection| {
        for task in &tasks {
            connection.execute_batch("SAVEPOINT task")?;
            let answer = (task.work)(&mut Statements(connection));
            if answer.is_err() {
                connection.execute_batch("ROLLBACK TO task")?;
            }
            connection.execute_batch("RELEASE task")?;
            answers.push(answer);
        }
        Ok(())
    });
    match committed {
        Ok(()) => tasks.into_iter().zip(answers).for_each(|(task, answer)| drop(task.reply.send(answer))),
        Err(error) => tasks.into_iter().for_each(|task| drop(task.reply.send(Err(error.clone())))),
    }
}

fn read_all(connection: &mut Connection, tasks: Vec<Task>) {
    for task in tasks {
        let read = |connection: &mut Connection| {
            connection.execute_batch("BEGIN")?;
            let answer = (task.work)(&mut Statements(connection));
            connection.execute_batch("ROLLBACK")?;
            answer
        };
        drop(task.reply.send(read(connection)));
    }
}

fn commit(
    connection: &mut Connection,
    work: impl FnOnce(&mut Connection) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let result = work(connection).and_then(|()| Ok(connection.execute_batch("COMMIT")?));
    if result.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    result
}

/// Makes the file if there is none, readable by its owner only.
fn create_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    options.open(path).map(drop)
}

fn connect(path: &Path, clock: Clock) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.execute_batch("PRAGMA foreign_keys = ON")?;
    connection.set_prepared_statement_cache_capacity(128);
    connection.create_scalar_function("now_ms", 0, FunctionFlags::SQLITE_UTF8, move |_| Ok(clock.now()))?;
    Ok(connection)
}

/// The time of day when it was started, and a clock that nobody sets since: a lease does not end early or late when somebody sets
/// the machine's clock.
#[derive(Clone, Copy)]
struct Clock {
    started: Instant,
    started_at: i64,
}

impl Clock {
    fn start() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { started: Instant::now(), started_at: milliseconds(since) }
    }

    fn now(&self) -> i64 {
        self.started_at + milliseconds(self.started.elapsed())
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// The statements of the open transaction.
struct Statements<'a>(&'a Connection);

impl Transaction for Statements<'_> {
    fn execute(&mut self, sql: &'static str, parameters: &[Value]) -> Result<u64, StoreError> {
        let mut statement = self.0.prepare_cached(sql)?;
        bind(&mut statement, parameters)?;
        Ok(statement.raw_execute()? as u64)
    }

    fn query(&mut self, sql: &'static str, parameters: &[Value]) -> Result<Vec<Row>, StoreError> {
        let mut statement = self.0.prepare_cached(sql)?;
        bind(&mut statement, parameters)?;
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let value = |column| match row.get_ref(column)? {
                ValueRef::Null => Ok(Value::Null),
                ValueRef::Integer(value) => Ok(Value::Integer(value)),
                ValueRef::Text(text) => Ok(Value::Text(String::from_utf8_lossy(text).into_owned())),
                ValueRef::Real(_) | ValueRef::Blob(_) => {
                    Err(StoreError::Corrupt(format!("column {column} is neither text nor an integer")))
                }
            };
            found.push(Row((0..columns).map(value).collect::<Result<_, StoreError>>()?));
        }
        Ok(found)
    }

    fn batch(&mut self, sql: &'static str) -> Result<(), StoreError> {
        Ok(self.0.execute_batch(sql)?)
    }

    fn locks_rows(&self) -> bool {
        false
    }

    fn is_repeated(&self) -> bool {
        false
    }
}

/// Binds the parameters by name: SQLite would number them by their first occurrence.
fn bind(statement: &mut rusqlite::CachedStatement<'_>, parameters: &[Value]) -> Result<(), StoreError> {
    for (index, value) in parameters.iter().enumerate() {
        // A statement need not use all parameters.
        let Some(place) = statement.parameter_index(&format!("${}", index + 1))? else { continue };
        match value {
            Value::Null => statement.raw_bind_parameter(place, rusqlite::types::Null)?,
            Value::Integer(value) => statement.raw_bind_parameter(place, value)?,
            Value::Text(text) => statement.raw_bind_parameter(place, text)?,
        }
    }
    Ok(())
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::unavailable(format!("SQLite: {error}"))
    }
}
