//! Threads of a store that end, or do not answer.

use async_trait::async_trait;
use proofmill_job::KeyFacts;
use proofmill_server::{
    objects::{FolderObjects, Staging},
    service::{Inspector, Rules, Service, ServiceError},
    store::{Activity, Database, Pending, Postgres, Sqlite, Store, StoreError, TransactionWork},
};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// A database that a store and the test use.
#[derive(Clone)]
struct Shared(Arc<dyn Database>);

impl Database for Shared {
    fn write(&self, work: TransactionWork) -> Pending<'_> {
        self.0.write(work)
    }

    fn read(&self, work: TransactionWork) -> Pending<'_> {
        self.0.read(work)
    }

    fn scan(&self, work: TransactionWork) -> Pending<'_> {
        self.0.scan(work)
    }

    fn activities(&self) -> Vec<Activity> {
        self.0.activities()
    }
}

struct NoInspector;

#[async_trait]
impl Inspector for NoInspector {
    async fn inspect(&self, _path: &Path) -> Result<KeyFacts, ServiceError> {
        unreachable!("no keys are added")
    }
}

/// The answer of a way to a database to some work.
async fn ask(
    database: &Shared,
    way: usize,
    work: TransactionWork,
) -> proofmill_server::store::TransactionAnswer {
    match way {
        0 => database.write(work).await,
        1 => database.read(work).await,
        _ => database.scan(work).await,
    }
}

async fn databases(folder: &Path) -> Vec<Shared> {
    let mut databases =
        vec![Shared(Arc::new(Sqlite::open(&folder.join("jobs.sqlite")).expect("a new store")))];
    if let Some(url) = crate::store::open::new_schema().await {
        databases.push(Shared(Arc::new(Postgres::open(&url).expect("a new store"))));
    }
    databases
}

fn service(database: &Shared, folder: &Path, store_patience: Duration) -> Service {
    let objects = FolderObjects::new(&folder.join("objects")).expect("objects");
    let staging = Staging::new(&folder.join("staging")).expect("staging");
    let rules = Rules { store_patience, ..Rules::default() };
    Service::new(Store::new(database.clone()), Arc::new(objects), staging, Arc::new(NoInspector), rules)
}

#[tokio::test]
async fn a_service_ends_with_a_thread_of_its_store() {
    for way in 0..3 {
        let folder = tempfile::tempdir().expect("a folder");
        for database in databases(folder.path()).await {
            let service = service(&database, folder.path(), Duration::from_secs(60));
            service.store().check().await.expect("it answers");
            let panics: TransactionWork = Arc::new(|_| panic!("the test wants it"));
            let asked = database.clone();
            let answer = tokio::spawn(async move { ask(&asked, way, panics).await.map(drop) }).await;
            // Who reads, does so himself if nobody else reads.
            assert!(
                matches!(answer, Ok(Err(StoreError::Ended))) || way == 1 && answer.is_err(),
                "{answer:?}"
            );
            let ended = service.maintain().await;
            assert!(matches!(ended, ServiceError::Store(StoreError::Ended)), "{ended}");
            let check = service.check().await;
            assert!(matches!(check, Err(ServiceError::Store(StoreError::Ended))) || way == 2, "{check:?}");
        }
    }
}

#[tokio::test]
async fn a_service_ends_if_its_store_does_not_answer() {
    for way in [0, 2] {
        let folder = tempfile::tempdir().expect("a folder");
        let database = databases(folder.path()).await.remove(0);
        let service = service(&database, folder.path(), Duration::from_secs(2));
        let asked = database.clone();
        let hangs: TransactionWork = Arc::new(|_| {
            loop {
                thread::park();
            }
        });
        tokio::spawn(async move { ask(&asked, way, hangs).await.map(drop) });
        let ended = service.maintain().await;
        assert!(ended.to_string().contains("has not answered for 2 s"), "{ended}");
    }
}

/// Work that takes so long.
fn takes(time: Duration) -> TransactionWork {
    Arc::new(move |_| {
        thread::sleep(time);
        Ok(Box::new(()))
    })
}

#[tokio::test]
async fn a_service_does_not_end_because_much_waits() {
    let folder = tempfile::tempdir().expect("a folder");
    for database in databases(folder.path()).await {
        let service = service(&database, folder.path(), Duration::from_secs(2));
        for _ in 0..20 {
            let asked = database.clone();
            tokio::spawn(async move { asked.scan(takes(Duration::from_millis(300))).await.map(drop) });
        }
        let ended = tokio::time::timeout(Duration::from_secs(5), service.maintain()).await;
        assert!(ended.is_err(), "{ended:?}");
    }
}

#[tokio::test]
async fn work_that_nobody_waits_for_is_not_begun() {
    let folder = tempfile::tempdir().expect("a folder");
    for database in databases(folder.path()).await {
        let begun = Arc::new(AtomicUsize::new(0));
        let asked = database.clone();
        let busy = tokio::spawn(async move { asked.scan(takes(Duration::from_secs(1))).await.map(drop) });
        tokio::time::sleep(Duration::from_millis(300)).await;
        let given_up: Vec<_> = (0..100)
            .map(|_| {
                let (asked, begun) = (database.clone(), begun.clone());
                let counts: TransactionWork = Arc::new(move |_| {
                    begun.fetch_add(1, Ordering::Relaxed);
                    Ok(Box::new(()))
                });
                tokio::spawn(async move { asked.scan(counts).await.map(drop) })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(100)).await;
        given_up.iter().for_each(tokio::task::JoinHandle::abort);
        busy.await.expect("no panic").expect("done");
        database.scan(takes(Duration::ZERO)).await.expect("done");
        assert_eq!(begun.load(Ordering::Relaxed), 0);
    }
}

/// A query that never ends.
fn endless() -> TransactionWork {
    Arc::new(|transaction| {
        let sql = "WITH RECURSIVE numbers(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM numbers) SELECT count(*) FROM numbers";
        Ok(Box::new(transaction.query(sql, &[])?.len()))
    })
}

#[tokio::test]
async fn a_scan_ends_with_its_time_or_its_caller() {
    let folder = tempfile::tempdir().expect("a folder");
    for (place, database) in databases(folder.path()).await.into_iter().enumerate() {
        if place == 0 {
            let asked = database.clone();
            let given_up = tokio::spawn(async move { asked.scan(endless()).await.map(drop) });
            tokio::time::sleep(Duration::from_millis(200)).await;
            given_up.abort();
            let next = tokio::time::timeout(Duration::from_secs(4), database.scan(takes(Duration::ZERO)));
            next.await.expect("soon").expect("an answer");
        }
        let answer = tokio::time::timeout(Duration::from_secs(30), database.scan(endless())).await;
        assert!(matches!(answer, Ok(Err(StoreError::Unavailable(_)))));
        // The next one has its own time.
        database.scan(takes(Duration::ZERO)).await.expect("an answer");
    }
}
