//! SQLite. One thread writes, and commits all waiting transactions together. Reads happen on the calling thread, or on another one while
//! its connection is busy. One thread does reads that may take long.
//!
//! Commits wait for the disk (`synchronous = FULL`). While one waits, more transactions arrive; the next commit takes all of them, each in
//! a savepoint of its own. So the rate of transactions is not bound to the rate of the disk's flushes.
//!
//! Several servers may use one file on one machine: SQLite's locks make their writers take turns. A network file system is no place for it.

use super::{
    StoreError, VERSION,
    clock::{Clock, MachineClock, Time},
    database::{
        Activity, Database, Pending, SqlRow, SqlValue, ThreadStatus, Transaction, TransactionAnswer,
        TransactionWork,
    },
    migrate, version,
};
use rusqlite::{Connection, OpenFlags, functions::FunctionFlags, types::ValueRef};
use std::{
    fs::{self, OpenOptions},
    future::ready,
    io,
    path::Path,
    sync::{Arc, Mutex, TryLockError, mpsc},
    thread,
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// The most transactions of one commit.
const MOST_TOGETHER: usize = 256;
/// How long a writer waits for another process.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest time of one scan.
const LONGEST_SCAN: Duration = Duration::from_secs(10);
/// A scan looks at the time once in so many instructions of SQLite's machine: about a hundred times a second.
const LOOK_AT_TIME: i32 = 100_000;

/// A database in a file.
pub struct Sqlite {
    writer: Thread,
    /// The calling threads' connection: a cached page is read sooner than another thread wakes.
    here: Mutex<Link>,
    reader: Thread,
    scanner: Thread,
}

/// A thread that takes work.
struct Thread {
    tasks: mpsc::Sender<QueuedWork>,
    status: ThreadStatus,
}

/// A transaction that waits, and the channel for its answer.
struct QueuedWork {
    work: TransactionWork,
    reply: oneshot::Sender<TransactionAnswer>,
}

/// A connection, and its time.
struct Link {
    connection: Connection,
    time: Arc<Time>,
}

impl Sqlite {
    /// Opens the database, or makes it; only the owner can read it. One of an earlier version is brought up to date, after it was copied to
    /// `PATH.version-N`.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] for a file that cannot be opened, [`StoreError::Version`] for one of a later version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let machine = MachineClock::new()
            .map_err(|error| StoreError::unavailable(format!("the machine's start: {error}")))?;
        Self::open_with(path, Arc::new(machine))
    }

    /// As [`Self::open`], with the clocks of another machine.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with(path: &Path, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        create_private(path)
            .map_err(|error| StoreError::unavailable(format!("{}: {error}", path.display())))?;
        let about = |error: StoreError| error.about(path.display());
        let link = || Link::open(path, clock.clone()).map_err(about);
        let mut writer = link()?;
        // FULL flushes the log at each commit: an answered transaction survives a power failure.
        let settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;";
        writer.connection.execute_batch(settings).map_err(StoreError::from).map_err(about)?;
        if let Some(old) = version(&mut Statements(&writer.connection)).map_err(about)?
            && old != VERSION
        {
            copy_to(&writer.connection, &path.with_added_extension(format!("version-{old}")))
                .map_err(about)?;
        }
        let prepare = |link: &Link| {
            migrate(&mut Statements(&link.connection))?;
            link.time.set(&mut Statements(&link.connection))
        };
        writer.commit(prepare).map_err(about)?;
        Ok(Self {
            writer: Thread::start("store", writer, MOST_TOGETHER, Link::write_all),
            here: Mutex::new(link()?),
            reader: Thread::start("store-reads", link()?, 1, Link::read_all),
            scanner: Thread::start("store-scans", link()?, 1, Link::scan_all),
        })
    }
}

