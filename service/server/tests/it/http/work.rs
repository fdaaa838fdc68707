//! The routes of workers, through [`Remote`].

use crate::http::server::{Server, answer, claim, finish, server};
use proofmill_job::{Finished, TaskInput, TaskOutput};
use proofmill_server::{
    access::Scope,
    client::{Client, Remote},
    coordinator::{Coordinator, MOST_SMALL, PROTOCOL, Trouble, WorkerFacts},
    http::Stage,
    objects::Staging,
    store::{ClaimOutcome, Want, Worked},
};
use serde_json::{json, value::RawValue};
use std::time::{Duration, Instant};

async fn remote(server: &Server) -> Remote {
    let token = server.token(&format!("worker{}", uuid::Uuid::now_v7()), &[Scope::Work]).await;
    let client = Client::new(&server.url, &token, None).expect("a client");
    Remote::new(client, Staging::new(&server.folder.path().join("remote")).expect("staging"))
}

fn want(lease_ms: u64) -> Want {
    Want { worker: "w".to_owned(), free: 1 << 40, total: 1 << 40, jobs: 1, lease_ms, ..Want::default() }
}

#[tokio::test]
async fn a_remote_worker_claims_and_finishes() {
    let server = server().await;
    let remote = remote(&server).await;
    server.key(&server.admin, "circuit", "groth16 a").await;
    server.key(&server.admin, "circuit.wasm", "program a").await;
    let waiting = tokio::spawn({
        let remote = remote.clone();
        async move { claim(&remote).await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let began = Instant::now();
    let job = json!({"type": "prove", "key": "circuit", "program": "circuit.wasm", "inputs": {"signals": {"a": "1"}}});
    let (_, submitted) = answer(server.post(&server.admin, "/v1/jobs").json(&job)).await;
    let job = waiting.await.expect("no panic");
    assert!(began.elapsed() < Duration::from_secs(2), "the claim waits for a job, not for the time");
    assert_eq!(submitted["id"], job.id.as_str());

    let facts = WorkerFacts {
        host: "h".to_owned(),
        threads: 4,
        jobs: vec![job.id.clone()],
        ..WorkerFacts::default()
    };
    remote.see("w", &facts).await.expect("seen");
    let (_, workers) = answer(server.get(&server.admin, "/v1/workers")).await;
    assert_eq!(
        (workers[0]["id"].as_str(), workers[0]["threads"].as_u64()),
        (Some("w"), Some(4)),
        "{workers}"
    );

    let folder = remote.staging().folder().expect("a folder");
    let input = remote.input(&job.id, 1, TaskInput::Signals, folder.path()).await.expect("the input");
    assert_eq!(std::fs::read_to_string(input).expect("a file"), "{\"a\":\"1\"}");
    for (key, content) in job.task.keys().iter().zip(["groth16 a", "program a"]) {
        assert_eq!(remote.key(key), None);
        let place = folder.path().join(key);
        remote.bring_key(key, &place).await.expect("the key");
        assert_eq!(std::fs::read_to_string(&place).expect("a file"), content);
    }
    let beat = Worked::Beat { lease_ms: u64::MAX, phase: Some("p".repeat(100_000)) };
    remote.report(&job.id, 1, beat).await.expect("noted");
    let known = server.service.store().job(job.id.clone(), None).await.expect("there");
    assert_eq!(known.phase.expect("a phase").len(), 4096);
    let longest = server.service.store().now().await.expect("a time") + 15_000;
    assert!(known.progress.lease_until <= longest, "a worker cannot take a lease for ever");

    finish(&remote, &job).await;
    let again = Worked::Finished { finished: Finished::default(), outputs: Default::default() };
    remote.report(&job.id, 1, again).await.expect("also when the first answer did not arrive");
    let proof = answer(server.get(&server.admin, &format!("/v1/jobs/{}/proof", job.id))).await;
    assert_eq!(proof, (200, json!({"proof": job.id})));
    remote.leave("w").await.expect("left");
    assert_eq!(answer(server.get(&server.admin, "/v1/workers")).await.1, json!([]));
}

#[tokio::test]
async fn a_stale_worker_is_told_so() {
    let server = server().await;
    let remote = remote(&server).await;
    let job = json!({"type": "verify-bls", "inputs": {"sets": []}});
    answer(server.post(&server.admin, "/v1/jobs").json(&job)).await;
    let job = claim(&remote).await;
    server.service.report(&job.id, 1, Worked::Released).await.expect("released");
    let again = claim(&remote).await;
    assert_eq!((again.id.as_str(), again.progress.fence), (job.id.as_str(), 2));
    let folder = remote.staging().folder().expect("a folder");
    let is_lost =
        |answer: Result<(), Trouble>| assert!(matches!(answer, Err(Trouble::Lost(_))), "{answer:?}");
    is_lost(remote.report(&job.id, 1, Worked::Failed("no".to_owned())).await);
    is_lost(remote.input(&job.id, 1, TaskInput::Sets, folder.path()).await.map(drop));
    let file = folder.path().join("proof");
    std::fs::write(&file, "x").expect("a file");
    is_lost(remote.output(&job.id, 1, TaskOutput::Proof, &file).await);
    is_lost(remote.report("no such job", 1, Worked::Released).await);
    let missing = remote.bring_key(&"0".repeat(64), &folder.path().join("key")).await;
    assert!(matches!(missing, Err(Trouble::Refused(_))), "{missing:?}");
    assert!(!folder.path().join("key").exists(), "what did not come leaves no file");
    let large = "x".repeat(2 << 20);
    let denied = remote.report(&job.id, 2, Worked::Failed(large)).await;
    assert!(matches!(denied, Err(Trouble::Refused(_))), "one request does not end the worker: {denied:?}");
    let large = RawValue::from_string(format!("\"{}\"", "x".repeat(MOST_SMALL))).expect("JSON");
    let outputs = [(TaskOutput::Proof, large)].into();
    let denied = remote.report(&job.id, 2, Worked::Finished { finished: Finished::default(), outputs }).await;
    assert!(matches!(denied, Err(Trouble::Refused(_))), "{denied:?}");
    let failed = "e".repeat(100_000);
    remote.report(&job.id, 2, Worked::Failed(failed)).await.expect("noted");
}

#[tokio::test]
async fn a_job_is_given_back_when_its_worker_hangs_up() {
    let server = server().await;
    let remote = remote(&server).await;
    let claiming = remote.claim(want(10_000), Duration::from_secs(30));
    assert!(tokio::time::timeout(Duration::from_millis(300), claiming).await.is_err());
    let id = server.empty_job(&server.admin).await;
    let job = tokio::time::timeout(Duration::from_secs(5), claim(&remote)).await.expect("within the lease");
    assert_eq!((job.id, job.progress.attempts), (id, 1));
}

#[tokio::test]
async fn nothing_to_do_and_shutdown_are_said_in_time() {
    let server = server().await;
    let remote = remote(&server).await;
    let began = Instant::now();
    let nothing = remote.claim(want(1000), Duration::from_millis(300)).await.expect("an answer");
    assert_eq!(nothing, ClaimOutcome::Empty);
    assert!(began.elapsed() >= Duration::from_millis(300));
    server.stage.send_replace(Stage::Draining);
    let began = Instant::now();
    server.empty_job(&server.admin).await;
    let nothing = remote.claim(want(1000), Duration::from_secs(30)).await.expect("an answer");
    assert_eq!(nothing, ClaimOutcome::Empty, "a server that drains gives no jobs");
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn troubles_are_told_apart() {
    let server = server().await;
    let client =
        Client::new(&server.url, &server.token("weak", &[Scope::Submit]).await, None).expect("a client");
    let staging = Staging::new(&server.folder.path().join("remote")).expect("staging");
    let weak = Remote::new(client, staging.clone());
    let denied = weak.claim(want(1), Duration::ZERO).await;
    assert!(matches!(denied, Err(Trouble::Denied(_))), "{denied:?}");
    let nobody = Client::new("http://127.0.0.1:1", "x", None).expect("a client");
    let unavailable = Remote::new(nobody, staging).claim(want(1), Duration::ZERO).await;
    assert!(matches!(unavailable, Err(Trouble::Unavailable(_))), "{unavailable:?}");
}

#[tokio::test]
async fn a_worker_of_another_version_is_refused() {
    let server = server().await;
    let token = server.token("worker", &[Scope::Work]).await;
    // Nothing else of it need be known.
    for (claim, found) in [(json!({"protocol": 0, "wants": []}), "protocol 0"), (json!({"want": 1}), "none")]
    {
        let (status, problem) = answer(server.post(&token, "/v1/work/claim").json(&claim)).await;
        let detail = problem["detail"].as_str().expect("a line");
        assert!(status == 403 && detail.contains(&format!("the worker has {found}: install")), "{problem}");
    }
    let (status, _) =
        answer(server.post(&token, "/v1/work/claim").json(&json!({"protocol": PROTOCOL}))).await;
    assert_eq!(status, 400, "this version is read");
}
