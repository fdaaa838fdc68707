//! Stores for tests.

use proofmill_job::{Finished, KeyFacts, KeyKind, Task};
use proofmill_server::{
    state::Contact,
    store::{
        ClaimOutcome, JobRecord, KeyRecord, NewJob, Postgres, Sqlite, Store, StoreError, StoreLimits,
        TokenRecord, Want, Worked,
    },
};
use std::{
    env,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
};
use tempfile::TempDir;

/// Where the data of a test's store is, for statements that the store would not make.
pub(crate) enum Place {
    /// A file in a folder that lasts as long as this.
    Sqlite(TempDir),
    /// The URL of a schema.
    Postgres(String),
}

impl Place {
    /// What [`Store::open`] opens.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Sqlite(folder) => format!("sqlite:{}", file(folder).display()),
            Self::Postgres(url) => url.clone(),
        }
    }

    /// Executes statements.
    pub(crate) async fn sql(&self, statements: &str) {
        match self {
            Self::Sqlite(folder) => {
                let connection = rusqlite::Connection::open(file(folder)).expect("the store's file");
                connection.execute_batch(statements).expect("valid statements");
            }
            Self::Postgres(url) => {
                connect(url).await.batch_execute(statements).await.expect("valid statements");
            }
        }
    }
}

fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("jobs.sqlite")
}

/// A connection that the store does not know of.
pub(crate) async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) =
        tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("the server for tests");
    tokio::spawn(connection);
    client
}

/// Whether this kind of store must be tested: a missing one fails the tests.
fn is_required(kind: &str) -> bool {
    env::var("PROOFMILL_REQUIRE_STORES").is_ok_and(|kinds| kinds.split(',').any(|required| required == kind))
}

/// The URL of the server for tests.
pub(crate) fn postgres_url() -> Option<String> {
    let url = env::var("PROOFMILL_TEST_POSTGRES").ok();
    assert!(
        url.is_some() || !is_required("postgres"),
        "PROOFMILL_TEST_POSTGRES is not set: see .ci/servers.sh"
    );
    url
}

/// The URL of a new empty schema on the server for tests.
pub(crate) async fn new_schema() -> Option<String> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let url = postgres_url()?;
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let schema = format!("test_{}_{number}", uuid::Uuid::now_v7().simple());
    connect(&url).await.batch_execute(&format!("CREATE SCHEMA {schema}")).await.expect("a new schema");
    Some(format!("{url}?options=-c%20search_path%3D{schema}&application_name={schema}"))
}

/// A new store of each kind that can be reached, with the tokens `a`, `b` and `c`.
pub(crate) async fn stores() -> Vec<(Store, Place)> {
    let folder = tempfile::tempdir().expect("a folder");
    let sqlite = Store::new(Sqlite::open(&file(&folder)).expect("a new store"));
    let mut stores = vec![(sqlite, Place::Sqlite(folder))];
    if let Some(url) = new_schema().await {
        stores.push((Store::new(Postgres::open(&url).expect("a new store")), Place::Postgres(url)));
    }
    for (store, _) in &stores {
        for name in ["a", "b", "c"] {
            store.add_token(token(name), None).await.expect("a new token");
        }
    }
    stores
}

pub(crate) fn token(id: &str) -> TokenRecord {
    TokenRecord {
        id: id.to_owned(),
        name: format!("token {id}"),
        hash: format!("hash of {id}"),
        scopes: "submit".to_owned(),
        created_at: 0,
        expires_at: None,
        revoked_at: None,
    }
}

pub(crate) const LIMITS: StoreLimits = StoreLimits { of_owner: 1000, of_all: 1500, ..StoreLimits::NONE };

pub(crate) fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

pub(crate) fn new_job(owner: &str) -> NewJob {
    NewJob {
        id: new_id(),
        owner: owner.to_owned(),
        task: Task::Empty,
        label: None,
        priority: 0,
        memory: 100,
        most_attempts: 2,
        timeout_ms: 1000,
        expires_in_ms: None,
        idempotency_key: None,
        request: "the request".to_owned(),
        trace: None,
        threads: 2,
        input_bytes: 0,
        divides: false,
    }
}

/// A job with inputs.
pub(crate) fn job_with_inputs(owner: &str) -> NewJob {
    NewJob { task: Task::VerifyBls, ..new_job(owner) }
}

pub(crate) async fn submit(store: &Store, job: NewJob) -> Result<(JobRecord, bool), StoreError> {
    store.submit(vec![job], LIMITS).await.expect("a store that answers").remove(0)
}

pub(crate) async fn submitted(store: &Store, job: NewJob) -> JobRecord {
    let (job, is_new) = submit(store, job).await.expect("accepted");
    assert!(is_new);
    job
}

pub(crate) async fn claim(store: &Store, worker: &str, lease_ms: u64) -> ClaimOutcome {
    let want =
        Want { worker: worker.to_owned(), free: 1000, total: 1000, jobs: 1, lease_ms, ..Want::default() };
    store.claim(want).await.expect("a store that answers")
}

/// The report of a job that is done and has no outputs.
pub(crate) fn finished() -> Worked {
    Worked::Finished { finished: Finished::default(), outputs: Default::default() }
}

/// Ends what is due, for a server that has been in touch with the store for long.
pub(crate) async fn end_due(store: &Store, longest: u64) -> Vec<JobRecord> {
    let now = store.now().await.expect("a store that answers");
    let contact = Contact::default().at(0, now).at(now, now);
    store.end_due(longest, contact).await.expect("a store that answers").0
}

pub(crate) async fn add_key(store: &Store, key: KeyRecord) -> Result<(), StoreError> {
    store.add_key(key, LIMITS).await
}

pub(crate) async fn claimed(store: &Store, lease_ms: u64) -> JobRecord {
    match claim(store, "w", lease_ms).await {
        ClaimOutcome::Jobs(mut jobs, _) => jobs.remove(0),
        other => panic!("expected a job, found {other:?}"),
    }
}

pub(crate) fn key(owner: &str, digest: &str, name: Option<&str>) -> KeyRecord {
    KeyRecord {
        digest: digest.to_owned(),
        owner: owner.to_owned(),
        name: name.map(str::to_owned),
        bytes: 7,
        facts: KeyFacts {
            kind: KeyKind::Groth16,
            domain: Some(8),
            public: Some(1),
            memory: 1000,
            memory_per_thread: 0,
            memory_per_input_byte: 0,
        },
        created_at: 0,
    }
}
