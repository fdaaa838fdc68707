//! PostgreSQL: a few threads, each with a connection of its own, so that several transactions wait for the server's disk together.
//!
//! A transaction runs at READ COMMITTED. It is repeated from its start when another one was in its way, or when the connection was
//! lost. If it was lost while the commit was on its way, nobody knows whether the first run had an effect. The second run has to be
//! harmless then, and it is:
//! * `submit` finds the job by its id, and answers as the first run did;
//! * `claim` takes another job: the lease of the first one ends, as if the worker had been killed after its claim;
//! * `report` compares the fence: a second `Finished`, `Failed`, `Lost` or `Released` of one claim is answered as the first was, and a
//!   second `Beat` prolongs the lease again;
//! * `cancel`, `retry`, `add_token` and `revoke_token` find the state that they lead to, and take it for their own work;
//! * `end_due` does not return again what the first run ended: waiters see it when they next look;
//! * `remove_key` answers that there is no such key, after it has removed it;
//! * `add_key`, `see_worker`, `forget_worker`, `inputs_deleted` and `forget` set the same again.

mod address;
mod session;

use super::{
    StoreError,
    database::{Activity, Database, Pending, ThreadStatus, TransactionAnswer, TransactionWork},
    migrate,
};
use address::Address;
use session::{PostgresSession, SessionKind, StatementFailure, Statements};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};
use tokio::{runtime, sync::oneshot};

/// Connections of each of our servers for transactions that write.
const WRITERS: usize = 8;
/// Connections for reading.
const READERS: usize = 3;
/// Connections for reading what may take long.
const SCANNERS: usize = 1;
/// How long a transaction is repeated.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the start waits for the database: it may be starting, too.
const PATIENCE_AT_START: Duration = Duration::from_secs(30);
/// The pause before the first repetition; each later one is twice as long, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// The store's clock. Statements have one time each.
const CLOCK: &str = "DO $do$ BEGIN
    IF to_regprocedure('now_ms()') IS NULL THEN
        CREATE FUNCTION now_ms() RETURNS BIGINT LANGUAGE sql STABLE
        AS $now$ SELECT floor(extract(epoch FROM statement_timestamp()) * 1000)::BIGINT $now$;
    END IF;
END $do$";
/// Servers that start together make the tables one after the other. The number is ours: the digits of `proof` on a telephone.
const LOCK: &str = "SELECT pg_advisory_xact_lock(77663)";

/// A database on a PostgreSQL server.
pub struct Postgres {
    writers: Threads,
    readers: Threads,
    scanners: Threads,
}

/// Threads that take tasks.
struct Threads {
    tasks: mpsc::Sender<QueuedWork>,
    statuses: Vec<ThreadStatus>,
}

/// Work that waits, since when, and who receives its answer.
struct QueuedWork {
    work: TransactionWork,
    since: Instant,
    reply: oneshot::Sender<TransactionAnswer>,
}

impl Postgres {
    /// Opens the database of a `postgres://` URL, makes the tables if it has none, and brings those of an earlier version up to date; waits
    /// up to 30 s for the server.
    ///
    /// A server that is not on this machine is reached by TLS, unless the URL says `sslmode=disable`. Its certificate is verified with
    /// the system's root certificates, or with those in the file that `sslrootcert` names. The password may stand in `PGPASSWORD`.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the database cannot be reached, [`StoreError::Version`] for one of a later version. Passwords
    /// are in no error.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let address = Address::of_url(url)?;
        let is_down = Arc::new(AtomicBool::new(false));
        let links = |kind, number| {
            let link = |_| Link::new(address.clone(), kind, is_down.clone());
            (0..number).map(link).collect::<Result<Vec<_>, _>>()
        };
        let first = links(SessionKind::SetsUp, 1)?.remove(0);
        // A thread of its own, since the caller may be one that must not wait.
        thread::scope(|scope| scope.spawn(|| set_up(first)).join()).expect("it does not panic")?;
        Ok(Self {
            writers: Threads::start("store", links(SessionKind::Writes, WRITERS)?),
            readers: Threads::start("store-reads", links(SessionKind::Reads, READERS)?),
            scanners: Threads::start("store-scans", links(SessionKind::Reads, SCANNERS)?),
        })
    }
}

