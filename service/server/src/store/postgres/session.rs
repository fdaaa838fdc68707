//! A connection to PostgreSQL, and the statements of its transaction.

use super::{
    super::{SqlRow, SqlValue, StoreError, Transaction},
    address::Address,
};
use bytes::BytesMut;
use futures::future::join;
use std::{collections::HashMap, error::Error, io, iter, time::Duration};
use tokio::{runtime::Runtime, task::JoinHandle, time::timeout};
use tokio_postgres::{
    Client, NoTls, Statement,
    error::SqlState,
    types::{IsNull, ToSql, Type, to_sql_checked},
};

/// Longest time for an answer: the server ends statements after 5 s, unless it or the network is dead.
const ANSWER: Duration = Duration::from_secs(6);
/// The same of making tables.
const ANSWER_TO_SET_UP: Duration = Duration::from_secs(24 * 3600);

/// Settings of every connection. No statement or lock takes long, and a server that was stopped in the middle of a transaction holds its
/// locks only for a while. Commits wait for the disk even where the database's default is otherwise.
const SETTINGS: &str = "SET statement_timeout = '5s'; SET lock_timeout = '2s'; SET idle_in_transaction_session_timeout = '10s';
    SET client_encoding = 'UTF8'; SET default_transaction_isolation = 'read committed';
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local');";

/// Settings of connections that write. Each of their statements finds its rows by an index; the next job of the queue comes in the index's
/// order. Otherwise the server would collect and sort all waiting jobs as long as its statistics do not know that the queue has become
/// long. Plans are made once. A plan that needs a disabled scan has a high estimated cost, which is no reason to compile it.
const WRITER_SETTINGS: &str =
    "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; SET jit = off;
    SET plan_cache_mode = force_generic_plan;";
const READER_SETTINGS: &str = "SET default_transaction_read_only = on";
/// Indexes of long tables take long to make, and what other servers do with the tables is waited for.
const SET_UP_SETTINGS: &str = "SET statement_timeout = 0; SET lock_timeout = '60s'";

/// The purpose of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionKind {
    /// Transactions that change something.
    Writes,
    /// Single statements that change nothing.
    Reads,
    /// The transaction that makes the tables.
    SetsUp,
}

impl SessionKind {
    fn settings(self) -> &'static str {
        match self {
            Self::Writes => WRITER_SETTINGS,
            Self::Reads => READER_SETTINGS,
            Self::SetsUp => SET_UP_SETTINGS,
        }
    }

    /// Longest time for an answer.
    fn longest(self) -> Duration {
        match self {
            Self::Writes | Self::Reads => ANSWER,
            Self::SetsUp => ANSWER_TO_SET_UP,
        }
    }
}

/// Why a statement failed.
#[derive(Clone, Debug)]
pub(super) enum StatementFailure {
    /// Another transaction was in the way: the same may succeed at once.
    Contended,
    /// The connection is lost; the same may succeed with another one.
    Lost(String),
    /// The server refused it; the same is refused again.
    Refused(String),
}

impl StatementFailure {
    /// The failure behind an error. The same may succeed now or with another connection, unless the server says that it does not.
    fn of(error: &tokio_postgres::Error) -> Self {
        let Some(code) = error.code() else {
            // A certificate that is not trusted, or no TLS at the server.
            let is_final = sources(error).any(|cause| cause.is::<rustls::Error>()) || is_tls_refused(error);
            let problem = describe(error);
            return if is_final { Self::Refused(problem) } else { Self::Lost(problem) };
        };
        match *code {
            SqlState::T_R_SERIALIZATION_FAILURE
            | SqlState::T_R_DEADLOCK_DETECTED
            | SqlState::LOCK_NOT_AVAILABLE
            // Another transaction has just inserted the same.
            | SqlState::UNIQUE_VIOLATION => Self::Contended,
            // A replica that was the main server before, or a table that was changed since the statement was prepared.
            SqlState::READ_ONLY_SQL_TRANSACTION
            | SqlState::TOO_MANY_CONNECTIONS
            | SqlState::FEATURE_NOT_SUPPORTED
            | SqlState::INVALID_SQL_STATEMENT_NAME
            | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => Self::Lost(describe(error)),
            // Connection exceptions; interventions of an operator, but not that the statement took too long.
            ref code if code.code().starts_with("08") || (code.code().starts_with("57P")) => {
                Self::Lost(describe(error))
            }
            _ => Self::Refused(describe(error)),
        }
    }
}

/// The error in one line. The server's details may have values of columns and are left out.
fn describe(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        return format!("{} (SQLSTATE {})", error.message(), error.code().code());
    }
    sources(error).fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// The causes of an error, each the cause of the one before.
fn sources(error: &tokio_postgres::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    iter::successors(error.source(), |cause| source(*cause))
}

/// The cause of an error. An [`io::Error`] names the cause of the error in it as its own.
fn source<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

fn is_tls_refused(error: &tokio_postgres::Error) -> bool {
    sources(error).any(|cause| cause.to_string().contains("does not support TLS"))
}

/// A connection. It is served by the runtime while that waits for an answer.
pub(super) struct PostgresSession {
    client: Client,
    connection: JoinHandle<()>,
    /// Longest time for an answer.
    longest: Duration,
    prepared: Prepared,
}

