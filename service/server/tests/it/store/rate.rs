//! How many jobs a second the store takes through their life.
//!
//! `cargo test --release -p proofmill-server --test store rate -- --ignored --nocapture`

use crate::store::open::{new_job, stores};
use proofmill_server::store::{ClaimOutcome, Store, StoreLimits};
use std::time::Instant;

const JOBS: usize = 1600;
const ANY: StoreLimits = StoreLimits::NONE;

async fn live(store: Store, jobs: usize, batch: usize) {
    for _ in 0..jobs / batch {
        let new = (0..batch).map(|_| new_job("a")).collect();
        for answer in store.submit(new, ANY).await.expect("answers") {
            answer.expect("accepted");
        }
        for _ in 0..batch {
            // Another client may have taken it, and left its own.
            let ClaimOutcome::Jobs(mut jobs, _) = crate::store::open::claim(&store, "w", 60_000).await else {
                continue;
            };
            let job = jobs.remove(0);
            store.report(job.id, 1, crate::store::open::finished()).await.expect("it has the job");
        }
    }
}

async fn rate(store: &Store, clients: usize, batch: usize) -> f64 {
    let began = Instant::now();
    let clients: Vec<_> =
        (0..clients).map(|_| tokio::spawn(live(store.clone(), JOBS / clients, batch))).collect();
    for client in clients {
        client.await.expect("it ends");
    }
    JOBS as f64 / began.elapsed().as_secs_f64()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "is a measurement"]
async fn rates() {
    for (store, place) in stores().await {
        let name = place.url().chars().take_while(|&character| character != ':').collect::<String>();
        for (clients, batch) in [(1, 1), (16, 1), (1, 100), (16, 100)] {
            let rate = rate(&store, clients, batch).await;
            println!("{name}: {clients} clients, batches of {batch}: {rate:.0} jobs a second");
        }
        let began = Instant::now();
        let submitters = (0..16).map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                for _ in 0..10 {
                    let jobs = (0..100).map(|_| new_job("b")).collect();
                    assert!(store.submit(jobs, ANY).await.expect("answers").iter().all(Result::is_ok));
                }
            })
        });
        for submitter in submitters.collect::<Vec<_>>() {
            submitter.await.expect("it ends");
        }
        let rate = 16_000.0 / began.elapsed().as_secs_f64();
        println!("{name}: 16 clients submit batches of 100: {rate:.0} jobs a second");
    }
}

/// The fastest of some rounds, in submissions a second: others use the machine, too.
async fn submission_rate(store: &Store, limits: StoreLimits) -> f64 {
    let mut best: f64 = 0.0;
    for _ in 0..5 {
        let began = Instant::now();
        for _ in 0..200 {
            store.submit(vec![new_job("b")], limits).await.expect("answers").remove(0).expect("accepted");
        }
        best = best.max(200.0 / began.elapsed().as_secs_f64());
    }
    best
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "is a measurement"]
async fn rates_while_many_wait() {
    for (store, place) in stores().await {
        let name = place.url().chars().take_while(|&character| character != ':').collect::<String>();
        let limits = StoreLimits { of_owner: 200_000, of_all: 200_000, ..StoreLimits::NONE };
        let mut waiting = 0;
        for most in [1_000, 10_000, 50_000] {
            while waiting < most {
                let jobs = (0..500).map(|_| new_job("b")).collect();
                assert!(store.submit(jobs, limits).await.expect("answers").iter().all(Result::is_ok));
                waiting += 500;
            }
            let rate = submission_rate(&store, limits).await;
            waiting += 1000;
            println!("{name}: 1 client submits while {most} wait: {rate:.0} jobs a second");
            // Also where the queue is full.
            let full = StoreLimits { of_owner: most, ..limits };
            let began = Instant::now();
            for _ in 0..200 {
                let refused = store.submit(vec![new_job("b")], full).await.expect("answers").remove(0);
                refused.expect_err("it is full");
            }
            let rate = 200.0 / began.elapsed().as_secs_f64();
            println!("{name}: 1 client is refused while {most} wait: {rate:.0} jobs a second");
        }
    }
}
