//! The aggregator's face, called through HTTP/2 by tonic's client.

use async_trait::async_trait;
use futures::StreamExt;
use proofmill_job::{Finished, KeyFacts, KeyKind, TaskOutput};
use proofmill_server::{
    access::{Identity, Scope, identify, new_token},
    coordinator::Coordinator,
    grpc::generated::{
        CancelRequest, GenAggregatedProofRequest, GenFinalProofRequest, GetProofRequest, GetStatusRequest,
        Queueing,
        aggregator_client::AggregatorClient,
        gen_aggregated_proof_request::Inner,
        gen_final_proof_request::{Header, Part},
        get_proof_response::State,
        get_status_response::Status as ServerStatus,
    },
    http::{self, Face, HttpOptions, Stage},
    objects::{FolderObjects, Staging},
    service::{Inspector, Rules, Service, ServiceError, digest},
    store::{ClaimOutcome, Sqlite, Store, Want, Worked},
};
use std::{net::TcpListener, path::Path, sync::Arc, time::Duration};
use tempfile::TempDir;
use tokio::sync::watch;
use tonic::{Code, Request, metadata::MetadataValue, transport::Channel};

/// Takes every file for a key of Groth16.
struct Groth16Only;

#[async_trait]
impl Inspector for Groth16Only {
    async fn inspect(&self, _: &Path) -> Result<KeyFacts, ServiceError> {
        Ok(KeyFacts {
            kind: KeyKind::Groth16,
            domain: Some(8),
            public: Some(1),
            memory: 1 << 20,
            memory_per_thread: 0,
            memory_per_input_byte: 0,
        })
    }
}

struct Server {
    service: Service,
    stage: watch::Sender<Stage>,
    client: AggregatorClient<Channel>,
    /// Where HTTP is.
    address: String,
    secrets: [String; 3],
    folder: TempDir,
}

async fn server() -> Server {
    let mut options = HttpOptions::default();
    options.bodies.most_inputs = 1000;
    start(options).await
}

/// A server with a key `circuit` of the first of two tokens; the third may only observe.
async fn start(options: HttpOptions) -> Server {
    drop(rustls::crypto::ring::default_provider().install_default());
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::new(Sqlite::open(&folder.path().join("jobs.sqlite")).expect("a store"));
    let objects = Arc::new(FolderObjects::new(&folder.path().join("objects")).expect("objects"));
    let staging = Staging::new(&folder.path().join("staging")).expect("staging");
    let service = Service::new(store.clone(), objects, staging, Arc::new(Groth16Only), Rules::default());
    let mut secrets = Vec::new();
    for (name, scopes) in
        [("a", &[Scope::Submit, Scope::Keys][..]), ("b", &[Scope::Submit]), ("c", &[Scope::Observe])]
    {
        secrets.push(new_token(&store, name, scopes, None).await.expect("a token").expose().to_owned());
    }
    let owner: Identity = identify(&store, &secrets[0]).await.expect("a store").expect("a token");
    let file = service.staging().file_with(b"key").expect("a file");
    service.add_key(&owner, digest(b"key"), Some("circuit".to_owned()), file).await.expect("a key");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let (stage, stages) = watch::channel(Stage::Serving);
    let face = Face::new(service.clone(), options, stages);
    tokio::spawn(http::serve(face, listener, None, Duration::from_secs(5)));
    let client = AggregatorClient::connect_to(address.clone()).await;
    Server { service, stage, client, address, secrets: secrets.try_into().expect("three"), folder }
}

impl Server {
    /// The files that calls are writing.
    fn staged(&self) -> usize {
        std::fs::read_dir(self.folder.path().join("staging")).expect("staging").count()
    }

    /// Submits a witness through HTTP, and returns the status and the job.
    async fn submit(&self, secret: &str, key: &str, witness: &str) -> (u16, serde_json::Value) {
        let part = |name: &str, content: &str| {
            format!("--b\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{content}\r\n")
        };
        let job = part("job", r#"{"type":"prove","key":"circuit"}"#);
        let body = format!("{}{job}--b--", part("witness", witness));
        let request = reqwest::Client::new().post(format!("{}/v1/jobs", self.address)).bearer_auth(secret);
        let request = request.header("content-type", "multipart/form-data; boundary=b");
        let answer = request.header("idempotency-key", key).body(body).send().await.expect("an answer");
        (answer.status().as_u16(), answer.json().await.expect("JSON"))
    }
}

/// Waits until something holds, for ten seconds at most.
async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..500 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what}");
}

trait ConnectTo: Sized {
    async fn connect_to(address: String) -> Self;
}

impl ConnectTo for AggregatorClient<Channel> {
    async fn connect_to(address: String) -> Self {
        Self::new(Channel::from_shared(address).expect("an address").connect().await.expect("a server"))
    }
}