impl Database for Sqlite {
    fn write(&self, work: TransactionWork) -> Pending<'_> {
        self.writer.send(work)
    }

    fn read(&self, work: TransactionWork) -> Pending<'_> {
        // The caller may be an async thread, which must not wait for a lock.
        match self.here.try_lock() {
            Ok(link) => Box::pin(ready(link.read(&work))),
            Err(TryLockError::WouldBlock) => self.reader.send(work),
            Err(TryLockError::Poisoned(_)) => Box::pin(ready(Err(StoreError::Ended))),
        }
    }

    fn scan(&self, work: TransactionWork) -> Pending<'_> {
        self.scanner.send(work)
    }

    fn activities(&self) -> Vec<Activity> {
        let here = if self.here.is_poisoned() { Activity::Ended } else { Activity::Idle };
        let threads = [&self.writer, &self.reader, &self.scanner];
        threads.iter().map(|thread| thread.status.activity()).chain([here]).collect()
    }
}

impl Thread {
    /// Starts a thread that passes what waits to `serve`, at most so much at a time, until the sender is gone.
    fn start(name: &str, mut link: Link, most: usize, serve: fn(&mut Link, Vec<QueuedWork>)) -> Self {
        let (sender, tasks) = mpsc::channel::<QueuedWork>();
        let status = ThreadStatus::default();
        let own = status.clone();
        let body = move || {
            while let Ok(first) = tasks.recv() {
                // Others arrived during the last commit: the writer commits all of them with one flush. Who has hung up gets nothing.
                let waiting =
                    [first].into_iter().chain(tasks.try_iter()).filter(|task| !task.reply.is_closed());
                let together = waiting.take(most).collect();
                own.during(|| serve(&mut link, together));
            }
        };
        thread::Builder::new().name(name.to_owned()).spawn(body).expect("a thread can be started");
        Self { tasks: sender, status }
    }

    fn send(&self, work: TransactionWork) -> Pending<'_> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            self.tasks.send(QueuedWork { work, reply }).map_err(|_| StoreError::Ended)?;
            answer.await.map_err(|_| StoreError::Ended)?
        })
    }
}

impl Link {
    fn open(path: &Path, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.execute_batch("PRAGMA foreign_keys = ON")?;
        connection.set_prepared_statement_cache_capacity(128);
        let time = Arc::new(Time::new(clock));
        let now = time.clone();
        connection.create_scalar_function("now_ms", 0, FunctionFlags::SQLITE_UTF8, move |_| Ok(now.now()))?;
        Ok(Self { connection, time })
    }

