use crate::place::{Place, until};
use proofmill_job::Output;
use proofmill_server::{state::State, worker::Policy};
use serde_json::json;
use std::{collections::HashSet, time::Duration};

const LEASE: Duration = Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_jobs_on_four_slots() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "ok"})).await;
    let mut worker = place.work(place.options());
    let mut jobs = Vec::new();
    for index in 0..200 {
        jobs.push(place.submit(&key, &format!("witness-{index}")).await);
    }
    for (index, id) in jobs.iter().enumerate() {
        let job = place.ended(id).await;
        assert_eq!((job.progress.state, job.progress.attempts), (State::Done, 1), "{job:?}");
        let finished = job.finished.expect("how it was done");
        assert_eq!((finished.phases[0].name.as_str(), finished.peak_memory), ("first", Some(1000)));
        assert_eq!(place.output(id, Output::Proof).await, format!("[\"proof\", \"witness-{index}\"]"));
        assert_eq!(place.output(id, Output::Public).await, format!("[\"public\", \"witness-{index}\"]"));
    }
    worker.end().await;
    let (mut running, mut most, mut provers) = (0_i32, 0, HashSet::new());
    for line in place.log() {
        running += if line[0] == "begin" { 1 } else { -1 };
        most = most.max(running);
        provers.insert(line[1].clone());
    }
    assert!((2..=4).contains(&most) && provers.len() <= 4, "{most} {provers:?}");
    assert_eq!(place.logged("begin").len(), 200);
    assert_eq!(place.staged(), [""; 0]);
    assert_eq!(place.service.workers().await.expect("a service"), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn latency_gives_all_threads_to_one_job() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "ok", "seconds": 0.05})).await;
    let mut jobs = Vec::new();
    for index in 0..5 {
        jobs.push(place.submit(&key, &index.to_string()).await);
    }
    let mut worker =
        place.work(proofmill_server::worker::Options { policy: Policy::Latency, ..place.options() });
    for id in &jobs {
        assert_eq!(place.ended(id).await.progress.state, State::Done);
    }
    worker.end().await;
    let words: Vec<_> = place.log().into_iter().map(|line| line[0].clone()).collect();
    assert_eq!(words, ["begin", "end"].repeat(5));
    assert!(place.logged("begin").iter().all(|line| line[2] == "4"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn auto_divides_the_threads_among_those_that_wait() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "ok", "seconds": 0.3})).await;
    let mut jobs = Vec::new();
    for index in 0..2 {
        jobs.push(place.submit(&key, &index.to_string()).await);
    }
    let mut worker =
        place.work(proofmill_server::worker::Options { policy: Policy::Auto, ..place.options() });
    for id in &jobs {
        place.ended(id).await;
    }
    let last = place.submit(&key, "alone").await;
    place.ended(&last).await;
    worker.end().await;
    let threads: Vec<_> = place.logged("begin").into_iter().map(|line| line[2].clone()).collect();
    assert_eq!(threads, ["2", "2", "4"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_admits_jobs() {
    let place = Place::new(LEASE).await;
    let large = place.key(json!({"do": "ok", "seconds": 0.1, "memory": 600 << 20})).await;
    let mut jobs = Vec::new();
    for index in 0..4 {
        jobs.push(place.submit(&large, &index.to_string()).await);
    }
    let mut worker = place.work(place.options());
    for id in &jobs {
        assert_eq!(place.ended(id).await.progress.state, State::Done);
    }
    worker.end().await;
    // Two of them do not fit side by side.
    let words: Vec<_> = place.log().into_iter().map(|line| line[0].clone()).collect();
    assert_eq!(words, ["begin", "end"].repeat(4));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_returns_to_the_prover_that_has_it() {
    let place = Place::new(LEASE).await;
    let keys = [
        place.key(json!({"do": "ok", "seconds": 0.2})).await,
        place.key(json!({"do": "ok", "seconds": 0.3})).await,
    ];
    let mut worker = place.work(place.options());
    for round in 0..4 {
        let mut jobs = Vec::new();
        // Both at once, so that there are two provers; the second round in the other order.
        for index in 0..2 {
            let key = &keys[(index + round) % 2];
            jobs.push(place.submit(key, &format!("{round}-{index}")).await);
        }
        for id in &jobs {
            place.ended(id).await;
        }
    }
    worker.end().await;
    let used: HashSet<_> =
        place.logged("begin").into_iter().map(|line| (line[1].clone(), line[3].clone())).collect();
    assert_eq!(used.len(), 2, "{used:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn phases_are_reported_while_they_last() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "ok", "seconds": 0.6})).await;
    let mut worker = place.work(place.options());
    let id = place.submit(&key, "w").await;
    let job = place.when(&id, |job| job.phase.is_some() || job.progress.state.has_ended()).await;
    assert_eq!((job.progress.state, job.phase.as_deref()), (State::Running, Some("first")));
    place.ended(&id).await;
    worker.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_knows_its_workers() {
    let place = Place::new(Duration::from_secs(1)).await;
    let key = place.key(json!({"do": "ok", "seconds": 1.5})).await;
    let options = place.options();
    let mut worker = place.work(options.clone());
    let id = place.submit(&key, "w").await;
    let facts = loop {
        let workers = place.service.workers().await.expect("a service");
        let facts = workers.into_iter().next().map(|(worker, facts)| {
            assert_eq!(worker.id, options.id);
            facts
        });
        match facts {
            Some(facts) if facts.jobs == [id.as_str()] => break facts,
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    assert_eq!((facts.threads, facts.most_jobs, facts.memory), (4, 4, 1 << 30));
    assert_eq!((facts.level.as_str(), facts.cpu.as_str()), ("none", "a test"));
    assert_eq!((facts.dollars_per_hour, facts.draining), (Some(2.5), false));
    assert!(!facts.host.is_empty());
    worker.drain();
    until("the worker says that it drains", || !place.logged("end").is_empty()).await;
    worker.end().await;
}