fn with<T>(secret: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    let value = MetadataValue::try_from(format!("Bearer {secret}")).expect("a header");
    request.metadata_mut().insert("authorization", value);
    request
}

fn stream(name: &str, pieces: &[&[u8]]) -> futures::stream::Iter<std::vec::IntoIter<GenFinalProofRequest>> {
    let queueing = Some(Queueing { idempotency_key: name.to_owned(), ..Queueing::default() });
    let header = Header { queueing, key: "circuit".to_owned(), program: String::new() };
    let mut messages = vec![GenFinalProofRequest { part: Some(Part::Header(header)) }];
    messages
        .extend(pieces.iter().map(|piece| GenFinalProofRequest { part: Some(Part::Input(piece.to_vec())) }));
    futures::stream::iter(messages)
}

/// Does the next job as a worker would.
async fn work(service: &Service) {
    let want = Want {
        worker: "w".to_owned(),
        free: u64::MAX,
        total: u64::MAX,
        jobs: 1,
        lease_ms: 10_000,
        ..Want::default()
    };
    let ClaimOutcome::Jobs(jobs, _) = service.claim(want, Duration::from_secs(5)).await.expect("a service")
    else {
        panic!("expected a job");
    };
    let job = &jobs[0];
    let fence = job.progress.fence;
    let folder = service.staging().folder().expect("a folder");
    let input = service.input(&job.id, fence, job.task.inputs()[0], folder.path()).await.expect("an input");
    assert_eq!(std::fs::read(input).expect("an input"), b"the witness");
    for (output, content) in [(TaskOutput::Proof, "a proof"), (TaskOutput::Public, "[]")] {
        let file = folder.path().join(output.name());
        std::fs::write(&file, content).expect("a file");
        Coordinator::output(service, &job.id, fence, output, &file).await.expect("it has the job");
    }
    service
        .report(
            &job.id,
            fence,
            Worked::Finished { finished: Finished::default(), outputs: Default::default() },
        )
        .await
        .expect("it has the job");
}

#[tokio::test]
async fn a_final_proof_is_queued_made_and_fetched() {
    let mut server = server().await;
    let [secret, other, _] = server.secrets.clone();
    let status =
        server.client.get_status(with(&secret, GetStatusRequest {})).await.expect("a status").into_inner();
    assert_eq!(status.status(), ServerStatus::NoWorker);
    let mut ids = Vec::new();
    for pieces in [&[&b"the "[..], b"witness"][..], &[b"the witness"]] {
        let request = with(&secret, stream("batch-1", pieces));
        ids.push(server.client.gen_final_proof(request).await.expect("accepted").into_inner().id);
    }
    assert_eq!(ids[0], ids[1], "one name, one job");
    let error = server.client.gen_final_proof(with(&secret, stream("batch-1", &[b"another"]))).await;
    assert_eq!(error.expect_err("another content").code(), Code::AlreadyExists);
    let status =
        server.client.get_status(with(&secret, GetStatusRequest {})).await.expect("a status").into_inner();
    assert_eq!((status.waiting, status.all_waiting), (vec![ids[0].clone()], 0), "others' jobs need a scope");

    let ask = GetProofRequest { id: ids[0].clone(), timeout_s: 0 };
    let proof = server.client.get_proof(with(&secret, ask.clone())).await.expect("a state").into_inner();
    assert_eq!((proof.state(), proof.proof.len()), (State::Queued, 0));
    let error = server.client.get_proof(with(&other, ask.clone())).await.expect_err("not its job");
    let missing = GetProofRequest { id: ids[0].replace(|digit: char| digit != 'f', "f"), timeout_s: 0 };
    let missing = server.client.get_proof(with(&other, missing)).await.expect_err("no job");
    assert_eq!((error.code(), missing.code()), (Code::NotFound, Code::NotFound));

    let service = server.service.clone();
    let worker = tokio::spawn(async move { work(&service).await });
    let ask = GetProofRequest { timeout_s: 20, ..ask };
    let proof = server.client.get_proof(with(&secret, ask)).await.expect("a proof").into_inner();
    worker.await.expect("a worker");
    assert_eq!((proof.state(), &*proof.proof, &*proof.public), (State::Done, &b"a proof"[..], &b"[]"[..]));
    server.stage.send_replace(Stage::Draining);
    let status =
        server.client.get_status(with(&secret, GetStatusRequest {})).await.expect("a status").into_inner();
    assert_eq!(status.status(), ServerStatus::Draining);
    let cancel = CancelRequest { id: ids[0].clone() };
    let error = server.client.cancel(with(&secret, cancel)).await.expect_err("it has ended");
    assert_eq!(error.code(), Code::FailedPrecondition);
}

