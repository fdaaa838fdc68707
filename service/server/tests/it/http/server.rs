//! A server for tests, with an inspector that proves nothing and a worker that does what the test says.

use async_trait::async_trait;
use proofmill_job::{Finished, KeyFacts, KeyKind, TaskOutput, TaskPhase};
use proofmill_server::{
    access::{Scope, new_token},
    coordinator::Coordinator,
    http::{self, Face, HttpOptions, Stage, Tls},
    objects::{FolderObjects, Objects, Staging},
    service::{Inspector, Rules, Service, ServiceError},
    store::{ClaimOutcome, JobRecord, SmallOutputs, Sqlite, Store, Want, Worked},
};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, value::RawValue};
use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    sync::Arc,
    time::Duration,
};
use tempfile::TempDir;
use tokio::{sync::watch, task::JoinHandle};

/// Takes any file whose content begins with the name of a kind of key.
struct FakeInspector;

#[async_trait]
impl Inspector for FakeInspector {
    async fn inspect(&self, path: &Path) -> Result<KeyFacts, ServiceError> {
        let text = std::fs::read(path)?;
        let kinds = [KeyKind::Groth16, KeyKind::Plonk, KeyKind::Verification, KeyKind::Program, KeyKind::Air];
        let kind = kinds.into_iter().find(|kind| text.starts_with(kind.name().as_bytes()));
        let kind = kind.ok_or_else(|| ServiceError::Invalid("the file is no key".to_owned()))?;
        Ok(KeyFacts {
            kind,
            domain: Some(8),
            public: Some(1),
            memory: 1000,
            memory_per_thread: 0,
            memory_per_input_byte: 0,
        })
    }
}

pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) address: SocketAddr,
    pub(crate) service: Service,
    pub(crate) admin: String,
    pub(crate) stage: watch::Sender<Stage>,
    pub(crate) served: JoinHandle<std::io::Result<()>>,
    pub(crate) folder: TempDir,
    http: reqwest::Client,
}

pub(crate) async fn server() -> Server {
    start(HttpOptions::default(), Rules::default(), None).await
}

pub(crate) async fn start(options: HttpOptions, rules: Rules, tls: Option<Tls>) -> Server {
    start_over(options, rules, tls, Store::new, |objects| Arc::new(objects)).await
}

/// As [`start`], with a store over the database and objects over the folder.
pub(crate) async fn start_over(
    options: HttpOptions,
    rules: Rules,
    tls: Option<Tls>,
    store: impl FnOnce(Sqlite) -> Store,
    objects: impl FnOnce(FolderObjects) -> Arc<dyn Objects>,
) -> Server {
    drop(rustls::crypto::ring::default_provider().install_default());
    let folder = tempfile::tempdir().expect("a folder");
    let store = store(Sqlite::open(&folder.path().join("store.sqlite")).expect("a store"));
    let objects = objects(FolderObjects::new(&folder.path().join("objects")).expect("objects"));
    let staging = Staging::new(&folder.path().join("staging")).expect("staging");
    let service = Service::new(store, objects, staging, Arc::new(FakeInspector), rules);
    service.own_objects().await.expect("objects of its own");
    let admin = new_token(service.store(), "admin", &[Scope::Admin], None).await.expect("a token");
    let (stage, stages) = watch::channel(Stage::Serving);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let scheme = if tls.is_some() { "https" } else { "http" };
    let face = Face::new(service.clone(), options, stages);
    let served = tokio::spawn(http::serve(face, listener, tls, Duration::from_secs(5)));
    Server {
        url: format!("{scheme}://localhost:{}", address.port()),
        address,
        service,
        admin: admin.expose().to_owned(),
        stage,
        served,
        folder,
        http: reqwest::Client::builder().no_proxy().build().expect("a client"),
    }
}

