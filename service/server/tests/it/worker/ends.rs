use crate::worker::{
    faulty::Faulty,
    place::{Place, is_alive, until},
};
use proofmill_server::{service::ServiceError, state::JobState, worker::WorkerOptions};
use serde_json::json;
use std::{
    fs,
    process::{Command, Stdio},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

const LEASE: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_worker_ends_soon() {
    let place = Place::new(LEASE).await;
    let mut worker = place.work(place.options());
    let key = place.key(json!({"do": "ok"})).await;
    place.ended(&place.submit(&key, "w").await).await;
    tokio::time::timeout(Duration::from_secs(20), worker.end()).await.expect("it waits for nothing");
    assert!(!is_alive(place.process("begin")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_ends_finishes_what_it_has() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "ok", "seconds": 1.5})).await;
    let mut worker = place.work(place.options());
    let first = place.submit(&key, "first").await;
    until("the prover begins", || !place.logged("begin").is_empty()).await;
    worker.drain();
    let late = place.submit(&key, "late").await;
    worker.result().await.expect("a worker that ends well");
    assert_eq!(place.ended(&first).await.progress.state, JobState::Done);
    let late = place.when(&late, |_| true).await;
    assert_eq!((late.progress.state, late.progress.attempts), (JobState::Queued, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_must_end_gives_back_what_it_has() {
    let place = Place::new(Duration::from_secs(20)).await;
    let key = place.key(json!({"do": "hang"})).await;
    let mut worker =
        place.work(WorkerOptions { drain_timeout: Duration::from_millis(300), ..place.options() });
    let id = place.submit(&key, "w").await;
    until("the prover begins", || !place.logged("child").is_empty()).await;
    let began = Instant::now();
    worker.end().await;
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert!(!is_alive(place.process("begin")) && !is_alive(place.process("child")));
    let job = place.when(&id, |_| true).await;
    assert_eq!((job.progress.state, job.progress.attempts), (JobState::Queued, 0));
    assert_eq!(place.staged(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prover_that_does_not_end_is_killed() {
    let place = Place::new(LEASE).await;
    fs::write(place.state().join("hang-at-end"), "").expect("written");
    let key = place.key(json!({"do": "ok"})).await;
    let mut worker = place.work(place.options());
    place.ended(&place.submit(&key, "w").await).await;
    let began = Instant::now();
    worker.end().await;
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
    assert!(!is_alive(place.process("begin")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_is_dropped_leaves_nothing() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "hang"})).await;
    let worker = place.work(place.options());
    place.submit(&key, "w").await;
    until("the prover begins", || !place.logged("child").is_empty()).await;
    drop(worker);
    let (prover, child) = (place.process("begin"), place.process("child"));
    until("all are killed", || !is_alive(prover) && !is_alive(child)).await;
    until("all is deleted", || place.staged().is_empty()).await;
}

/// The folder of the service for [`work_until_killed`].
const FOLDER: &str = "PROOFMILL_TEST_FOLDER";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by another test"]
async fn work_until_killed() {
    let folder = std::env::var_os(FOLDER).expect("a folder");
    let place = Place::join(folder.into(), "killed", LEASE).await;
    place.work(place.options()).result().await.expect("no error");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_job_of_a_killed_worker_is_done_by_another() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "hang-once"})).await;
    let mut killed = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "worker::ends::work_until_killed", "--ignored"])
        .env(FOLDER, &place.folder)
        .stdout(Stdio::null())
        .spawn()
        .expect("a process");
    let id = place.submit(&key, "w").await;
    until("the prover begins", || !place.logged("begin").is_empty()).await;
    let prover = place.process("begin");
    killed.kill().expect("killed");
    killed.wait().expect("it ended");
    let began = Instant::now();
    until("the prover sees that its input has ended", || !is_alive(prover)).await;
    let mut worker = place.work(place.options());
    let job = place.ended(&id).await;
    assert!(began.elapsed() < LEASE + Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!((job.progress.state, job.progress.attempts, job.progress.fence), (JobState::Done, 2, 2));
    worker.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_is_denied_ends_with_an_error() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "hang"})).await;
    let faulty = Arc::new(Faulty::new(place.service.clone()));
    let mut worker = place.work_with(faulty.clone(), place.options());
    place.submit(&key, "w").await;
    until("the prover begins", || !place.logged("child").is_empty()).await;
    faulty.is_denied.store(true, Ordering::Relaxed);
    let began = Instant::now();
    match worker.result().await {
        Err(ServiceError::Forbidden(message)) => {
            assert!(message.contains("the token is revoked"), "{message}")
        }
        other => panic!("expected a denial, found {other:?}"),
    }
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert!(!is_alive(place.process("child")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_not_there_is_an_error() {
    let place = Place::new(LEASE).await;
    let options = WorkerOptions { program: "/nowhere/proofmill".into(), ..place.options() };
    let error = place.work(options).result().await.expect_err("no program").to_string();
    assert!(error.contains("/nowhere/proofmill: cannot be started"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_no_prover_is_an_error() {
    let place = Place::new(LEASE).await;
    let options = WorkerOptions { program: "false".into(), arguments: vec![], ..place.options() };
    let error = place.work(options).result().await.expect_err("no prover").to_string();
    assert!(error.contains("ended with exit code 1"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_version_is_an_error() {
    let place = Place::new(LEASE).await;
    fs::write(place.state().join("version"), "9.9.9").expect("written");
    let error = place.work(place.options()).result().await.expect_err("another version").to_string();
    assert!(error.contains("version 9.9.9, but the worker is version"), "{error}");
}
