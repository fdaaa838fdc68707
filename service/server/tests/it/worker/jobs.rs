use crate::worker::{
    faulty::Faulty,
    place::{Place, until},
};
use proofmill_job::TaskOutput;
use proofmill_server::{
    coordinator::WorkerFacts,
    state::JobState,
    worker::{MachineMemory, Policy, WorkerOptions},
};
use serde_json::json;
use std::{
    collections::HashSet,
    fs,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

const LEASE: Duration = Duration::from_secs(3);

/// The beginnings and ends of tasks in the log.
fn words(place: &Place) -> Vec<String> {
    let words = place.log().into_iter().map(|line| line[0].clone());
    words.filter(|word| word != "start").collect()
}

/// The threads of each task in the log.
fn threads(place: &Place) -> Vec<String> {
    place.logged("begin").into_iter().map(|line| line[2].clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_jobs_on_four_slots() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "ok", "seconds": 0.01})).await;
    let mut worker = place.work(place.options());
    let mut jobs = Vec::new();
    for index in 0..200 {
        jobs.push(place.submit(&key, &format!("witness-{index}")).await);
    }
    for (index, id) in jobs.iter().enumerate() {
        let job = place.ended(id).await;
        assert_eq!((job.progress.state, job.progress.attempts), (JobState::Done, 1), "{job:?}");
        let finished = job.finished.expect("how it was done");
        assert_eq!((finished.phases[0].name.as_str(), finished.peak_memory), ("first", Some(1000)));
        assert_eq!(place.output(id, TaskOutput::Proof).await, format!("[\"proof\", \"witness-{index}\"]"));
        assert_eq!(place.output(id, TaskOutput::Public).await, format!("[\"public\", \"witness-{index}\"]"));
    }
    worker.end().await;
    let (mut running, mut most, mut provers) = (0_i32, 0, HashSet::new());
    for line in place.log().into_iter().filter(|line| line[0] != "start") {
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
    let mut worker = place.work(WorkerOptions { policy: Policy::Latency, ..place.options() });
    for id in &jobs {
        assert_eq!(place.ended(id).await.progress.state, JobState::Done);
    }
    worker.end().await;
    assert_eq!(words(&place), ["begin", "end"].repeat(5));
    assert!(place.logged("begin").iter().all(|line| line[2] == "4"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_job_is_proved_while_outputs_are_stored() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "ok", "pad": 20_000})).await;
    let faulty = Arc::new(Faulty::new(place.service.clone()));
    faulty.is_full.store(true, Ordering::Relaxed);
    let mut jobs = Vec::new();
    for index in 0..4 {
        jobs.push(place.submit(&key, &index.to_string()).await);
    }
    let mut worker =
        place.work_with(faulty.clone(), WorkerOptions { policy: Policy::Latency, ..place.options() });
    until("the second is proved", || place.logged("end").len() == 2).await;
    // Not more of them: who knows when the service takes any.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(words(&place), ["begin", "end"].repeat(2));
    faulty.is_full.store(false, Ordering::Relaxed);
    for id in &jobs {
        assert_eq!(place.ended(id).await.progress.state, JobState::Done);
    }
    worker.end().await;
    assert_eq!(words(&place), ["begin", "end"].repeat(4));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn auto_divides_the_threads_among_those_that_wait() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "ok", "seconds": 0.3})).await;
    let mut jobs = Vec::new();
    for index in 0..2 {
        jobs.push(place.submit(&key, &index.to_string()).await);
    }
    let mut worker = place.work(WorkerOptions { policy: Policy::Auto, ..place.options() });
    for id in &jobs {
        place.ended(id).await;
    }
    let last = place.submit(&key, "alone").await;
    place.ended(&last).await;
    worker.end().await;
    assert_eq!(threads(&place), ["2", "2", "4"]);
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
        assert_eq!(place.ended(id).await.progress.state, JobState::Done);
    }
    worker.end().await;
    // Two of them do not fit side by side.
    assert_eq!(words(&place), ["begin", "end"].repeat(4));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_fits_on_no_worker_says_so() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "ok", "memory": 3_u64 << 30})).await;
    let large = place.submit(&key, "large").await;
    let view = async || {
        let job = place.service.job(&place.identity, &large).await.expect("it is there");
        place.service.view(job).await.expect("a service")
    };
    assert_eq!(view().await.obstacle, None, "a worker may come");
    let mut worker = place.work(place.options());
    let small = place.submit(&place.key(json!({"do": "ok"})).await, "small").await;
    assert_eq!(place.ended(&small).await.progress.state, JobState::Done, "it passes the large one");
    let obstacle = "needs 3.0 GiB of memory, the largest worker has 1.0 GiB";
    assert_eq!(view().await.obstacle.as_deref(), Some(obstacle));
    let queue = place.service.queue().await.expect("a service");
    assert_eq!((queue.largest_worker, queue.too_large), (Some(1 << 30), 1));
    worker.end().await;
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
    assert_eq!((job.progress.state, job.phase.as_deref()), (JobState::Running, Some("first")));
    place.ended(&id).await;
    worker.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_knows_its_workers() {
    let place = Place::new(Duration::from_secs(1)).await;
    let key = place.key(json!({"do": "ok", "seconds": 3})).await;
    let options = place.options();
    let mut worker = place.work(options.clone());
    let id = place.submit(&key, "w").await;
    let facts = known_worker(&place, &options.id, |facts| facts.jobs == [id.as_str()]).await;
    assert_eq!((facts.threads, facts.most_jobs, facts.memory), (4, 4, 1 << 30));
    assert_eq!((facts.level.as_str(), facts.cpu.as_str()), ("none", "a test"));
    assert_eq!((facts.dollars_per_hour, facts.draining), (Some(2.5), false));
    assert!(!facts.host.is_empty());
    worker.drain();
    let facts = known_worker(&place, &options.id, |facts| facts.draining).await;
    assert_eq!(facts.jobs, [id.as_str()], "it says so while the job runs");
    worker.end().await;
}