impl PostgresSession {
    pub(super) fn open(
        runtime: &Runtime,
        address: &Address,
        kind: SessionKind,
    ) -> Result<Self, StatementFailure> {
        let connect = async {
            let about = |error: tokio_postgres::Error| StatementFailure::of(&error);
            let (client, connection) = match &address.tls {
                Some(tls) => {
                    let (client, connection) = address.config.connect(tls.clone()).await.map_err(about)?;
                    // The end of the connection shows in the errors of its statements.
                    (client, tokio::spawn(async { drop(connection.await) }))
                }
                None => {
                    let (client, connection) = address.config.connect(NoTls).await.map_err(about)?;
                    (client, tokio::spawn(async { drop(connection.await) }))
                }
            };
            let session = Self { client, connection, longest: kind.longest(), prepared: Prepared::default() };
            session.client.batch_execute(SETTINGS).await.map_err(about)?;
            session.client.batch_execute(kind.settings()).await.map_err(about)?;
            Ok(session)
        };
        let late = |_| StatementFailure::Lost("it does not answer".to_owned());
        runtime.block_on(async { timeout(address.patience(), connect).await }).map_err(late)?
    }
}

impl Drop for PostgresSession {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

/// The statements of the open transaction.
pub(super) struct Statements<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) session: &'a mut PostgresSession,
    /// The first failure: the server has given up the transaction, whatever the work makes of the error.
    pub(super) failure: Option<StatementFailure>,
    pub(super) is_repeated: bool,
    /// Whether the transaction is yet to begin: with the first statement, so that no time is lost for an answer of its own.
    pub(super) begins: bool,
}

impl Statements<'_> {
    fn wait<T>(
        &mut self,
        statement: impl AsyncFnOnce(&Client, &mut Prepared) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, StoreError> {
        let begins = std::mem::take(&mut self.begins);
        let PostgresSession { client, prepared, longest, .. } = &mut *self.session;
        let longest = *longest;
        let answer = async {
            if !begins {
                return statement(client, prepared).await;
            }
            // The first that is polled is the first that is sent; if it fails, so does the connection.
            let (began, answer) = join(client.batch_execute("BEGIN"), statement(client, prepared)).await;
            began.and(answer)
        };
        let failure = match self.runtime.block_on(async { timeout(longest, answer).await }) {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => StatementFailure::of(&error),
            Err(_) => StatementFailure::Lost(format!("no answer came within {} s", longest.as_secs())),
        };
        let error = match &failure {
            StatementFailure::Contended => StoreError::Contended,
            StatementFailure::Lost(problem) | StatementFailure::Refused(problem) => {
                StoreError::unavailable(problem)
            }
        };
        self.failure.get_or_insert(failure);
        Err(error)
    }
}

/// The statements of a connection that the server has prepared.
#[derive(Default)]
struct Prepared(HashMap<&'static str, Statement>);

impl Prepared {
    async fn get(&mut self, client: &Client, sql: &'static str) -> Result<Statement, tokio_postgres::Error> {
        if let Some(statement) = self.0.get(sql) {
            return Ok(statement.clone());
        }
        let statement = client.prepare(sql).await?;
        self.0.insert(sql, statement.clone());
        Ok(statement)
    }
}

impl Transaction for Statements<'_> {
    fn execute(&mut self, sql: &'static str, parameters: &[SqlValue]) -> Result<u64, StoreError> {
        self.wait(async |client, prepared| {
            let statement = prepared.get(client, sql).await?;
            client.execute_raw(&statement, used(&statement, parameters)).await
        })
    }

    fn query(&mut self, sql: &'static str, parameters: &[SqlValue]) -> Result<Vec<SqlRow>, StoreError> {
        let rows = self.wait(async |client, prepared| {
            let statement = prepared.get(client, sql).await?;
            let parameters: Vec<Parameter<'_>> = used(&statement, parameters).collect();
            let parameters: Vec<&(dyn ToSql + Sync)> = parameters.iter().map(|value| value as _).collect();
            client.query(&statement, &parameters).await
        })?;
        rows.iter().map(row).collect()
    }

    fn batch(&mut self, sql: &'static str) -> Result<(), StoreError> {
        self.wait(async |client, _| client.batch_execute(sql).await)
    }

    fn locks_rows(&self) -> bool {
        true
    }

    fn is_repeated(&self) -> bool {
        self.is_repeated
    }
}

fn row(row: &tokio_postgres::Row) -> Result<SqlRow, StoreError> {
    let value = |(column, of): (usize, &tokio_postgres::Column)| {
        let value = match *of.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(column).map(SqlValue::from),
            Type::INT4 => row.try_get::<_, Option<i32>>(column).map(|value| value.map(i64::from).into()),
            Type::TEXT | Type::VARCHAR => row.try_get::<_, Option<String>>(column).map(SqlValue::from),
            _ => Ok(SqlValue::Other),
        };
        value.map_err(|error| StoreError::Corrupt(format!("column {column}: {error}")))
    };
    Ok(SqlRow(row.columns().iter().enumerate().map(value).collect::<Result<_, _>>()?))
}

/// The parameters that the statement has: it need not use the last ones.
fn used<'a>(
    statement: &Statement,
    parameters: &'a [SqlValue],
) -> impl ExactSizeIterator<Item = Parameter<'a>> + use<'a> {
    parameters[..statement.params().len().min(parameters.len())].iter().map(Parameter)
}

/// A value as a parameter of the type that the server infers.
#[derive(Debug)]
struct Parameter<'a>(&'a SqlValue);

impl ToSql for Parameter<'_> {
    fn to_sql(&self, to: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self.0, to) {
            (SqlValue::Null, _) => Ok(IsNull::Yes),
            (SqlValue::Integer(value), &Type::INT8) => value.to_sql(to, out),
            (SqlValue::Integer(value), &Type::INT4) => i32::try_from(*value)?.to_sql(to, out),
            // PostgreSQL's texts have no zero characters.
            (SqlValue::Text(text), _) if text.contains('\0') => {
                text.replace('\0', "\u{fffd}").to_sql(to, out)
            }
            (SqlValue::Text(text), &Type::TEXT | &Type::VARCHAR) => text.to_sql(to, out),
            (_, to) => Err(format!("the server expects {to}, found another type").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
