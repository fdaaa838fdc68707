//! Threads of a store that end, or do not answer.

use async_trait::async_trait;
use proofmill_job::KeyFacts;
use proofmill_server::{
    objects::{FolderObjects, Staging},
    service::{Inspector, Rules, Service, ServiceError},
    store::{Database, Pending, Postgres, Sqlite, Store, StoreError, TransactionWork},
};
use std::{path::Path, sync::Arc, thread, time::Duration};

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
            service.store().check_all().await.expect("it answers");
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