impl Server {
    pub(crate) async fn token(&self, name: &str, scopes: &[Scope]) -> String {
        let secret = new_token(self.service.store(), name, scopes, None).await.expect("a token");
        secret.expose().to_owned()
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("http://{}{path}", self.address))
    }

    pub(crate) fn get(&self, token: &str, path: &str) -> RequestBuilder {
        self.request(Method::GET, path).bearer_auth(token)
    }

    pub(crate) fn post(&self, token: &str, path: &str) -> RequestBuilder {
        self.request(Method::POST, path).bearer_auth(token)
    }

    pub(crate) fn put(&self, token: &str, path: &str, body: impl Into<reqwest::Body>) -> RequestBuilder {
        self.request(Method::PUT, path).bearer_auth(token).body(body)
    }

    pub(crate) fn delete(&self, token: &str, path: &str) -> RequestBuilder {
        self.request(Method::DELETE, path).bearer_auth(token)
    }

    /// Submits an empty job, and returns its id.
    pub(crate) async fn empty_job(&self, token: &str) -> String {
        let answer = answer(self.post(token, "/v1/jobs").json(&serde_json::json!({"type": "empty"}))).await;
        assert_eq!(answer.0, 202, "{answer:?}");
        answer.1["id"].as_str().expect("an id").to_owned()
    }

    /// Adds a key file with this content, and returns its digest.
    pub(crate) async fn key(&self, token: &str, name: &str, content: &str) -> String {
        let digest = proofmill_server::service::digest(content.as_bytes());
        let path = format!("/v1/keys/{digest}?name={name}");
        let answer = answer(self.put(token, &path, content.to_owned())).await;
        assert_eq!(answer.0, 201, "{answer:?}");
        digest
    }

    /// The files that requests are writing.
    pub(crate) fn staged(&self) -> usize {
        std::fs::read_dir(self.folder.path().join("staging")).expect("staging").count()
    }

    /// Claims a job as a worker in this process.
    pub(crate) async fn claim(&self) -> JobRecord {
        claim(&self.service).await
    }

    /// Claims a job and finishes it with outputs that name it.
    pub(crate) async fn work(&self) -> JobRecord {
        let job = self.claim().await;
        finish(&self.service, &job).await;
        job
    }
}

pub(crate) async fn claim(coordinator: &dyn Coordinator) -> JobRecord {
    let want = Want {
        worker: "w".to_owned(),
        free: 1 << 40,
        total: 1 << 40,
        jobs: 1,
        lease_ms: 10_000,
        ..Want::default()
    };
    match coordinator.claim(want, Duration::from_secs(10)).await.expect("a claim") {
        ClaimOutcome::Jobs(mut jobs, _) => jobs.remove(0),
        other => panic!("expected a job, found {other:?}"),
    }
}

pub(crate) async fn finish(coordinator: &dyn Coordinator, job: &JobRecord) {
    let folder = coordinator.staging().folder().expect("a folder");
    let mut outputs = SmallOutputs::new();
    for output in job.task.outputs() {
        // One of each way.
        if *output == TaskOutput::Public {
            outputs.insert(*output, RawValue::from_string(content(*output, job)).expect("JSON"));
            continue;
        }
        let path = folder.path().join(output.name());
        std::fs::write(&path, content(*output, job)).expect("an output");
        coordinator.output(&job.id, job.progress.fence, *output, &path).await.expect("stored");
    }
    let finished =
        Finished { phases: vec![TaskPhase { name: "sums".to_owned(), seconds: 0.5 }], peak_memory: Some(1) };
    let finished = Worked::Finished { finished, outputs };
    coordinator.report(&job.id, job.progress.fence, finished).await.expect("finished");
}

/// What [`finish`] writes.
pub(crate) fn content(output: TaskOutput, job: &JobRecord) -> String {
    format!("{{\"{}\":\"{}\"}}", output.name(), job.id)
}

/// The status and the JSON of an answer.
pub(crate) async fn answer(request: RequestBuilder) -> (u16, Value) {
    read(request.send().await.expect("an answer")).await
}

pub(crate) async fn read(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = response.text().await.expect("a body");
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

/// Waits until something holds, for ten seconds at most.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..500 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what}");
}
