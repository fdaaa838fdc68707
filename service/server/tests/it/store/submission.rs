//! What is accepted, once.

use crate::store::open::{
    LIMITS, add_key, claimed, job_with_inputs, key, new_id, new_job, stores, submit, submitted,
};
use proofmill_job::Task;
use proofmill_server::store::{JobQuery, KeyRecord, NewJob, StoreError, StoreLimits};
use std::time::{Duration, Instant};
use tokio::time::sleep;

fn all() -> JobQuery {
    JobQuery { owner: None, state: None, before: None, limit: 1000 }
}

fn named(owner: &str, name: &str) -> NewJob {
    NewJob { idempotency_key: Some(name.to_owned()), ..new_job(owner) }
}

#[tokio::test]
async fn a_name_of_a_submission_stands_for_one_job() {
    for (store, _place) in stores().await {
        let first = submitted(&store, named("a", "n")).await;
        let (again, is_new) = submit(&store, named("a", "n")).await.expect("accepted before");
        assert_eq!((&again, is_new), (&first, false));
        let mut other = named("a", "n");
        other.request = "another request".to_owned();
        assert_eq!(submit(&store, other).await, Err(StoreError::Idempotency(first.id.clone())));
        // Names of another owner are others, and so are odd ones.
        for (owner, name) in [("b", "n"), ("a", "N"), ("a", ""), ("a", "n\0"), ("a", "ñ'\"--")] {
            assert_ne!(submitted(&store, named(owner, name)).await.id, first.id);
            assert!(!submit(&store, named(owner, name)).await.expect("accepted before").1);
        }
        // It also stands for a job that has ended.
        store.cancel(first.id.clone(), None).await.expect("it is queued");
        assert_eq!(submit(&store, named("a", "n")).await.expect("accepted before").0.id, first.id);
        // The same job again, by its id: the answer is the same.
        let new = new_job("a");
        let first = submitted(&store, new.clone()).await;
        assert_eq!(submit(&store, new).await, Ok((first, true)));
    }
}

#[tokio::test]
async fn many_copies_of_a_submission_make_one_job() {
    for (store, _place) in stores().await {
        let copies = (0..200).map(|_| {
            let store = store.clone();
            tokio::spawn(async move { submit(&store, named("a", "n")).await.expect("accepted") })
        });
        let copies: Vec<_> = copies.collect();
        let (mut ids, mut new) = (Vec::new(), 0);
        for copy in copies {
            let (job, is_new) = copy.await.expect("it ends");
            ids.push(job.id);
            new += usize::from(is_new);
        }
        ids.dedup();
        assert_eq!((ids.len(), new), (1, 1));
        assert_eq!(store.jobs(all()).await.expect("jobs").len(), 1);
    }
}

#[tokio::test]
async fn a_batch_is_answered_job_by_job() {
    for (store, _place) in stores().await {
        let with_key = NewJob { task: Task::Verify { key: "d".to_owned() }, ..new_job("a") };
        let jobs =
            vec![new_job("a"), named("a", "n"), with_key, named("a", "n"), new_job("nobody"), new_job("b")];
        let ids: Vec<_> = jobs.iter().map(|job| job.id.clone()).collect();
        let answers = store.submit(jobs, LIMITS).await.expect("answers");
        let told: Vec<_> = answers
            .iter()
            .map(|answer| answer.as_ref().map(|(job, is_new)| (job.id.as_str(), *is_new)).ok())
            .collect();
        let (new, again) = ((ids[1].as_str(), true), (ids[1].as_str(), false));
        assert_eq!(
            told,
            [Some((ids[0].as_str(), true)), Some(new), None, Some(again), None, Some((&ids[5], true))]
        );
        assert!(matches!(
            (&answers[2], &answers[4]),
            (Err(StoreError::NotFound(_)), Err(StoreError::NotFound(_)))
        ));
        assert_eq!(store.jobs(all()).await.expect("jobs").len(), 3);
        assert!(store.submit(vec![], LIMITS).await.expect("answers").is_empty());
    }
}

