//! The store of runs: one SQLite file for all runs of a machine and for imported ones.
//!
//! A row of the table `runs` or `measurements` holds its [`BenchRun`] or [`Measurement`] as JSON, with columns
//! computed from it for SQL queries. Each call that changes something is a transaction that is on disk when
//! the call returns: a run that is killed loses only the row that was being measured. Several processes may
//! add rows at the same time.

use crate::{
    BenchError,
    bounds::{check, check_facts, check_measurement, check_noise, one_line},
    record::{BenchRun, Measurement, Noise, RowOutcome},
    sampler, statistics,
};
use etcetera::BaseStrategy;
use jiff::Timestamp;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, Params, Transaction, TransactionBehavior, functions::FunctionFlags,
    params,
};
use serde::de::DeserializeOwned;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// `application_id` of a store's SQLite file: `PfBn`.
const APPLICATION: i32 = 0x5066_426e;
/// Time limit for waiting for another process's transaction.
const PATIENCE: Duration = Duration::from_secs(30);
/// Steps that turn each schema into the next; `user_version` is the number of steps that a file has had.
const MIGRATIONS: [&str; 2] = [include_str!("1.sql"), include_str!("2.sql")];

/// An open store.
#[derive(Debug)]
pub struct RunStore {
    connection: Connection,
    path: PathBuf,
}

/// The result of importing a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imported {
    /// The run was added.
    Added,
    /// The store already has the same run.
    Present,
}

/// `proofmill/bench.db` in the user's data directory: `$XDG_DATA_HOME`, or `~/.local/share`.
///
/// # Errors
/// A user without a home folder.
pub fn default_path() -> Result<PathBuf, BenchError> {
    let directories = etcetera::base_strategy::Xdg::new().map_err(|error| BenchError::Malformed {
        path: "~/.local/share/proofmill/bench.db".into(),
        problem: format!("{error}: name a file with --db"),
    })?;
    Ok(directories.data_dir().join("proofmill").join("bench.db"))
}