/// Makes the tables, or brings them up to date, over a connection that ends then.
fn set_up(mut link: Link) -> Result<(), StoreError> {
    let work: TransactionWork = Arc::new(|transaction| {
        transaction.batch(LOCK)?;
        transaction.batch(CLOCK)?;
        migrate(transaction)?;
        let fsync = transaction.query("SELECT current_setting('fsync')", &[])?;
        Ok(Box::new(super::one(fsync)?.text(0)? == "on"))
    });
    let is_durable = link.answer(&work, Instant::now() + PATIENCE_AT_START)?;
    if is_durable.downcast_ref() == Some(&false) {
        tracing::warn!("{} has fsync off: it may lose jobs when its machine fails", link.address.place);
    }
    Ok(())
}

impl Database for Postgres {
    fn write(&self, work: TransactionWork) -> Pending<'_> {
        self.writers.send(work)
    }

    fn read(&self, work: TransactionWork) -> Pending<'_> {
        self.readers.send(work)
    }

    fn scan(&self, work: TransactionWork) -> Pending<'_> {
        self.scanners.send(work)
    }

    fn activities(&self) -> Vec<Activity> {
        let threads = [&self.writers, &self.readers, &self.scanners];
        threads.iter().flat_map(|threads| &threads.statuses).map(ThreadStatus::activity).collect()
    }
}

impl Threads {
    /// Starts a thread for each connection; they take tasks until all senders are gone.
    fn start(name: &str, links: Vec<Link>) -> Self {
        let (sender, tasks) = mpsc::channel::<QueuedWork>();
        let (tasks, mut statuses) = (Arc::new(Mutex::new(tasks)), Vec::with_capacity(links.len()));
        for mut link in links {
            let (tasks, status) = (tasks.clone(), ThreadStatus::default());
            statuses.push(status.clone());
            let body = move || {
                loop {
                    // An idle thread waits for tasks with the lock; the others wait for the lock.
                    let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(task) = next else { break };
                    status.during(|| link.serve(task));
                }
            };
            thread::Builder::new().name(name.to_owned()).spawn(body).expect("a thread can be started");
        }
        Self { tasks: sender, statuses }
    }

    fn send(&self, work: TransactionWork) -> Pending<'_> {
        Box::pin(async move {
            if self.statuses.iter().any(|status| status.activity() == Activity::Ended) {
                return Err(StoreError::Ended);
            }
            let (reply, answer) = oneshot::channel();
            self.tasks
                .send(QueuedWork { work, since: Instant::now(), reply })
                .map_err(|_| StoreError::Ended)?;
            answer.await.map_err(|_| StoreError::Ended)?
        })
    }
}

/// A connection that is made when it is needed, and made again when it is lost.
struct Link {
    address: Address,
    kind: SessionKind,
    runtime: runtime::Runtime,
    session: Option<PostgresSession>,
    /// Whether the database was out of reach when one of the threads last tried.
    is_down: Arc<AtomicBool>,
}

/// How a run of some work failed.
struct Failed {
    failure: StatementFailure,
    /// Whether it may have had an effect all the same.
    may_have_happened: bool,
}

impl From<StatementFailure> for Failed {
    fn from(failure: StatementFailure) -> Self {
        Self { failure, may_have_happened: false }
    }
}

impl Link {
    fn new(address: Address, kind: SessionKind, is_down: Arc<AtomicBool>) -> Result<Self, StoreError> {
        let runtime =
            runtime::Builder::new_current_thread().enable_all().build().map_err(StoreError::unavailable)?;
        Ok(Self { address, kind, runtime, session: None, is_down })
    }

    fn serve(&mut self, task: QueuedWork) {
        if task.reply.is_closed() {
            // The caller has gone, and the work has not begun.
            return;
        }
        let end = task.since + PATIENCE;
        // Tasks that waited while the database was out of reach do not each wait for it again.
        let answer = if Instant::now() > end && self.is_down.load(Ordering::Relaxed) {
            Err(self.unavailable("cannot be reached"))
        } else {
            self.answer(&task.work, end)
        };
        drop(task.reply.send(answer));
    }

