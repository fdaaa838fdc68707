use crate::worker::{
    faulty::Faulty,
    place::{Place, until},
};
use proofmill_server::{state::JobState, worker::WorkerOptions};
use serde_json::json;
use std::{
    fs,
    path::Path,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

const LEASE: Duration = Duration::from_secs(1);

fn remote(place: &Place) -> Arc<Faulty> {
    Arc::new(Faulty { is_remote: true, ..Faulty::new(place.service.clone()) })
}

fn names(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.keys()).expect("a folder").flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_brought_once() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "ok"})).await;
    let faulty = remote(&place);
    fs::create_dir(place.keys()).expect("a folder");
    // Of a worker that was killed.
    fs::write(place.keys().join(format!("{key}.part")), "a part").expect("written");
    fs::write(place.keys().join(format!("{key}.lock")), "").expect("written");
    let mut workers: Vec<_> = (0..2).map(|_| place.work_with(faulty.clone(), place.options())).collect();
    let mut jobs = Vec::new();
    for index in 0..10 {
        jobs.push(place.submit(&key, &index.to_string()).await);
    }
    for id in &jobs {
        assert_eq!(place.ended(id).await.progress.state, JobState::Done);
    }
    for worker in &mut workers {
        worker.end().await;
    }
    assert_eq!(faulty.brought.load(Ordering::Relaxed), 1);
    assert_eq!(names(&place), [key]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_key_is_not_used() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "ok"})).await;
    let faulty =
        Arc::new(Faulty { damages_keys: true, is_remote: true, ..Faulty::new(place.service.clone()) });
    let mut worker = place.work_with(faulty, place.options());
    let id = place.submit_with(&key, "w", |job| job.attempts = Some(1)).await;
    let job = place.ended(&id).await;
    assert_eq!(job.progress.state, JobState::Dead);
    assert!(job.error.expect("a message").contains("could not give or take the job's files"));
    worker.end().await;
    assert_eq!((names(&place), place.logged("begin").len()), (vec![], 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_keys_make_room_but_none_in_use() {
    let place = Place::new(LEASE).await;
    let long = place.key(json!({"do": "ok", "seconds": 2, "padding": "x".repeat(1000)})).await;
    let mut keys = Vec::new();
    for index in 0..4 {
        keys.push(place.key(json!({"do": "ok", "padding": "x".repeat(1000), "index": index})).await);
    }
    let options = WorkerOptions { most_key_bytes: 2500, ..place.options() };
    let mut worker = place.work_with(remote(&place), options);
    let running = place.submit(&long, "long").await;
    until("the prover begins", || !place.logged("begin").is_empty()).await;
    for key in &keys {
        let id = place.submit(key, "w").await;
        assert_eq!(place.ended(&id).await.progress.state, JobState::Done);
    }
    // Two fit: the one in use, and the last.
    let mut expected = vec![long, keys[3].clone()];
    expected.sort();
    assert_eq!(names(&place), expected);
    assert_eq!(place.ended(&running).await.progress.state, JobState::Done);
    worker.end().await;
}

/// Overwrites a key's file with what tells the fake prover to do something else.
fn damage(file: &Path, behaviour: &str) {
    fs::write(file, json!({ "do": behaviour }).to_string()).expect("written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_was_damaged_later_is_brought_again() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "ok"})).await;
    let faulty = remote(&place);
    let mut worker = place.work_with(faulty.clone(), place.options());
    place.ended(&place.submit(&key, "before").await).await;
    for behaviour in ["fail", "crash"] {
        damage(&place.keys().join(&key), behaviour);
        let id = place.submit(&key, behaviour).await;
        let job = place.ended(&id).await;
        assert_eq!((job.progress.state, job.progress.attempts), (JobState::Done, 2), "{job:?}");
        assert!(job.error.expect("of the first attempt").contains("the file of a key was damaged"));
    }
    worker.end().await;
    assert_eq!((faulty.brought.load(Ordering::Relaxed), names(&place)), (3, vec![key]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_key_of_the_service_fails_no_job() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "ok"})).await;
    let file = place.folder.join("objects/keys").join(&key);
    damage(&file, "fail");
    let mut worker = place.work(place.options());
    let id = place.submit_with(&key, "w", |job| job.attempts = Some(1)).await;
    let job = place.ended(&id).await;
    assert_eq!(job.progress.state, JobState::Dead, "{job:?}");
    assert!(file.exists(), "it is the only one");
    worker.end().await;
}