#[tokio::test]
async fn calls_are_refused_without_a_token_and_its_scope() {
    let mut server = server().await;
    let mut wrong = server.secrets[0].clone();
    let last = wrong.pop();
    wrong.push(if last == Some('0') { '1' } else { '0' });
    for (secret, code) in [
        ("", Code::Unauthenticated),
        (&wrong, Code::Unauthenticated),
        (&*server.secrets[2].clone(), Code::PermissionDenied),
    ] {
        let error = server.client.get_status(with(secret, GetStatusRequest {})).await.expect_err("refused");
        assert_eq!(error.code(), code);
        let error =
            server.client.gen_final_proof(with(secret, stream("", &[b"w"]))).await.expect_err("refused");
        assert_eq!(error.code(), code);
    }
    // Before anything of the input is read, which here never comes.
    let secret = server.secrets[2].clone();
    let refused = server.client.gen_final_proof(with(&secret, futures::stream::pending()));
    let refused = tokio::time::timeout(Duration::from_secs(5), refused).await.expect("soon");
    assert_eq!(refused.expect_err("refused").code(), Code::PermissionDenied);
    let secret = server.secrets[1].clone();
    let error =
        server.client.gen_final_proof(with(&secret, stream("", &[b"w"]))).await.expect_err("not its key");
    assert_eq!(error.code(), Code::NotFound);
    let metrics = reqwest::Client::new().get(format!("{}/metrics", server.address));
    let metrics = metrics.bearer_auth(&server.secrets[2]).send().await.expect("an answer");
    let metrics = metrics.text().await.expect("text");
    let is_counted = |code: Code| {
        let status = format!("status=\"grpc-{}\"", code as i32);
        metrics
            .lines()
            .any(|line| line.starts_with("proofmill_http_requests_total") && line.contains(&status))
    };
    let codes = [Code::Unauthenticated, Code::PermissionDenied, Code::NotFound];
    assert!(codes.into_iter().all(is_counted), "{metrics}");
}

#[tokio::test]
async fn malformed_and_too_large_requests_are_refused_and_leave_nothing() {
    let mut server = server().await;
    let secret = server.secrets[0].clone();
    let error = server.client.gen_final_proof(with(&secret, stream("", &[&[0; 600], &[0; 600]]))).await;
    assert_eq!(error.expect_err("too large").code(), Code::OutOfRange);
    let headless = futures::stream::iter(vec![GenFinalProofRequest { part: Some(Part::Input(vec![1])) }]);
    let error = server.client.gen_final_proof(with(&secret, headless)).await.expect_err("no header");
    assert_eq!(error.code(), Code::InvalidArgument);
    let folder = server.folder.path();
    for left in ["objects/jobs", "staging"] {
        let left = std::fs::read_dir(folder.join(left)).map_or(0, Iterator::count);
        assert_eq!(left, 0);
    }
}

#[tokio::test]
async fn one_name_is_one_job_through_http_and_grpc() {
    let mut server = server().await;
    let secret = server.secrets[0].clone();
    let by_call = server.client.gen_final_proof(with(&secret, stream("same", &[b"the ", b"witness"]))).await;
    let id = by_call.expect("accepted").into_inner().id;
    let (status, job) = server.submit(&secret, "same", "the witness").await;
    assert_eq!((status, job["id"].as_str()), (200, Some(&*id)));
    assert_eq!(server.submit(&secret, "same", "another witness").await.0, 422);

    let (status, job) = server.submit(&secret, "other", "the witness").await;
    assert_eq!(status, 202);
    let by_call = server.client.gen_final_proof(with(&secret, stream("other", &[b"the witness"]))).await;
    assert_eq!(Some(&*by_call.expect("accepted").into_inner().id), job["id"].as_str());
}

#[tokio::test]
async fn a_token_has_a_share_of_the_calls() {
    let mut server = start(HttpOptions { most_requests: 8, ..HttpOptions::default() }).await;
    let secret = server.secrets[0].clone();
    let call = server.client.gen_final_proof(with(&secret, stream("", &[b"the witness"]))).await;
    let ask = GetProofRequest { id: call.expect("accepted").into_inner().id, timeout_s: 60 };
    // Two are the share of eight.
    let mut waiting: Vec<_> = (0..3)
        .map(|_| {
            let (mut client, request) = (server.client.clone(), with(&secret, ask.clone()));
            tokio::spawn(async move { client.get_proof(request).await })
        })
        .collect();
    let (refused, place, _) = futures::future::select_all(&mut waiting).await;
    assert_eq!(refused.expect("no panic").expect_err("refused").code(), Code::ResourceExhausted);
    drop(waiting.remove(place));
    let client = server.client.clone();
    let is_refused =
        async |secret: &str| match client.clone().get_status(with(secret, GetStatusRequest {})).await {
            Err(error) if error.code() == Code::ResourceExhausted => true,
            answer => answer.map(|_| false).expect("a status"),
        };
    assert!(is_refused(&secret).await);
    assert!(!is_refused(&server.secrets[1]).await, "others have theirs");
    assert_eq!(server.submit(&secret, "by-http", "the witness").await.0, 429, "requests of HTTP count, too");
    waiting.iter().for_each(|waiting| waiting.abort());
    eventually("what was given up counts no more", async || !is_refused(&secret).await).await;
}

