//! What one caller does to others: nothing.

use crate::http::server::{Server, answer, read, start, start_over};
use async_trait::async_trait;
use proofmill_server::{
    access::Scope,
    http::HttpOptions,
    objects::{FolderObjects, ObjectReader, Objects, Staged},
    service::Rules,
    store::{Activity, Database, Pending, Sqlite, Store, TransactionWork},
};
use serde_json::json;
use std::{
    io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::Semaphore;

/// Objects that are stored when the test permits it.
struct Held(FolderObjects, Arc<Semaphore>);

#[async_trait]
impl Objects for Held {
    async fn put(&self, name: &str, file: Staged) -> io::Result<()> {
        if name.starts_with("jobs/") {
            self.1.acquire().await.expect("open").forget();
        }
        self.0.put(name, file).await
    }

    async fn get(&self, name: &str) -> io::Result<(u64, ObjectReader)> {
        self.0.get(name).await
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.0.path(name)
    }

    async fn delete(&self, prefix: &str) -> io::Result<()> {
        self.0.delete(prefix).await
    }

    async fn list(&self, prefix: &str) -> io::Result<Vec<String>> {
        self.0.list(prefix).await
    }
}

/// Submits a verification whose inputs have about so many bytes, and hangs up after a while.
async fn hang_up(server: &Server, token: &str, bytes: usize) {
    let job = json!({"type": "verify", "key": "vk", "inputs": {"proof": "x".repeat(bytes), "public": []}});
    let request = server.post(token, "/v1/jobs").json(&job).timeout(Duration::from_millis(300)).send().await;
    assert!(request.expect_err("not answered in this time").is_timeout());
}

#[tokio::test]
async fn who_hangs_up_keeps_what_counts() {
    let permits = Arc::new(Semaphore::new(0));
    let mut options = HttpOptions { most_requests: 8, ..HttpOptions::default() };
    options.bodies.most_staged = 2500;
    let held = permits.clone();
    let objects = move |objects| Arc::new(Held(objects, held)) as Arc<dyn Objects>;
    let server = start_over(options, Rules::default(), None, Store::new, objects).await;
    let (a, b) = (
        server.token("a", &[Scope::Submit, Scope::Keys]).await,
        server.token("b", &[Scope::Submit, Scope::Keys]).await,
    );
    for token in [&a, &b] {
        server.key(token, "vk", "verification").await;
    }
    hang_up(&server, &a, 2000).await;
    // The bytes of the first submission are still on their way.
    let job = json!({"type": "verify", "key": "vk", "inputs": {"proof": "x".repeat(1000), "public": []}});
    let (status, problem) = answer(server.post(&a, "/v1/jobs").json(&job)).await;
    assert_eq!(status, 429, "{problem}");
    hang_up(&server, &a, 10).await;
    // Two are the share of eight requests.
    let (status, problem) = answer(server.get(&a, "/v1/jobs")).await;
    assert_eq!(status, 429, "{problem}");
    assert_eq!(answer(server.get(&b, "/v1/jobs")).await.0, 200, "others are served");
    permits.add_permits(1000);
    let began = Instant::now();
    while answer(server.get(&a, "/v1/jobs")).await.0 != 200 {
        assert!(began.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (_, list) = answer(server.get(&a, "/v1/jobs")).await;
    assert_eq!(list["jobs"].as_array().map(Vec::len), Some(2), "both were submitted: {list}");
    assert_eq!(answer(server.post(&a, "/v1/jobs").json(&job)).await.0, 202);
}

/// A database that counts reads, and takes its time for them.
struct Counted(Sqlite, Arc<AtomicUsize>);

impl Database for Counted {
    fn write(&self, work: TransactionWork) -> Pending<'_> {
        self.0.write(work)
    }

    fn read(&self, work: TransactionWork) -> Pending<'_> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            self.0.read(work).await
        })
    }

    fn scan(&self, work: TransactionWork) -> Pending<'_> {
        self.0.scan(work)
    }

    fn activities(&self) -> Vec<Activity> {
        self.0.activities()
    }
}

#[tokio::test]
async fn strangers_take_no_requests_and_hardly_ask_the_store() {
    let reads = Arc::new(AtomicUsize::new(0));
    let options = HttpOptions { most_requests: 8, ..HttpOptions::default() };
    let counted = reads.clone();
    let store = move |database| Store::new(Counted(database, counted));
    let server = start_over(options, Rules::default(), None, store, |objects| Arc::new(objects)).await;
    let a = server.token("a", &[Scope::Submit]).await;
    assert_eq!(answer(server.get(&a, "/v1/jobs")).await.0, 200);
    let before = reads.load(Ordering::Relaxed);
    let began = Instant::now();
    let strangers: Vec<_> = (0..500)
        .map(|number| {
            let secret = format!("proofmill_{number:064x}");
            tokio::spawn(server.get(&secret, "/v1/jobs").send())
        })
        .collect();
    for _ in 0..20 {
        let (status, problem) = answer(server.get(&a, "/v1/jobs")).await;
        assert_eq!(status, 200, "{problem}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for stranger in strangers {
        assert_eq!(read(stranger.await.expect("no panic").expect("an answer")).await.0, 401);
    }
    let (asked, seconds) = (reads.load(Ordering::Relaxed) - before, began.elapsed().as_secs_f64());
    // Those for the tokens: a pause is ten times as long as a question.
    assert!((asked as f64) < 5.0 + 3.0 * seconds, "{asked} reads in {seconds} s");
}

#[tokio::test]
async fn a_late_worker_is_refused_before_its_output_comes() {
    let server = start(HttpOptions::default(), Rules::default(), None).await;
    let job = server.empty_job(&server.admin).await;
    let body = reqwest::Body::wrap_stream(futures::stream::pending::<io::Result<Vec<u8>>>());
    let request = server.put(&server.admin, &format!("/v1/work/jobs/{job}/1/outputs/proof"), body);
    let (status, problem) = answer(request.timeout(Duration::from_secs(5))).await;
    assert_eq!(status, 409, "{problem}");
}