/// Tries until the store has counted again and there is room: a count holds for a multiple of the time that it took.
async fn accepted<T>(mut attempt: impl AsyncFnMut() -> Result<T, StoreError>) -> T {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        match attempt().await {
            Ok(accepted) => return accepted,
            Err(StoreError::Full { .. } | StoreError::Stored(_)) if Instant::now() < until => {
                sleep(Duration::from_millis(50)).await;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn queues_are_bounded() {
    for (store, _place) in stores().await {
        let limits = StoreLimits { of_owner: 3, of_all: 5, ..LIMITS };
        let submit = async |job| store.submit(vec![job], limits).await.expect("answers").remove(0);
        for _ in 0..3 {
            submit(new_job("a")).await.expect("there is room");
        }
        let full = Err(StoreError::Full { waiting: 3, of: "of one token" });
        assert_eq!(submit(new_job("a")).await, full);
        // In one batch.
        let answers = store.submit((0..4).map(|_| new_job("b")).collect(), limits).await.expect("answers");
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 2);
        assert_eq!(answers[3], Err(StoreError::Full { waiting: 5, of: "of all tokens" }));
        assert_eq!(submit(new_job("c")).await, Err(StoreError::Full { waiting: 5, of: "of all tokens" }));
        // Jobs that run do not count.
        let running = claimed(&store, 10_000).await;
        let other = if running.owner == "a" { "b" } else { "a" };
        accepted(async || submit(new_job(&running.owner)).await).await;
        assert!(submit(new_job(other)).await.is_err());
        // A refused job leaves no trace, and is accepted later.
        let refused = new_job("c");
        submit(refused.clone()).await.expect_err("no room");
        assert!(matches!(store.job(refused.id.clone(), None).await, Err(StoreError::NotFound(_))));
        let queued = store.jobs(JobQuery { owner: Some("a".to_owned()), ..all() }).await.expect("jobs");
        for job in queued.iter().filter(|job| !job.progress.state.has_ended()) {
            store.cancel(job.id.clone(), None).await.expect("not ended");
        }
        accepted(async || submit(refused.clone()).await).await;
        let nothing = StoreLimits { of_owner: 0, of_all: 0, ..LIMITS };
        let answer = store.submit(vec![new_job("c")], nothing).await.expect("answers").remove(0);
        assert_eq!(answer, Err(StoreError::Full { waiting: 1, of: "of one token" }));
    }
}

#[tokio::test]
async fn stored_bytes_are_bounded() {
    for (store, _place) in stores().await {
        let limits = StoreLimits { bytes_of_owner: 100, keys_of_owner: 3, ..LIMITS };
        let submit = async |owner: &str, input_bytes| {
            let job = NewJob { input_bytes, ..job_with_inputs(owner) };
            store.submit(vec![job], limits).await.expect("answers").remove(0).map(|(job, _)| job)
        };
        let add = async |digest: &str, bytes| {
            store.add_key(KeyRecord { bytes, ..key("a", digest, None) }, limits).await
        };
        let is_refused = |problem: StoreError| matches!(problem, StoreError::Stored(_));
        let first = submit("a", 40).await.expect("there is room");
        add("d1", 50).await.expect("there is room");
        assert!(submit("a", 11).await.is_err_and(is_refused));
        assert!(add("d2", 11).await.is_err_and(is_refused));
        assert!(store.key("a".to_owned(), "d2".to_owned()).await.is_err());
        submit("a", 10).await.expect("there is room");
        // What is there already takes no more, and others have room of their own.
        add("d1", 50).await.expect("it is there");
        submit("b", 100).await.expect("there is room");
        submit("a", 0).await.expect("it takes no room");
        // Inputs take room until they are deleted.
        store.cancel(first.id.clone(), None).await.expect("it is queued");
        assert!(submit("a", 40).await.is_err_and(is_refused));
        store.inputs_deleted(first.id).await.expect("noted");
        accepted(async || submit("a", 40).await).await;
        store.remove_key("a".to_owned(), "d1".to_owned()).await.expect("it is there");
        for digest in ["d3", "d4", "d5"] {
            accepted(async || add(digest, 10).await).await;
        }
        assert!(add("d6", 1).await.is_err_and(is_refused), "the number is bounded, too");
        add("d5", 10).await.expect("it is there");
    }
}

#[tokio::test]
async fn a_job_needs_keys_of_its_owner() {
    for (store, _place) in stores().await {
        add_key(&store, key("b", "digest", Some("name"))).await.expect("added");
        let with_key = |owner: &str, key: &str| NewJob {
            task: Task::Prove { key: key.to_owned(), program: None },
            label: Some("name".to_owned()),
            ..new_job(owner)
        };
        assert!(matches!(submit(&store, with_key("a", "digest")).await, Err(StoreError::NotFound(_))));
        assert!(matches!(submit(&store, with_key("b", "a\0b")).await, Err(StoreError::NotFound(_))));
        let job = submitted(&store, with_key("b", "digest")).await;
        assert_eq!(store.job(job.id.clone(), None).await, Ok(job));
    }
}

#[tokio::test]
async fn a_job_is_stored_as_it_was_submitted() {
    for (store, _place) in stores().await {
        let new = NewJob {
            id: new_id(),
            label: Some("label 'ü\"".to_owned()),
            priority: i64::MIN,
            memory: 1 << 40,
            most_attempts: 0,
            timeout_ms: u64::MAX,
            expires_in_ms: Some(1 << 50),
            ..new_job("a")
        };
        let job = submitted(&store, new).await;
        let stored = store.job(job.id.clone(), Some("a".to_owned())).await.expect("there");
        assert_eq!((stored.priority, stored.progress.most_attempts), (i64::MIN, 1));
        // Beyond the greatest number of the database.
        assert_eq!(stored.timeout_ms, i64::MAX as u64);
        let [job, stored] =
            [job, stored].map(|job| proofmill_server::store::JobRecord { timeout_ms: 0, ..job });
        assert_eq!(stored, job);
    }
}
