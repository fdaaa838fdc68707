use crate::worker::{
    faulty::Faulty,
    place::{Place, is_alive, until},
};
use proofmill_server::{state::JobState, store::JobRecord, worker::WorkerOptions};
use serde_json::{Value, json};
use std::{
    fs,
    process::Command,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

const LEASE: Duration = Duration::from_secs(1);

/// What becomes of a job with this behaviour, and of nothing else: the worker goes on.
async fn fate(place: &Place, behaviour: Value, attempts: u32) -> JobRecord {
    let key = place.key(behaviour).await;
    let good = place.key(json!({"do": "ok"})).await;
    let mut worker = place.work(place.options());
    let bad =
        place.submit_with(&key, "w", |job| (job.attempts, job.timeout_s) = (Some(attempts), Some(10))).await;
    let bad = place.ended(&bad).await;
    let next = place.submit(&good, "next").await;
    assert_eq!(place.ended(&next).await.progress.state, JobState::Done);
    worker.end().await;
    assert_eq!(place.staged(), [""; 0]);
    for line in place.logged("begin") {
        assert!(!is_alive(line[1].parse().expect("a process")));
    }
    bad
}

async fn expect_dead(behaviour: Value, message: &str) {
    let place = Place::new(LEASE).await;
    let job = fate(&place, behaviour, 1).await;
    assert_eq!((job.progress.state, job.progress.attempts), (JobState::Dead, 1));
    let error = job.error.expect("a message");
    assert!(error.contains(message) && !error.contains('\n'), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_is_final() {
    let place = Place::new(LEASE).await;
    let job = fate(&place, json!({"do": "fail"}), 3).await;
    assert_eq!((job.progress.state, job.progress.attempts), (JobState::Failed, 1));
    assert_eq!(job.error.as_deref(), Some("the witness is wrong"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transient_failure_is_tried_again() {
    let place = Place::new(LEASE).await;
    let job = fate(&place, json!({"do": "fail-transient"}), 2).await;
    assert_eq!((job.progress.state, job.progress.attempts), (JobState::Dead, 2));
    assert_eq!(job.error.as_deref(), Some("the disk is full"));
    // What made it fail may stay with the process: another one tries again.
    let log = place.logged("begin");
    assert_ne!(log[0][1], log[1][1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_is_tried_again_until_attempts_are_exhausted() {
    let place = Place::new(LEASE).await;
    let job = fate(&place, json!({"do": "crash"}), 3).await;
    assert_eq!((job.progress.state, job.progress.attempts), (JobState::Dead, 3));
    assert_eq!(job.error.as_deref(), Some("the prover was ended by signal 11 (SIGSEGV)"));
    assert_eq!(place.logged("begin").len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_does_not_matter_if_the_next_attempt_succeeds() {
    let place = Place::new(LEASE).await;
    let job = fate(&place, json!({"do": "crash-once"}), 3).await;
    assert_eq!((job.progress.state, job.progress.attempts), (JobState::Done, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exit_codes_are_named() {
    expect_dead(json!({"do": "exit"}), "ended with exit code 3").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbage_is_refused() {
    expect_dead(json!({"do": "garbage"}), "a line of 16 bytes is no reply").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_without_end_is_refused() {
    expect_dead(json!({"do": "endless-line"}), "a line of more than").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn phases_without_end_are_refused() {
    expect_dead(json!({"do": "endless-phases"}), "more than 10000 phases").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_output_is_noticed() {
    expect_dead(json!({"do": "no-output"}), "there is no proof").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_outputs_than_promised_are_refused() {
    expect_dead(json!({"do": "another-output"}), "it left 3 files instead of 2").await;
    expect_dead(json!({"do": "link-as-output"}), "its proof is no regular file").await;
    expect_dead(json!({"do": "large-output"}), "its public has 1073741825 bytes").await;
    expect_dead(json!({"do": "text-as-output"}), "its proof is no JSON").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_is_limited() {
    let began = Instant::now();
    expect_dead(json!({"do": "memory", "mebibytes": 600}), "of memory, more than the 258 MiB").await;
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prover_may_write_many_errors() {
    let place = Place::new(LEASE).await;
    let job = fate(&place, json!({"do": "errors"}), 1).await;
    assert_eq!(job.progress.state, JobState::Done);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn provers_do_not_see_secrets_of_the_environment() {
    let place = Place::new(LEASE).await;
    let job = fate(&place, json!({"do": "environment"}), 1).await;
    let names = job.error.expect("the names");
    // Cargo sets it for tests.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(names.contains("PATH") && !names.contains("CARGO"), "{names}");
}

async fn expect_timeout(behaviour: Value) {
    let place = Place::new(LEASE).await;
    let key = place.key(behaviour).await;
    let mut worker = place.work(place.options());
    let rules = |job: &mut proofmill_server::service::Submission| {
        (job.attempts, job.timeout_s) = (Some(1), Some(1));
    };
    let job = place.submit_with(&key, "w", rules).await;
    let began = Instant::now();
    let job = place.ended(&job).await;
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert_eq!(job.progress.state, JobState::Dead);
    let error = job.error.expect("a message");
    assert!(error.contains("1000 ms, its time-out"), "{error}");
    assert!(!is_alive(place.process("begin")));
    worker.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_prover_is_killed() {
    expect_timeout(json!({"do": "ok", "seconds": 1000})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_prover_is_killed() {
    expect_timeout(json!({"do": "stop"})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_kills_the_prover_and_its_children() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "hang"})).await;
    let mut worker = place.work(place.options());
    let id = place.submit(&key, "w").await;
    until("the prover begins", || !place.logged("child").is_empty()).await;
    let (prover, child) = (place.process("begin"), place.process("child"));
    assert!(is_alive(prover) && is_alive(child));
    // Beats prolong the lease.
    tokio::time::sleep(2 * LEASE).await;
    assert!(is_alive(prover));
    place.service.cancel(&place.identity, &id).await.expect("cancelled");
    let began = Instant::now();
    until("both are killed", || !is_alive(prover) && !is_alive(child)).await;
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!(place.ended(&id).await.progress.state, JobState::Cancelled);
    worker.end().await;
    assert_eq!(place.staged(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_prover_that_ends_costs_no_attempt() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "ok"})).await;
    let mut worker = place.work(WorkerOptions { threads: Some(1), ..place.options() });
    for round in 0..3 {
        let id = place.submit(&key, &round.to_string()).await;
        let job = place.ended(&id).await;
        assert_eq!((job.progress.state, job.progress.attempts), (JobState::Done, 1));
        let prover = place.process("begin");
        Command::new("kill").args(["-9", &prover.to_string()]).status().expect("kill");
        until("it ends", || !is_alive(prover)).await;
    }
    worker.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreachable_service_costs_the_lease() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "hang-once"})).await;
    let faulty = Arc::new(Faulty::new(place.service.clone()));
    let mut worker = place.work_with(faulty.clone(), place.options());
    let id = place.submit(&key, "w").await;
    until("the prover begins", || !place.logged("begin").is_empty()).await;
    let prover = place.process("begin");
    faulty.is_down.store(true, Ordering::Relaxed);
    place.when(&id, |job| job.progress.state == JobState::Queued).await;
    faulty.is_down.store(false, Ordering::Relaxed);
    until("the prover is killed", || !is_alive(prover)).await;
    let job = place.ended(&id).await;
    assert_eq!((job.progress.state, job.progress.attempts), (JobState::Done, 2));
    worker.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_that_is_longer_than_a_lease_costs_nothing() {
    // The service ends no leases in the first minute: that is what a store does that was out of reach.
    let place = Place::new(Duration::from_secs(60)).await;
    let key = place.key(json!({"do": "ok", "seconds": 3})).await;
    let faulty = Arc::new(Faulty::new(place.service.clone()));
    let mut worker = place.work_with(faulty.clone(), WorkerOptions { lease: LEASE, ..place.options() });
    let id = place.submit(&key, "w").await;
    until("the prover begins", || !place.logged("begin").is_empty()).await;
    faulty.is_down.store(true, Ordering::Relaxed);
    let store = place.service.store().clone();
    let job = place.service.store().job(id.clone(), None).await.expect("it is there");
    while store.now().await.expect("time") < job.progress.lease_until + 500 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    faulty.is_down.store(false, Ordering::Relaxed);
    let job = place.ended(&id).await;
    assert_eq!((job.progress.state, job.progress.attempts), (JobState::Done, 1));
    worker.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_short_outage_costs_nothing() {
    let place = Place::new(Duration::from_secs(4)).await;
    let key = place.key(json!({"do": "ok", "seconds": 0.3})).await;
    let faulty = Arc::new(Faulty::new(place.service.clone()));
    let mut worker = place.work_with(faulty.clone(), place.options());
    let id = place.submit(&key, "w").await;
    until("the prover begins", || !place.logged("begin").is_empty()).await;
    // The prover ends meanwhile: its result waits.
    faulty.is_down.store(true, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(place.logged("end").len(), 1);
    faulty.is_down.store(false, Ordering::Relaxed);
    let job = place.ended(&id).await;
    assert_eq!((job.progress.state, job.progress.attempts), (JobState::Done, 1));
    worker.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_fails_at_random_loses_nothing() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "ok"})).await;
    let faulty =
        Arc::new(Faulty { failing_percent: 15, is_remote: true, ..Faulty::new(place.service.clone()) });
    let mut workers: Vec<_> = (0..2).map(|_| place.work_with(faulty.clone(), place.options())).collect();
    let mut jobs = Vec::new();
    for index in 0..60 {
        jobs.push(place.submit_with(&key, &index.to_string(), |job| job.attempts = Some(50)).await);
    }
    for (index, id) in jobs.iter().enumerate() {
        let job = place.ended(id).await;
        assert_eq!(job.progress.state, JobState::Done, "{job:?}");
        let proof = place.output(id, proofmill_job::TaskOutput::Proof).await;
        assert_eq!(proof, format!("[\"proof\", \"{index}\"]"));
    }
    for worker in &mut workers {
        worker.end().await;
    }
    assert!(faulty.failures.load(Ordering::Relaxed) > 20);
    // No answer of an accepted end was followed by another attempt.
    assert!(place.logged("end").len() <= jobs.len() + faulty.failures.load(Ordering::Relaxed));
    assert_eq!(place.staged(), [""; 0]);
    assert_eq!(fs::read_dir(place.keys()).expect("keys").count(), 1);
}