    fn unavailable(&self, problem: &str) -> StoreError {
        StoreError::Unavailable(format!("{}: {problem}: try again when it answers", self.address.place))
    }

    /// Runs work until it is done or refused, or the time is over.
    fn answer(&mut self, work: &TransactionWork, end: Instant) -> TransactionAnswer {
        // Also work that has waited long gets a second chance.
        let end = end.max(Instant::now() + PATIENCE / 5);
        let mut pause = FIRST_PAUSE;
        let mut is_repeated = false;
        loop {
            let failed = match self.run(work, is_repeated) {
                Ok(answer) => {
                    self.is_down.store(false, Ordering::Relaxed);
                    return answer;
                }
                Err(failed) => failed,
            };
            // The run may have committed: from here on, the work looks for its own effects.
            is_repeated |= failed.may_have_happened;
            let is_lost = matches!(failed.failure, StatementFailure::Lost(_));
            self.is_down.store(is_lost, Ordering::Relaxed);
            if is_lost {
                self.session = None;
            }
            if let StatementFailure::Refused(problem) = &failed.failure {
                return Err(StoreError::Unavailable(format!("{}: {problem}", self.address.place)));
            }
            if Instant::now() + pause > end {
                return Err(match failed.failure {
                    StatementFailure::Lost(problem) | StatementFailure::Refused(problem) => {
                        self.unavailable(&problem)
                    }
                    StatementFailure::Contended => {
                        self.unavailable("other transactions were in the way again and again")
                    }
                });
            }
            thread::sleep(jittered(pause));
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    fn run(&mut self, work: &TransactionWork, is_repeated: bool) -> Result<TransactionAnswer, Failed> {
        let session = match &mut self.session {
            Some(session) => session,
            none => none.insert(PostgresSession::open(&self.runtime, &self.address, self.kind)?),
        };
        let begins = self.kind != SessionKind::Reads;
        let mut statements =
            Statements { runtime: &self.runtime, session, failure: None, is_repeated, begins };
        let result = match self.kind {
            SessionKind::Reads => read(work, &mut statements),
            SessionKind::Writes | SessionKind::SetsUp => write(work, &mut statements),
        };
        if statements.failure.is_some() {
            // The state of the connection is unknown: the next run opens another one.
            self.session = None;
        }
        result
    }
}

/// Runs work whose statements need no transaction, since each of them only reads.
fn read(work: &TransactionWork, statements: &mut Statements<'_>) -> Result<TransactionAnswer, Failed> {
    let answer = work(statements);
    statements.failure.clone().map_or(Ok(answer), |failure| Err(failure.into()))
}

fn write(work: &TransactionWork, statements: &mut Statements<'_>) -> Result<TransactionAnswer, Failed> {
    use super::Transaction as _;
    let answer = work(statements);
    let has_failed = statements.failure.clone();
    if has_failed.is_some() || answer.is_err() {
        // A rollback that succeeds shows that the connection is still good.
        if !matches!(has_failed, Some(StatementFailure::Lost(_))) && statements.batch("ROLLBACK").is_ok() {
            statements.failure = None;
        }
        return match (has_failed, answer) {
            (Some(failure), _) => Err(failure.into()),
            (None, Err(StoreError::Contended)) => Err(StatementFailure::Contended.into()),
            (None, answer) => Ok(answer),
        };
    }
    // A commit that waits for a replica is not cut short: the server would take it for done without the replica.
    drop(statements.batch("SET LOCAL statement_timeout = 0; COMMIT"));
    match statements.failure.clone() {
        None => Ok(answer),
        // The server may have committed if only its answer was lost.
        Some(failure) => {
            Err(Failed { may_have_happened: matches!(failure, StatementFailure::Lost(_)), failure })
        }
    }
}

/// Between half and three halves of this pause, at random: contending transactions spread out.
fn jittered(pause: Duration) -> Duration {
    let random = getrandom::u32().unwrap_or(u32::MAX / 2);
    pause.mul_f64(0.5 + f64::from(random) / f64::from(u32::MAX))
}