    /// Commits all tasks together; if that fails, none of them.
    fn write_all(&mut self, tasks: Vec<QueuedWork>) {
        let mut answers = Vec::with_capacity(tasks.len());
        let committed = self.commit(|link| {
            let connection = &link.connection;
            // Another server may have moved the shared clock since the last commit.
            link.time.follow(&mut Statements(connection))?;
            for task in &tasks {
                // A failed task undoes its own changes only: the other tasks still commit.
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
        // Answers follow the commit: no caller may learn of an effect that a crash can undo.
        match committed {
            Ok(()) => tasks.into_iter().zip(answers).for_each(|(task, answer)| drop(task.reply.send(answer))),
            Err(error) => tasks.into_iter().for_each(|task| drop(task.reply.send(Err(error.clone())))),
        }
    }

    fn read_all(&mut self, tasks: Vec<QueuedWork>) {
        tasks.into_iter().for_each(|task| drop(task.reply.send(self.read(&task.work))));
    }

    /// As [`Self::read_all`]; each task is ended when its time is over, or nobody waits for it any more.
    fn scan_all(&mut self, tasks: Vec<QueuedWork>) {
        for QueuedWork { work, reply } in tasks {
            let (end, reply) = (Instant::now() + LONGEST_SCAN, Arc::new(reply));
            let waits = reply.clone();
            let is_over = move || Instant::now() > end || waits.is_closed();
            let answer = self.connection.progress_handler(LOOK_AT_TIME, Some(is_over));
            let answer = answer.map_err(StoreError::from).and_then(|()| self.read(&work));
            // This drops the handler, and with it the other owner of the reply.
            let cleared = self.connection.progress_handler(LOOK_AT_TIME, None::<fn() -> bool>);
            let answer = match answer {
                Err(StoreError::Unavailable(_)) if Instant::now() > end => Err(StoreError::unavailable(
                    format!("the list takes longer than {} s", LONGEST_SCAN.as_secs()),
                )),
                answer => cleared.map_err(StoreError::from).and(answer),
            };
            if let Some(reply) = Arc::into_inner(reply) {
                drop(reply.send(answer));
            }
        }
    }

    fn read(&self, work: &TransactionWork) -> TransactionAnswer {
        // One transaction, so that all queries of the work see the same state.
        self.connection.execute_batch("BEGIN")?;
        let mut statements = Statements(&self.connection);
        let answer = self.time.follow(&mut statements).and_then(|()| work(&mut statements));
        self.connection.execute_batch("ROLLBACK")?;
        answer
    }

    fn commit(&mut self, work: impl FnOnce(&Self) -> Result<(), StoreError>) -> Result<(), StoreError> {
        // The write lock comes first: SQLite refuses to upgrade a read whose snapshot is stale.
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let result = work(self).and_then(|()| Ok(self.connection.execute_batch("COMMIT")?));
        // SQLite ends the transaction by itself after some errors; a second ROLLBACK would fail.
        if result.is_err() && !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK")?;
        }
        result
    }
}

/// Copies the database to a file, readable by its owner only, which is there as a whole or not at all.
fn copy_to(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let about = |error: io::Error| StoreError::unavailable(format!("{}: {error}", path.display()));
    let begun = path.with_added_extension("new");
    match fs::remove_file(&begun) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(about(error)),
        _ => create_private(&begun).map_err(about)?,
    }
    connection.execute("VACUUM INTO ?1", [begun.to_string_lossy()])?;
    let copied = fs::File::open(&begun).and_then(|file| file.sync_all());
    copied.and_then(|()| fs::rename(&begun, path)).map_err(about)
}

/// Makes the file if there is none, readable by its owner only.
fn create_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    // Append mode leaves the content of an existing database alone.
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    options.open(path).map(drop)
}

/// The statements of the open transaction.
struct Statements<'a>(&'a Connection);

impl Transaction for Statements<'_> {
    fn execute(&mut self, sql: &'static str, parameters: &[SqlValue]) -> Result<u64, StoreError> {
        let mut statement = self.0.prepare_cached(sql)?;
        bind(&mut statement, parameters)?;
        Ok(statement.raw_execute()? as u64)
    }

    fn query(&mut self, sql: &'static str, parameters: &[SqlValue]) -> Result<Vec<SqlRow>, StoreError> {
        let mut statement = self.0.prepare_cached(sql)?;
        bind(&mut statement, parameters)?;
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let value = |column| {
                Ok(match row.get_ref(column)? {
                    ValueRef::Null => SqlValue::Null,
                    ValueRef::Integer(value) => SqlValue::Integer(value),
                    ValueRef::Text(text) => SqlValue::Text(String::from_utf8_lossy(text).into_owned()),
                    ValueRef::Real(_) | ValueRef::Blob(_) => SqlValue::Other,
                })
            };
            found.push(SqlRow((0..columns).map(value).collect::<Result<_, StoreError>>()?));
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
fn bind(statement: &mut rusqlite::CachedStatement<'_>, parameters: &[SqlValue]) -> Result<(), StoreError> {
    for (index, value) in parameters.iter().enumerate() {
        // A statement need not use all parameters.
        let Some(place) = statement.parameter_index(&format!("${}", index + 1))? else { continue };
        match value {
            SqlValue::Null => statement.raw_bind_parameter(place, rusqlite::types::Null)?,
            SqlValue::Integer(value) => statement.raw_bind_parameter(place, value)?,
            SqlValue::Text(text) => statement.raw_bind_parameter(place, text)?,
            SqlValue::Other => return Err(StoreError::corrupt(index, "a parameter", Some(value))),
        }
    }
    Ok(())
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::unavailable(format!("SQLite: {error}"))
    }
}
