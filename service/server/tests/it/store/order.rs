//! Who is served first.

use crate::store::open::{claimed, new_job, stores, submit, submitted};
use proofmill_server::store::{ClaimOutcome, NewJob, Store, Want, Worked};

async fn submit_many(store: &Store, owner: &str, number: usize) {
    for _ in 0..number {
        submit(store, new_job(owner)).await.expect("accepted");
    }
}

async fn serve(store: &Store, number: usize) -> String {
    let mut owners = String::new();
    for _ in 0..number {
        owners += &claimed(store, 10_000).await.owner;
    }
    owners
}

#[tokio::test]
async fn owners_take_turns() {
    for (store, _place) in stores().await {
        submit_many(&store, "a", 60).await;
        let alone = serve(&store, 10).await;
        assert_eq!(alone, "a".repeat(10));
        submit_many(&store, "b", 10).await;
        submit_many(&store, "c", 10).await;
        let late = serve(&store, 30).await;
        for owner in ["a", "b", "c"] {
            assert!((9..=11).contains(&late.matches(owner).count()), "{late}");
        }
        // Nobody waits for two others' two jobs in a row.
        for window in late.as_bytes().windows(6) {
            assert!(b"abc".iter().all(|owner| window.contains(owner)), "{late}");
        }
        // The next who comes does not make up for the time in which it asked for nothing.
        submit_many(&store, "c", 5).await;
        let later = serve(&store, 6).await;
        assert!((2..=4).contains(&later.matches('c').count()), "{later}");
    }
}

#[tokio::test]
async fn priorities_go_first() {
    for (store, _place) in stores().await {
        let mut expected = Vec::new();
        for (priority, owner) in [(0, "a"), (5, "a"), (-1, "b"), (5, "b"), (i64::MAX, "c")] {
            let job = submitted(&store, NewJob { priority, ..new_job(owner) }).await;
            expected.push((std::cmp::Reverse(priority), job.id));
        }
        expected.sort();
        for (_, id) in expected {
            assert_eq!(claimed(&store, 10_000).await.id, id);
        }
    }
}

#[tokio::test]
async fn jobs_of_one_owner_keep_their_order() {
    for (store, _place) in stores().await {
        let mut ids = Vec::new();
        for _ in 0..20 {
            ids.push(submitted(&store, new_job("a")).await.id);
        }
        for id in &ids {
            assert_eq!(&claimed(&store, 10_000).await.id, id);
        }
    }
}