impl RunStore {
    /// Opens the store at `path`; creates it and its folders if it does not exist.
    ///
    /// # Errors
    /// A file that is not a store, is damaged, or was written by a newer Proofmill (it is not changed); a
    /// file that cannot be written.
    pub fn open(path: &Path) -> Result<Self, BenchError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|source| BenchError::Io { path: folder.to_owned(), source })?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|error| failure(path, &error))?;
        let store = Self { connection, path: path.to_owned() };
        store.prepare()?;
        Ok(store)
    }

    /// Checks the file before anything is written to it, then updates its schema.
    fn prepare(&self) -> Result<(), BenchError> {
        let connection = &self.connection;
        self.done(connection.busy_timeout(PATIENCE))?;
        self.done(connection.execute_batch("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF"))?;
        self.done(define_digest(connection))?;
        // One transaction, because another process may be creating the file.
        let view = self.done(Transaction::new_unchecked(connection, TransactionBehavior::Deferred))?;
        let version = self.version()?;
        self.done(view.commit())?;
        let answer: String =
            self.done(connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)))?;
        if answer != "ok" {
            return Err(self.damaged(&answer));
        }
        // A killed process loses nothing in either mode; with FULL, neither does a loss of power.
        self.done(write_ahead(connection))?;
        self.done(connection.execute_batch("PRAGMA synchronous = FULL"))?;
        if version < MIGRATIONS.len() {
            let transaction = self.begin_transaction()?;
            // Another process may have updated the schema in the meantime.
            for (i, step) in MIGRATIONS.iter().enumerate().skip(self.version()?) {
                self.done(transaction.execute_batch(step))?;
                self.done(transaction.pragma_update(None, "user_version", (i + 1) as i64))?;
            }
            self.done(transaction.pragma_update(None, "application_id", APPLICATION))?;
            self.done(transaction.commit())?;
        }
        Ok(())
    }

    /// The number of migrations that the file has had: 0 for a new file.
    fn version(&self) -> Result<usize, BenchError> {
        let connection = &self.connection;
        let pragma = |name| self.done(connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0)));
        let (application, version) = (pragma("application_id")?, pragma("user_version")?);
        let tables: i64 =
            self.done(connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)))?;
        if application != APPLICATION && (application, version, tables) != (0, 0, 0) {
            return Err(self.malformed(
                "a SQLite database, but not one of Proofmill's results: name another file with --db",
            ));
        }
        usize::try_from(version).ok().filter(|version| *version <= MIGRATIONS.len()).ok_or_else(|| {
            self.malformed(&format!(
                "expected schema {} or older, found {version}: a newer Proofmill made it; update this one",
                MIGRATIONS.len()
            ))
        })
    }

    /// Adds a run that has begun, with its measurements if it has any.
    ///
    /// # Errors
    /// A run out of bounds, an id that exists, or a failing disk.
    pub fn begin(&self, run: &BenchRun) -> Result<(), BenchError> {
        check(run).map_err(|problem| self.malformed(&format!("this run cannot be stored: {problem}")))?;
        let transaction = self.begin_transaction()?;
        self.insert(run)?;
        self.done(transaction.commit())
    }

    /// Adds a measurement to a run. It is on disk when this returns.
    ///
    /// # Errors
    /// A measurement out of bounds, an unknown run, or a failing disk.
    pub fn add(&self, run: &str, measurement: &Measurement) -> Result<(), BenchError> {
        let mut measurement = measurement.clone();
        measurement.version =
            measurement.version.as_deref().map(one_line).filter(|version| !version.is_empty());
        if let RowOutcome::Failed { reason } = &mut measurement.outcome {
            *reason = one_line(reason);
        }
        check_measurement(&measurement)
            .map_err(|problem| self.malformed(&format!("this row cannot be stored: {problem}")))?;
        self.insert_measurement(run, &measurement)
    }

    /// Sets a run's end time and noise.
    ///
    /// # Errors
    /// An unknown run, noise out of bounds, or a failing disk.
    pub fn finish(&self, run: &str, ended: Timestamp, noise: &Noise) -> Result<(), BenchError> {
        let noise = Noise {
            warnings: noise.warnings.iter().map(|warning| one_line(warning)).collect(),
            ..noise.clone()
        };
        check_noise(&noise)
            .map_err(|problem| self.malformed(&format!("this run cannot be stored: {problem}")))?;
        let transaction = self.begin_transaction()?;
        let mut facts =
            self.facts(run)?.ok_or_else(|| self.malformed(&format!("no run has the id {run}")))?;
        facts.ended = Some(ended);
        facts.noise = noise;
        let json = self.json(&facts)?;
        let sql = "UPDATE runs SET facts = ?2, digest = digest(?1 || ' ' || ?2) WHERE id = ?1";
        self.done(self.connection.execute(sql, params![run, json]))?;
        self.done(transaction.commit())
    }

    /// All runs without their measurements, oldest first.
    ///
    /// # Errors
    /// A damaged file.
    pub fn runs(&self) -> Result<Vec<BenchRun>, BenchError> {
        let mut runs: Vec<BenchRun> = self.intact(&format!("{FACTS} FROM runs"), [])?;
        runs.sort_by(|a, b| (a.began, &a.id).cmp(&(b.began, &b.id)));
        Ok(runs)
    }

    /// The number of measurements of each run, by id.
    ///
    /// # Errors
    /// A damaged file.
    pub fn counts(&self) -> Result<BTreeMap<String, i64>, BenchError> {
        let sql = "SELECT id, count(run) FROM runs LEFT JOIN measurements ON run = id GROUP BY id";
        let mut statement = self.done(self.connection.prepare(sql))?;
        let rows = self.done(statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))))?;
        rows.map(|row| self.done(row)).collect()
    }

    /// The run that `name` means, with its measurements: an id or its beginning, a label, or `latest`.
    ///
    /// # Errors
    /// A name of no run or of several, or a damaged file.
    pub fn run(&self, name: &str) -> Result<BenchRun, BenchError> {
        // One transaction, so that other processes' changes are not seen in between.
        let transaction =
            self.done(Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred))?;
        let mut run = self.named(name)?;
        run.measurements = self.measurements(&run.id)?;
        self.done(transaction.commit())?;
        Ok(run)
    }

    fn named(&self, name: &str) -> Result<BenchRun, BenchError> {
        let mut runs = self.runs()?;
        if name == "latest" {
            return runs.pop().ok_or_else(|| self.malformed("there are no runs yet"));
        }
        let matching: [&dyn Fn(&BenchRun) -> bool; 3] =
            [&|run| run.id == name, &|run| run.label == name, &|run| {
                !name.is_empty() && run.id.starts_with(name)
            }];
        for matches in matching {
            let found: Vec<&BenchRun> = runs.iter().filter(|run| matches(run)).collect();
            match found[..] {
                [] => {}
                [run] => return Ok(run.clone()),
                [.., newest] => {
                    return Err(self.malformed(&format!(
                        "{} runs are called {name}: name one by its id (the newest is {})",
                        found.len(),
                        newest.id
                    )));
                }
            }
        }
        Err(self.malformed(&format!("no run is called {name}: `proofmill bench runs` lists them")))
    }

    /// Imports runs of other machines: all of them, or none.
    ///
    /// # Errors
    /// A run out of bounds, a run that differs from the stored one with the same id, or a failing disk.
    pub fn import(&self, runs: &[BenchRun]) -> Result<Vec<Imported>, BenchError> {
        for run in runs {
            check(run).map_err(|problem| {
                self.malformed(&format!("run {} cannot be stored: {problem}", one_line(&run.id)))
            })?;
        }
        let transaction = self.begin_transaction()?;
        let imported = runs.iter().map(|run| self.import_one(run)).collect::<Result<_, _>>()?;
        self.done(transaction.commit())?;
        Ok(imported)
    }

    fn import_one(&self, run: &BenchRun) -> Result<Imported, BenchError> {
        let id = &run.id;
        let Some(mut present) = self.facts(id)? else {
            self.insert(run)?;
            return Ok(Imported::Added);
        };
        present.measurements = self.measurements(id)?;
        if present == *run {
            return Ok(Imported::Present);
        }
        Err(self.malformed(&format!(
            "run {id} is stored with other contents: to import this one instead, `proofmill bench remove {id}` first"
        )))
    }

    /// Removes the run that `name` means, as for [`RunStore::run`], and returns its facts.
    ///
    /// # Errors
    /// A name of no run or of several, or a failing disk.
    pub fn remove(&self, name: &str) -> Result<BenchRun, BenchError> {
        let transaction = self.begin_transaction()?;
        let run = self.named(name)?;
        self.done(self.connection.execute("DELETE FROM runs WHERE id = ?", [&run.id]))?;
        self.done(transaction.commit())?;
        Ok(run)
    }

    /// Inserts a run and its measurements, within a transaction.
    fn insert(&self, run: &BenchRun) -> Result<(), BenchError> {
        check_facts(run).map_err(|problem| self.malformed(&problem))?;
        let facts = BenchRun { measurements: Vec::new(), ..run.clone() };
        let json = self.json(&facts)?;
        let sql = "INSERT INTO runs (id, facts, digest) VALUES (?1, ?2, digest(?1 || ' ' || ?2))";
        self.done(self.connection.execute(sql, params![run.id, json]))?;
        run.measurements.iter().try_for_each(|measurement| self.insert_measurement(&run.id, measurement))
    }

    fn insert_measurement(&self, run: &str, measurement: &Measurement) -> Result<(), BenchError> {
        let median = match &measurement.outcome {
            RowOutcome::Measured(figures) => statistics::median(&figures.seconds),
            _ => None,
        };
        let json = self.json(measurement)?;
        // One statement, so that two processes cannot use the same number.
        let sql = "INSERT INTO measurements (run, number, median, measurement, digest)
            SELECT ?1, next, ?2, ?3, digest(?1 || ' ' || next || ' ' || ?3)
            FROM (SELECT 1 + ifnull(max(number), 0) AS next FROM measurements WHERE run = ?1)";
        self.done(self.connection.execute(sql, params![run, median, json])).map(drop)
    }

    /// The facts of the run with this id.
    fn facts(&self, id: &str) -> Result<Option<BenchRun>, BenchError> {
        Ok(self.intact(&format!("{FACTS} FROM runs WHERE id = ?"), [id])?.pop())
    }

    /// The measurements of the run with this id.
    fn measurements(&self, id: &str) -> Result<Vec<Measurement>, BenchError> {
        let sql = "SELECT measurement, number = row_number() OVER (ORDER BY number)
                AND digest = digest(run || ' ' || number || ' ' || measurement)
            FROM measurements WHERE run = ? ORDER BY number";
        self.intact(sql, [id])
    }

    /// The values of a query's rows, whose columns are JSON and whether the digest matches.
    fn intact<T: DeserializeOwned>(&self, sql: &str, params: impl Params) -> Result<Vec<T>, BenchError> {
        let mut statement = self.done(self.connection.prepare(sql))?;
        let rows = self.done(statement.query_map(params, |row| Ok((row.get(0)?, row.get(1)?))))?;
        let parse = |row| {
            let (json, intact): (String, bool) = self.done(row)?;
            if !intact {
                return Err(self.damaged("the digest of a row is wrong"));
            }
            serde_json::from_str(&json).map_err(|error| self.damaged(&error.to_string()))
        };
        rows.map(parse).collect()
    }

    /// A transaction that may write.
    fn begin_transaction(&self) -> Result<Transaction<'_>, BenchError> {
        self.done(Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate))
    }

    fn json(&self, value: &impl serde::Serialize) -> Result<String, BenchError> {
        serde_json::to_string(value).map_err(|error| self.malformed(&error.to_string()))
    }

    fn done<T>(&self, result: rusqlite::Result<T>) -> Result<T, BenchError> {
        result.map_err(|error| failure(&self.path, &error))
    }

    fn malformed(&self, problem: &str) -> BenchError {
        BenchError::Malformed { path: self.path.clone(), problem: problem.to_owned() }
    }

    fn damaged(&self, problem: &str) -> BenchError {
        self.malformed(&format!("damaged: {}: {RESCUE}", one_line(problem)))
    }
}