#[tokio::test]
async fn a_stream_that_stops_or_breaks_off_leaves_nothing() {
    let mut options = HttpOptions { most_requests: 4, ..HttpOptions::default() };
    options.bodies.longest_pause = Duration::from_millis(300);
    let mut server = start(options).await;
    let secret = server.secrets[0].clone();
    // It sends nothing more, and keeps the stream open.
    let stopped = stream("", &[b"the "]).chain(futures::stream::pending());
    let error = server.client.gen_final_proof(with(&secret, stopped)).await.expect_err("no more came");
    assert_eq!((error.code(), server.staged()), (Code::DeadlineExceeded, 0));

    let drips = futures::stream::unfold((), async |()| {
        tokio::time::sleep(Duration::from_millis(100)).await;
        Some((GenFinalProofRequest { part: Some(Part::Input(b"x".to_vec())) }, ()))
    });
    let (mut client, dripping) = (server.client.clone(), stream("", &[]).chain(Box::pin(drips)));
    let request = with(&secret, dripping);
    let call = tokio::spawn(async move { client.gen_final_proof(request).await });
    eventually("a file is being written", async || server.staged() == 1).await;
    call.abort();
    eventually("it is deleted", async || server.staged() == 0).await;
    // One call is its share: it has none any more.
    let ask = || with(&secret, GetStatusRequest {});
    let mut client = server.client.clone();
    eventually("the place is free", async || client.get_status(ask()).await.is_ok()).await;
    let status = client.get_status(ask()).await.expect("a status").into_inner();
    assert_eq!(status.waiting, Vec::<String>::new());
    assert!(!server.folder.path().join("objects/jobs").exists());
}

#[tokio::test]
async fn messages_in_memory_are_bounded_together() {
    let mut options = HttpOptions::default();
    options.bodies.most_memory = 400_000;
    let mut server = start(options).await;
    let secret = server.secrets[0].clone();
    // Of a stream, one message after the other is in memory.
    let pieces = [&[1; 10_000][..]; 20];
    let call = server.client.gen_final_proof(with(&secret, stream("", &pieces))).await;
    call.expect("accepted");
    let inner = vec![Inner { proof: vec![1; 60_000], public_values: vec![] }];
    let message = GenAggregatedProofRequest { inner, ..GenAggregatedProofRequest::default() };
    let error = server.client.gen_aggregated_proof(with(&secret, message)).await.expect_err("too much");
    assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
    let error = server.client.gen_final_proof(with(&secret, stream("", &[&[1; 60_000]]))).await;
    assert_eq!(error.expect_err("too much").code(), Code::ResourceExhausted);
    assert_eq!(server.staged(), 0);
}

#[tokio::test]
async fn a_wait_is_bounded_and_does_not_end_its_connection() {
    let longest_wait = Duration::from_secs(2);
    let longest_idle = Duration::from_millis(500);
    let mut server = start(HttpOptions { longest_wait, longest_idle, ..HttpOptions::default() }).await;
    let secret = server.secrets[0].clone();
    let call = server.client.gen_final_proof(with(&secret, stream("", &[b"the witness"]))).await;
    let ask = GetProofRequest { id: call.expect("accepted").into_inner().id, timeout_s: 3600 };
    let answer = server.client.get_proof(with(&secret, ask));
    let answer =
        tokio::time::timeout(Duration::from_secs(120), answer).await.expect("it does not wait longer");
    assert_eq!(answer.expect("a state").into_inner().state(), State::Queued);
}

#[tokio::test]
async fn objects_belong_to_one_store() {
    let server = server().await;
    let folder = server.folder.path();
    // There is a key, and nothing says whose.
    let error = server.service.own_objects().await.expect_err("not empty");
    assert!(error.to_string().contains("store-id"), "{error}");
    let open = async |store: &str, objects: &str| {
        let store = Store::new(Sqlite::open(&folder.join(store)).expect("a store"));
        let objects = Arc::new(FolderObjects::new(&folder.join(objects)).expect("objects"));
        let staging = Staging::new(&folder.join("staging")).expect("staging");
        Service::new(store, objects, staging, Arc::new(Groth16Only), Rules::default()).own_objects().await
    };
    for _ in 0..2 {
        open("first", "own").await.expect("its own");
    }
    let error = open("second", "own").await.expect_err("another store's");
    assert!(error.to_string().contains("another store"), "{error}");
}