/// What the service knows of its only worker, once this holds of it.
async fn known_worker(place: &Place, id: &str, holds: impl Fn(&WorkerFacts) -> bool) -> WorkerFacts {
    let wait = async {
        loop {
            match place.service.workers().await.expect("a service").into_iter().next() {
                Some((worker, facts)) if holds(&facts) => {
                    assert_eq!(worker.id, id);
                    return facts;
                }
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), wait).await.expect("the worker says so")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn auto_gives_no_threads_to_jobs_that_do_not_fit() {
    let place = Place::new(LEASE).await;
    let key = place.key(json!({"do": "ok", "seconds": 0.1, "memory": 600 << 20})).await;
    let mut jobs = Vec::new();
    for index in 0..3 {
        jobs.push(place.submit(&key, &index.to_string()).await);
    }
    let mut worker = place.work(WorkerOptions { policy: Policy::Auto, ..place.options() });
    for id in &jobs {
        place.ended(id).await;
    }
    worker.end().await;
    assert_eq!(threads(&place), ["4", "4", "4"]);
}

/// A machine whose other processes leave so much memory.
fn leave(place: &Place, mebibytes: u64) -> MachineMemory {
    let (proc, kibibytes) = (place.folder.join("proc"), mebibytes << 10);
    fs::create_dir_all(&proc).expect("a folder");
    let text = format!("MemTotal: 1048576 kB\nMemAvailable: {kibibytes} kB\n");
    // In one step: the worker reads it at any time.
    fs::write(proc.join("new"), text).expect("written");
    fs::rename(proc.join("new"), proc.join("meminfo")).expect("renamed");
    MachineMemory::at(&proc, &place.folder.join("no-groups"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_of_other_processes_keeps_jobs_waiting() {
    let place = Place::new(LEASE).await;
    let large = place.key(json!({"do": "ok", "memory": 600 << 20})).await;
    let small = place.key(json!({"do": "ok", "seconds": 0.1, "memory": 200 << 20})).await;
    let mut worker = place.work(WorkerOptions { machine: leave(&place, 400), ..place.options() });
    let waiting = place.submit(&large, "large").await;
    let mut jobs = Vec::new();
    for index in 0..3 {
        jobs.push(place.submit(&small, &index.to_string()).await);
    }
    for id in &jobs {
        assert_eq!(place.ended(id).await.progress.state, JobState::Done);
    }
    // One at a time: 32 of the 400 MiB stay free.
    assert_eq!(words(&place), ["begin", "end"].repeat(3));
    assert_eq!(place.when(&waiting, |_| true).await.progress.state, JobState::Queued);
    leave(&place, 700);
    assert_eq!(place.ended(&waiting).await.progress.state, JobState::Done);
    worker.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_warm_provers_keep_counts() {
    let place = Place::new(LEASE).await;
    let keeping = place.key(json!({"do": "keep", "mebibytes": 300, "memory": 400 << 20})).await;
    let mut worker = place.work(WorkerOptions { threads: Some(1), ..place.options() });
    let mut provers = Vec::new();
    // Beside what is kept, 750 MiB fit into the GiB, and 900 do not.
    for memory in [700, 900] {
        place.ended(&place.submit(&keeping, "kept").await).await;
        provers.push(place.process("begin"));
        let large = place.key(json!({"do": "ok", "memory": memory << 20})).await;
        assert_eq!(place.ended(&place.submit(&large, "large").await).await.progress.state, JobState::Done);
        provers.push(place.process("begin"));
    }
    worker.end().await;
    assert!(provers[0] == provers[1] && provers[1] == provers[2] && provers[2] != provers[3], "{provers:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn provers_share_the_memory_for_open_keys() {
    for (policy, slots) in [(Policy::Latency, 1), (Policy::Throughput, 4)] {
        let place = Place::new(LEASE).await;
        let mut worker = place.work(WorkerOptions { policy, ..place.options() });
        until("a prover starts", || !place.logged("start").is_empty()).await;
        worker.end().await;
        let bytes = ((1_u64 << 30) / 8 / slots).to_string();
        assert_eq!(place.logged("start")[0][2..], ["prover", "--key-memory", &bytes]);
    }
}
