//! What is listed, kept and forgotten.

use crate::store::open::{claimed, job_with_inputs, new_job, stores, submitted};
use proofmill_server::{
    state::JobState,
    store::{JobQuery, NewJob, Queue, Store, StoreError, Waiting, Worked},
};
use std::{slice, time::Duration};
use tokio::time::sleep;

async fn pages(store: &Store, owner: Option<&str>, state: Option<JobState>, limit: u32) -> Vec<String> {
    let (mut all, mut before) = (Vec::new(), None);
    loop {
        let page = JobQuery { owner: owner.map(str::to_owned), state, before, limit };
        let jobs = store.jobs(page).await.expect("jobs");
        assert!(jobs.len() <= limit as usize);
        let Some(last) = jobs.last() else { return all };
        before = Some(last.id.clone());
        all.extend(jobs.into_iter().map(|job| job.id));
    }
}

#[tokio::test]
async fn pages_have_every_job_once() {
    for (store, _place) in stores().await {
        let mut ids: Vec<(String, &str)> = Vec::new();
        for number in 0..23 {
            let owner = ["a", "a", "b"][number % 3];
            ids.insert(0, (submitted(&store, new_job(owner)).await.id, owner));
        }
        for (id, _) in ids.iter().take(4) {
            store.cancel(id.clone(), None).await.expect("it is queued");
        }
        for limit in [1, 5, 23, 1000] {
            for owner in [None, Some("a"), Some("b"), Some("c")] {
                for state in [None, Some(JobState::Queued), Some(JobState::Cancelled), Some(JobState::Dead)] {
                    let found = pages(&store, owner, state, limit).await;
                    let expected = ids.iter().enumerate().filter(|(index, (_, of))| {
                        let is = if *index < 4 { JobState::Cancelled } else { JobState::Queued };
                        owner.is_none_or(|owner| owner == *of) && state.is_none_or(|state| state == is)
                    });
                    let expected: Vec<_> = expected.map(|(_, (id, _))| id.clone()).collect();
                    assert_eq!(found, expected, "{owner:?} {state:?} {limit}");
                }
            }
        }
        assert_eq!(pages(&store, None, None, 0).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn the_queue_is_counted_by_memory() {
    for (store, _place) in stores().await {
        assert_eq!(store.queue().await, Ok(Queue::default()));
        for (memory, priority) in [(5, 0), (900, 0), (5, 0), (5, 1)] {
            submitted(&store, NewJob { memory, priority, ..new_job("a") }).await;
        }
        let job = claimed(&store, 10_000).await;
        assert_eq!(job.priority, 1);
        sleep(Duration::from_millis(20)).await;
        let Queue { waiting, running, .. } = store.queue().await.expect("a queue");
        let counts: Vec<_> = waiting.iter().map(|Waiting { memory, jobs, .. }| (*memory, *jobs)).collect();
        assert_eq!((counts, running), (vec![(5, 2), (900, 1)], 1));
        assert!(waiting.iter().all(|waiting| (20..60_000).contains(&waiting.oldest_ms)), "{waiting:?}");
        store.report(job.id, 1, crate::store::open::finished()).await.expect("it has the job");
        claimed(&store, 10_000).await;
        let Queue { ended_last_hour, done_last_hour, .. } = store.queue().await.expect("a queue");
        assert_eq!(ended_last_hour, [("done".to_owned(), 1)].into());
        assert_eq!(done_last_hour, [(job.worker.expect("its worker"), 1)].into());
    }
}

#[tokio::test]
async fn inputs_are_left_over_when_a_job_has_ended() {
    for (store, _place) in stores().await {
        let ids = async |keep_dead| {
            let jobs = store.leftovers(keep_dead).await.expect("jobs");
            let mut ids: Vec<_> = jobs.into_iter().map(|job| job.id).collect();
            ids.sort();
            ids
        };
        let without = submitted(&store, new_job("a")).await;
        let done = submitted(&store, NewJob { priority: 9, ..job_with_inputs("a") }).await;
        let dead = submitted(&store, NewJob { priority: 8, most_attempts: 1, ..job_with_inputs("a") }).await;
        let queued = submitted(&store, job_with_inputs("b")).await;
        store.cancel(without.id.clone(), None).await.expect("it is queued");
        assert_eq!(ids(0).await, Vec::<String>::new());
        claimed(&store, 10_000).await;
        store.report(done.id.clone(), 1, crate::store::open::finished()).await.expect("it has the job");
        claimed(&store, 10_000).await;
        let lost = Worked::Lost { message: "killed".to_owned(), pause_ms: 0 };
        store.report(dead.id.clone(), 1, lost).await.expect("it has the job");
        assert_eq!(ids(60_000).await, slice::from_ref(&done.id));
        assert_eq!(ids(u64::MAX).await, slice::from_ref(&done.id));
        assert_eq!(ids(0).await, [done.id.clone(), dead.id.clone()]);
        // A job is forgotten when it has ended, and nothing of it is left.
        for id in [&queued.id, &done.id] {
            store.forget(vec![id.clone()]).await.expect("nothing to do");
            store.job(id.clone(), None).await.expect("still there");
        }
        for _ in 0..2 {
            store.inputs_deleted(done.id.clone()).await.expect("also twice");
        }
        assert_eq!(ids(0).await, slice::from_ref(&dead.id));
        let ended = async |keep| {
            store.ended_before(keep).await.expect("jobs").into_iter().map(|job| job.id).collect::<Vec<_>>()
        };
        assert_eq!(ended(60_000).await, Vec::<String>::new());
        sleep(Duration::from_millis(5)).await;
        // The dead one still has its inputs.
        assert_eq!(ended(0).await, [without.id, done.id.clone()]);
        for _ in 0..2 {
            store.forget(vec![done.id.clone()]).await.expect("also twice");
        }
        assert!(matches!(store.job(done.id, None).await, Err(StoreError::NotFound(_))));
    }
}

#[tokio::test]
async fn workers_are_seen_for_a_while() {
    for (store, _place) in stores().await {
        store.see_worker("w1".to_owned(), "{\"a\":1}".to_owned()).await.expect("seen");
        store.see_worker("w2".to_owned(), "{}".to_owned()).await.expect("seen");
        // Much longer than a slow disk keeps an answer.
        sleep(Duration::from_secs(4)).await;
        store.see_worker("w2".to_owned(), "{\"b\":'\u{1f980}'}".to_owned()).await.expect("seen");
        let ids = async |within| {
            let workers = store.workers(within).await.expect("workers");
            workers.into_iter().map(|worker| worker.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(u64::MAX).await, ["w1", "w2"]);
        assert_eq!(ids(3_900).await, ["w2"]);
        let second = &store.workers(3_900).await.expect("workers")[0];
        assert_eq!(second.facts, "{\"b\":'\u{1f980}'}");
        assert!(second.seen_at >= second.started_at + 3_990);
        for _ in 0..2 {
            store.forget_worker("w1".to_owned()).await.expect("also twice");
        }
        assert_eq!(ids(u64::MAX).await, ["w2"]);
    }
}

#[tokio::test]
async fn workers_that_were_not_heard_of_for_the_longest_time_make_room() {
    for (store, _place) in stores().await {
        for number in 0..1002 {
            store.see_worker(format!("w{number}"), "{}".to_owned()).await.expect("seen");
            if number == 0 {
                // So that no other has its time.
                sleep(Duration::from_millis(5)).await;
            }
        }
        store.see_worker("w1001".to_owned(), "{\"a\":1}".to_owned()).await.expect("seen");
        let workers = store.workers(u64::MAX).await.expect("workers");
        assert_eq!(workers.len(), 1000);
        assert!(workers.iter().all(|worker| worker.id != "w0"));
        assert!(workers.iter().any(|worker| worker.id == "w1001" && worker.facts == "{\"a\":1}"));
    }
}
