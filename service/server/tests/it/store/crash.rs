//! Processes that are killed while they write.

use crate::store::open::{LIMITS, new_job, token};
use futures::future::join_all;
use proofmill_server::store::{JobQuery, Store, StoreError, StoreLimits};
use std::{
    collections::HashSet,
    env,
    io::{BufRead, BufReader, Write, stdout},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const ROUNDS: usize = 8;
const STORE: &str = "PROOFMILL_TEST_CRASH_STORE";

/// Not a test: the process that is killed. It submits jobs, and prints the ids of those that were accepted.
#[tokio::test]
#[ignore = "is the child of another test"]
async fn submitting_process() {
    let store = Store::open(&env::var(STORE).expect("a store")).expect("it opens");
    let limits = StoreLimits::NONE;
    let submitters = (0..6).map(|number: usize| {
        let store = store.clone();
        tokio::spawn(async move {
            loop {
                let jobs = (0..1 + number % 3).map(|_| new_job("a")).collect();
                for answer in store.submit(jobs, limits).await.expect("answers") {
                    let (job, _) = answer.expect("accepted");
                    // One write, so that no line is printed in part.
                    stdout()
                        .write_all(format!("accepted {}\n", job.id).as_bytes())
                        .expect("the parent reads");
                }
            }
        })
    });
    // Until it is killed.
    join_all(submitters).await;
}

/// Starts the process, reads what it prints for a while, kills it, and reads the rest.
fn run_and_kill(store: &str, time: Duration) -> Vec<String> {
    let mut child = Command::new(env::current_exe().expect("this program"))
        .args(["--exact", "store::crash::submitting_process", "--ignored", "--nocapture"])
        .env(STORE, store)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let id =
        |line: &str| line.split_once("accepted ").map(|(_, id)| id.to_owned()).filter(|id| id.len() == 32);
    let mut ids = Vec::new();
    // It is killed so long after its first job.
    while ids.is_empty() {
        ids.extend(id(&lines.next().expect("it accepts jobs").expect("a line")));
    }
    let end = Instant::now() + time;
    while Instant::now() < end {
        ids.extend(lines.next().and_then(|line| id(&line.expect("a line"))));
    }
    // SIGKILL.
    child.kill().expect("it runs");
    child.wait().expect("it has ended");
    ids.extend(lines.map_while(Result::ok).filter_map(|line| id(&line)));
    ids
}

#[tokio::test]
async fn accepted_jobs_outlive_a_killed_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = format!("sqlite:{}", folder.path().join("jobs.sqlite").display());
    let mut places = vec![place];
    places.extend(crate::store::open::new_schema().await);
    for place in places {
        Store::open(&place).expect("a new store").add_token(token("a"), None).await.expect("a new token");
        let mut accepted = Vec::new();
        for round in 0..ROUNDS {
            let (run, time) = (place.clone(), Duration::from_millis(20 + 37 * round as u64));
            accepted.extend(
                tokio::task::spawn_blocking(move || run_and_kill(&run, time)).await.expect("it ends"),
            );
            let store = Store::open(&place).expect("the store is whole");
            let (mut stored, mut before) = (HashSet::new(), None);
            loop {
                let page = JobQuery { owner: None, state: None, before, limit: 1000 };
                let jobs = store.jobs(page).await.expect("jobs");
                let Some(last) = jobs.last() else { break };
                before = Some(last.id.clone());
                stored.extend(jobs.into_iter().map(|job| job.id));
            }
            let lost: Vec<_> = accepted.iter().filter(|id| !stored.contains(*id)).collect();
            assert!(lost.is_empty(), "{} of {} accepted jobs are lost", lost.len(), accepted.len());
        }
        assert!(accepted.len() > ROUNDS);
        // It still works.
        let store = Store::open(&place).expect("the store is whole");
        let limits = StoreLimits { of_owner: u64::MAX, ..LIMITS };
        match store.submit(vec![new_job("a")], limits).await.expect("answers").remove(0) {
            Ok(_) | Err(StoreError::Full { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}