#[tokio::test]
async fn small_jobs_do_not_keep_a_large_one_waiting() {
    for (store, _place) in stores().await {
        let claim = async |free, total| {
            let want =
                Want { worker: "w".to_owned(), free, total, jobs: 1, lease_ms: 10_000, ..Want::default() };
            store.claim(want).await.expect("a store that answers")
        };
        let large = submitted(&store, NewJob { memory: 800, ..new_job("a") }).await;
        let small = submitted(&store, NewJob { memory: 10, ..new_job("b") }).await;
        for _ in 0..3 {
            // What is taken now will be free.
            assert_eq!(claim(700, 1000).await, ClaimOutcome::TooLarge(800));
        }
        // A worker that can never take it takes the small one.
        match claim(500, 500).await {
            ClaimOutcome::Jobs(jobs, waiting) => {
                assert_eq!((jobs[0].id.as_str(), waiting), (small.id.as_str(), 1))
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(claim(500, 500).await, ClaimOutcome::Empty);
        assert_eq!(claim(0, 0).await, ClaimOutcome::Empty);
        match claim(800, 1000).await {
            ClaimOutcome::Jobs(jobs, waiting) => {
                assert_eq!((jobs[0].id.as_str(), waiting), (large.id.as_str(), 0))
            }
            other => panic!("{other:?}"),
        }
        // Given back, it is the next again.
        store.report(large.id.clone(), 1, Worked::Released).await.expect("it has the job");
        assert_eq!(claim(1, u64::MAX).await, ClaimOutcome::TooLarge(800));
    }
}

#[tokio::test]
async fn a_cluster_gets_what_it_can_divide_and_no_other_worker_has_memory_for() {
    for (store, _place) in stores().await {
        let job = |memory, divides| NewJob { memory, divides, ..new_job("a") };
        let mut ids = Vec::new();
        for new in [job(500, false), job(500, true), job(900, false), job(900, true), job(5000, true)] {
            ids.push(submitted(&store, new).await.id);
        }
        let claim = async |divides, least, total| {
            let want = Want {
                worker: "w".to_owned(),
                free: total,
                total,
                jobs: 9,
                lease_ms: 10_000,
                divides,
                least,
            };
            match store.claim(want).await.expect("a store that answers") {
                ClaimOutcome::Jobs(jobs, _) => jobs.into_iter().map(|job| job.id).collect::<Vec<_>>(),
                ClaimOutcome::TooLarge(_) => panic!("too large"),
                ClaimOutcome::Empty => Vec::new(),
            }
        };
        assert_eq!(claim(true, 501, 1000).await, ids[3..4]);
        assert_eq!(claim(true, 501, 1000).await, [""; 0]);
        assert_eq!(claim(false, 0, 500).await, ids[0..1]);
        // Without other workers, all that it can divide.
        assert_eq!(claim(true, 0, 1000).await, ids[1..2]);
        assert_eq!(claim(false, 0, 1000).await, ids[2..3]);
    }
}

#[tokio::test]
async fn a_worker_gets_as_many_jobs_as_fit() {
    for (store, _place) in stores().await {
        let mut ids = Vec::new();
        for memory in [400, 400, 400, 10] {
            ids.push(submitted(&store, NewJob { memory, ..new_job("a") }).await.id);
        }
        let claim = async |free, jobs| {
            let want =
                Want { worker: "w".to_owned(), free, total: 1000, jobs, lease_ms: 10_000, ..Want::default() };
            match store.claim(want).await.expect("a store that answers") {
                ClaimOutcome::Jobs(jobs, waiting) => {
                    (jobs.into_iter().map(|job| job.id).collect::<Vec<_>>(), waiting)
                }
                other => panic!("{other:?}"),
            }
        };
        // The small one does not go before the third.
        assert_eq!(claim(1000, 10).await, (ids[..2].to_vec(), 2));
        assert_eq!(claim(1000, 1).await, (ids[2..3].to_vec(), 1));
        assert_eq!(claim(1000, u32::MAX).await, (ids[3..].to_vec(), 0));
    }
}

#[tokio::test]
async fn each_job_is_claimed_once() {
    for (store, _place) in stores().await {
        let jobs: Vec<_> = (0..200).map(|number| new_job(["a", "b", "c"][number % 3])).collect();
        let mut ids: Vec<_> = jobs.iter().map(|job| job.id.clone()).collect();
        for answer in store.submit(jobs, crate::store::open::LIMITS).await.expect("answers") {
            answer.expect("accepted");
        }
        let tasks = (0..8).map(|worker| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut ids = Vec::new();
                let (free, total, jobs) = (u64::MAX, u64::MAX, 1 + worker % 3);
                let worker = format!("w{worker}");
                let want = Want { worker, free, total, jobs, lease_ms: 60_000, ..Want::default() };
                while let ClaimOutcome::Jobs(claimed, _) = store.claim(want.clone()).await.expect("an answer")
                {
                    assert!((1..=jobs as usize).contains(&claimed.len()), "{claimed:?}");
                    for job in claimed {
                        assert_eq!((job.progress.fence, job.progress.attempts), (1, 1));
                        ids.push(job.id);
                    }
                }
                ids
            })
        });
        let tasks: Vec<_> = tasks.collect();
        let mut claimed = Vec::new();
        for task in tasks {
            claimed.extend(task.await.expect("it ends"));
        }
        claimed.sort();
        ids.sort();
        assert_eq!(claimed, ids);
    }
}