/// Switches to a write-ahead log. SQLite does not wait by itself while another process does the same.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let began = Instant::now();
    loop {
        match connection.execute_batch("PRAGMA journal_mode = WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && began.elapsed() < PATIENCE =>
            {
                thread::sleep(Duration::from_millis(10));
            }
            result => return result,
        }
    }
}

/// The start of a query for runs without their measurements.
const FACTS: &str = "SELECT facts, digest = digest(id || ' ' || facts)";

/// Defines the SQL function `digest`: the first 16 hexadecimal digits of a text's SHA-256.
fn define_digest(connection: &Connection) -> rusqlite::Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("digest", 1, flags, |context| {
        Ok(sampler::digest(context.get_raw(0).as_str()?.as_bytes()))
    })
}

/// Advice for a damaged file.
const RESCUE: &str = "move it away, or rescue what is left by `sqlite3 FILE .recover`";

/// SQLite's error with advice.
fn failure(path: &Path, error: &rusqlite::Error) -> BenchError {
    let remedy = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            "not a SQLite database: name another file with --db, or move it away"
        }
        Some(ErrorCode::DatabaseCorrupt) => RESCUE,
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => {
            "is there room on its disk? What was finished before is kept"
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another process holds it; try again when that has ended"
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            "the file and its folder must be writable; name another with --db"
        }
        Some(ErrorCode::ConstraintViolation) => "the run has been removed, or exists already",
        _ => return BenchError::Malformed { path: path.to_owned(), problem: one_line(&error.to_string()) },
    };
    BenchError::Malformed {
        path: path.to_owned(),
        problem: format!("{}: {remedy}", one_line(&error.to_string())),
    }
}

#[cfg(test)]
mod tests;
