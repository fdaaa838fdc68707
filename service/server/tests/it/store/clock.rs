//! Clocks that are set while servers run.

use crate::store::open::{LIMITS, claimed, end_due, new_job, submitted, token};
use proofmill_server::{
    state::{Contact, JobState},
    store::{Clock, NewJob, Sqlite, Store, Worked},
};
use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

/// A machine whose clocks the test moves. Clones are the same machine.
#[derive(Clone)]
struct Machine(Arc<Mutex<Times>>);

struct Times {
    boot: String,
    since_boot: Duration,
    time_of_day: Duration,
}

const DAY: Duration = Duration::from_secs(24 * 3600);
const MINUTE: Duration = Duration::from_secs(60);

impl Machine {
    fn new() -> Self {
        let times = Times { boot: "first".to_owned(), since_boot: MINUTE, time_of_day: 20_000 * DAY };
        Self(Arc::new(Mutex::new(times)))
    }

    fn pass(&self, time: Duration) {
        let mut times = self.0.lock().expect("no panic");
        times.since_boot += time;
        times.time_of_day += time;
    }

    fn set(&self, forwards: Duration, back: Duration) {
        let mut times = self.0.lock().expect("no panic");
        times.time_of_day = times.time_of_day + forwards - back;
    }

    fn start_again(&self) {
        let mut times = self.0.lock().expect("no panic");
        times.boot += " again";
        times.since_boot = Duration::from_secs(5);
        times.time_of_day += MINUTE;
    }

    fn open(&self, folder: &Path) -> Store {
        let file = folder.join("jobs.sqlite");
        Store::new(Sqlite::open_with(&file, Arc::new(self.clone())).expect("a store"))
    }
}

impl Clock for Machine {
    fn boot(&self) -> String {
        self.0.lock().expect("no panic").boot.clone()
    }

    fn since_boot(&self) -> Duration {
        self.0.lock().expect("no panic").since_boot
    }

    fn time_of_day(&self) -> Duration {
        self.0.lock().expect("no panic").time_of_day
    }
}

const LEASE: u64 = 15_000;

#[tokio::test]
async fn servers_that_start_before_and_after_the_clock_was_set_agree() {
    for (forwards, back) in [(DAY, Duration::ZERO), (Duration::ZERO, DAY)] {
        let folder = tempfile::tempdir().expect("a folder");
        let machine = Machine::new();
        let first = machine.open(folder.path());
        first.add_token(token("a"), None).await.expect("a new token");
        submitted(&first, NewJob { expires_in_ms: Some(60_000), ..new_job("a") }).await;
        submitted(&first, NewJob { priority: 1, ..new_job("a") }).await;
        let paused = submitted(&first, NewJob { priority: 9, ..new_job("a") }).await;
        claimed(&first, LEASE).await;
        let lost = Worked::Lost { message: "killed".to_owned(), pause_ms: 60_000 };
        first.report(paused.id, 1, lost).await.expect("it has the job");
        let job = claimed(&first, LEASE).await;
        machine.set(forwards, back);
        assert_eq!(end_due(&first, LEASE).await, []);
        let second = machine.open(folder.path());
        for store in [&first, &second, &first] {
            assert_eq!(end_due(store, LEASE).await, [], "no lease is over, and nothing has expired");
            assert_eq!(
                store.now().await.expect("time"),
                u64::try_from(machine.time_of_day().as_millis()).expect("a time")
            );
        }
        // The one whose pause is not over waits, the other is claimed.
        assert!(claimed(&second, LEASE).await.progress.expires_at.is_some());
        assert_eq!(
            crate::store::open::claim(&second, "w", LEASE).await,
            proofmill_server::store::ClaimOutcome::Empty
        );
        let beat = Worked::Beat { lease_ms: LEASE, phase: None };
        second.report(job.id.clone(), 1, beat).await.expect("it has the job");
        machine.pass(Duration::from_millis(LEASE - 1));
        assert_eq!(end_due(&first, LEASE).await, []);
        machine.pass(Duration::from_millis(1));
        assert_eq!(end_due(&second, LEASE).await.len(), 2);
        machine.pass(MINUTE);
        claimed(&first, LEASE).await;
    }
}

#[tokio::test]
async fn leases_of_a_machine_that_was_started_again_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let machine = Machine::new();
    let store = machine.open(folder.path());
    store.add_token(token("a"), None).await.expect("a new token");
    submitted(&store, new_job("a")).await;
    let job = claimed(&store, LEASE).await;
    drop(store);
    machine.set(Duration::ZERO, DAY);
    machine.start_again();
    let store = machine.open(folder.path());
    let ended = end_due(&store, LEASE).await;
    assert_eq!(ended.into_iter().map(|job| job.id).collect::<Vec<_>>(), [job.id]);
}

#[tokio::test]
async fn no_lease_ends_before_workers_could_prolong_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let machine = Machine::new();
    let store = machine.open(folder.path());
    store.add_token(token("a"), None).await.expect("a new token");
    let job = store.submit(vec![new_job("a")], LIMITS).await.expect("answers").remove(0).expect("accepted").0;
    claimed(&store, LEASE).await;
    let look = async |contact| {
        let (ended, contact) = store.end_due(LEASE, contact).await.expect("a store that answers");
        (ended.len(), contact)
    };
    // A server that has just started, or could not reach the store for a minute.
    let mut contact = Contact::default();
    for _ in 0..2 {
        machine.pass(MINUTE);
        let mut ended;
        for _ in 0..5 {
            (ended, contact) = look(contact).await;
            assert_eq!(ended, 0);
            machine.pass(Duration::from_secs(2));
        }
    }
    let beat = Worked::Beat { lease_ms: LEASE, phase: None };
    store.report(job.id.clone(), 1, beat).await.expect("nobody else has the job");
    // The worker is not heard of any more.
    let mut looks = 0;
    while look_ended(&store, &mut contact).await == 0 {
        looks += 1;
        machine.pass(Duration::from_secs(1));
    }
    assert_eq!(looks, LEASE / 1000);
    let job = store.job(job.id, None).await.expect("it is there");
    assert_eq!((job.progress.state, job.progress.attempts), (JobState::Queued, 1));
}

async fn look_ended(store: &Store, contact: &mut Contact) -> usize {
    let (ended, now) = store.end_due(LEASE, *contact).await.expect("a store that answers");
    *contact = now;
    ended.len()
}

#[tokio::test]
async fn a_far_end_does_not_stop_the_queue_when_the_clock_is_set() {
    let (machine, folder) = (Machine::new(), tempfile::tempdir().expect("a folder"));
    let store = machine.open(folder.path());
    for name in ["a", "b"] {
        store.add_token(token(name), None).await.expect("a new token");
    }
    let far = submitted(&store, NewJob { expires_in_ms: Some(u64::MAX), ..new_job("a") }).await;
    let other = submitted(&store, new_job("b")).await;
    drop(store);
    machine.set(MINUTE, Duration::ZERO);
    let store = machine.open(folder.path());
    let mut claimed_ids = [claimed(&store, 10_000).await.id, claimed(&store, 10_000).await.id];
    claimed_ids.sort();
    let mut expected = [far.id, other.id];
    expected.sort();
    assert_eq!(claimed_ids, expected);
}
