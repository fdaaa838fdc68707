//! Random traces of events, on the store and on the rules side by side.

use proofmill_job::{Finished, Task};
use proofmill_server::{
    state::{Contact, JobEvent, JobProgress, JobState, Refused},
    store::{
        ClaimOutcome, InputState, JobRecord, NewJob, Sqlite, Store, StoreError, StoreLimits, TokenRecord,
        Want, Worked,
    },
};
use rusqlite::{Connection, params};
use std::time::Duration;

/// The length of leases, pauses and waiting in milliseconds: none ends by itself during the test.
const LONG: u64 = 500_000;
const OWNER: &str = "owner";
const LIMITS: StoreLimits = StoreLimits::NONE;

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % bound as u64) as usize
    }
}

/// What a job should be.
#[derive(Clone, Debug, PartialEq)]
struct Expected {
    id: String,
    progress: JobProgress,
    is_paused: bool,
    inputs: InputState,
}

/// A store, and what it should hold.
struct Trace {
    store: Store,
    /// A second connection, which moves times.
    times: Connection,
    random: Random,
    /// In the order of submission. The index is in the idempotency key.
    jobs: Vec<Expected>,
}

impl Trace {
    async fn new(folder: &std::path::Path, seed: u64) -> Self {
        let file = folder.join("jobs.sqlite");
        let store = Store::new(Sqlite::open(&file).expect("a new store"));
        let token = TokenRecord {
            id: OWNER.to_owned(),
            name: OWNER.to_owned(),
            hash: "hash".to_owned(),
            scopes: "submit".to_owned(),
            created_at: 0,
            expires_at: None,
            revoked_at: None,
        };
        store.add_token(token, None).await.expect("a new token");
        let times = Connection::open(file).expect("a second connection");
        times.busy_timeout(Duration::from_secs(20)).expect("a time");
        Self { store, times, random: Random(seed), jobs: Vec::new() }
    }

    async fn step(&mut self) {
        let job = (!self.jobs.is_empty()).then(|| self.random.below(self.jobs.len()));
        match (self.random.below(16), job) {
            (0..=1, _) | (_, None) => self.submit().await,
            (2..=5, _) => self.claim().await,
            (6..=11, Some(job)) => self.report(job).await,
            (12, Some(job)) => self.change(job, JobEvent::Cancel).await,
            (13, Some(job)) => self.change(job, JobEvent::Retry).await,
            (14, _) => self.end_due().await,
            (_, Some(job)) => self.clean_or_resume(job).await,
        }
    }

    /// Submits a job, or one that was submitted before.
    async fn submit(&mut self) {
        let index = self.random.below(self.jobs.len() + 1).max(self.random.below(self.jobs.len() + 1));
        let most_attempts = 1 + self.random.below(3) as u32;
        let expires_in_ms = (self.random.below(2) == 0).then_some(LONG);
        let new = NewJob {
            id: uuid::Uuid::now_v7().simple().to_string(),
            owner: OWNER.to_owned(),
            task: Task::VerifyBls,
            label: None,
            priority: 0,
            memory: 100,
            most_attempts,
            timeout_ms: LONG,
            expires_in_ms,
            idempotency_key: Some(format!("job {index}")),
            request: "request".to_owned(),
            trace: None,
            threads: 1,
            input_bytes: 7,
            divides: false,
        };
        let (job, is_new) =
            self.store.submit(vec![new], LIMITS).await.expect("an answer").remove(0).expect("a job");
        assert_eq!(is_new, index == self.jobs.len());
        if !is_new {
            return assert_eq!(job.id, self.jobs[index].id);
        }
        assert_eq!(job.progress.expires_at.is_some(), expires_in_ms.is_some());
        let progress = JobProgress::new(most_attempts, job.progress.expires_at);
        self.jobs.push(Expected { id: job.id, progress, is_paused: false, inputs: InputState::Stored });
    }

    /// Claims the jobs that were submitted first of those that can be claimed.
    async fn claim(&mut self) {
        let began = self.now().await;
        let waits =
            |job: &Expected| job.progress.state == JobState::Queued && !job.is_paused && !is_over(job, began);
        let most = 1 + self.random.below(3);
        let waiting = self.jobs.iter().enumerate().filter(|(_, job)| waits(job)).map(|(index, _)| index);
        let first: Vec<_> = waiting.take(most).collect();
        let jobs = u32::try_from(most).expect("few");
        let want = Want {
            worker: "worker".to_owned(),
            free: 1000,
            total: 1000,
            jobs,
            lease_ms: LONG,
            ..Want::default()
        };
        let claim = self.store.claim(want).await.expect("an answer");
        let claimed = match claim {
            ClaimOutcome::Empty => vec![],
            ClaimOutcome::Jobs(jobs, _) => jobs,
            ClaimOutcome::TooLarge(_) => panic!("they are small"),
        };
        assert_eq!(claimed.len(), first.len(), "{claimed:?}");
        for (job, index) in claimed.into_iter().zip(first) {
            assert_eq!(job.id, self.jobs[index].id, "the first one waits longest");
            let lease_until = self.checked(&job, began).await;
            self.apply(index, JobEvent::Claim { lease_until }).expect("it is queued");
        }
    }

    /// Says something of a job, with its fence or another one.
    async fn report(&mut self, index: usize) {
        let Expected { id, progress: before, .. } = self.jobs[index].clone();
        let fence = (before.fence + 1).saturating_sub([1, 1, 1, 2, 0][self.random.below(5)]);
        let began = self.now().await;
        let pause_ms = self.random.below(2) as u64 * LONG;
        let (worked, event) = match self.random.below(5) {
            0 => (
                Worked::Beat { lease_ms: LONG, phase: None },
                JobEvent::Beat { fence, lease_until: began + LONG },
            ),
            1 => (
                Worked::Finished { finished: Finished::default(), outputs: Default::default() },
                JobEvent::Finish { fence },
            ),
            2 => (Worked::Failed("wrong".to_owned()), JobEvent::Fail { fence }),
            3 => (Worked::Lost { message: "lost".to_owned(), pause_ms }, JobEvent::Lose { fence }),
            _ => (Worked::Released, JobEvent::Release { fence }),
        };
        let found = self.store.report(id.clone(), fence, worked).await.map(|job| job.progress);
        let job = self.store.job(id, None).await.expect("it is there");
        let event = match event {
            JobEvent::Beat { fence, .. } if found.is_ok() => {
                JobEvent::Beat { fence, lease_until: self.checked(&job, began).await }
            }
            event => event,
        };
        let expected = match self.apply(index, event) {
            Err(Refused::State(state)) if fence > 0 && before.fence == fence && was_so(event, state) => {
                Ok(before)
            }
            Ok(after) => {
                self.jobs[index].is_paused = matches!(event, JobEvent::Lose { .. }) && pause_ms > 0;
                Ok(after)
            }
            refused => refused,
        };
        assert_eq!(found, expected.map_err(StoreError::Refused), "{event:?} on {before:?}");
    }

    /// Cancels or retries a job.
    async fn change(&mut self, index: usize, event: JobEvent) {
        let Expected { id, inputs, .. } = self.jobs[index].clone();
        let found = match event {
            JobEvent::Retry => self.store.retry(id, Some(OWNER.to_owned())).await,
            _ => self.store.cancel(id, None).await,
        };
        if event == JobEvent::Retry && inputs != InputState::Stored {
            return assert!(matches!(found, Err(StoreError::NotFound(_))));
        }
        let expected = self.apply(index, event);
        if expected.is_ok() {
            self.jobs[index].is_paused = false;
        }
        assert_eq!(found.map(|job| job.progress), expected.map_err(StoreError::Refused));
    }

    /// Has the leases and the waiting of some jobs end, by time or by a clock that has jumped back.
    async fn end_due(&mut self) {
        let now = self.now().await;
        for job in &mut self.jobs {
            let time = [now - 1, now + 3 * LONG, 0, 0][self.random.below(4)];
            let (column, place) = match job.progress.state {
                JobState::Running => ("lease_until", &mut job.progress.lease_until),
                JobState::Queued if time < now => match &mut job.progress.expires_at {
                    Some(place) => ("expires_at", place),
                    None => continue,
                },
                _ => continue,
            };
            if time > 0 {
                *place = time;
                let sql = format!("UPDATE jobs SET {column} = ?1 WHERE id = ?2");
                self.times.execute(&sql, params![time as i64, job.id]).expect("another time");
            }
        }
        let contact = Contact::default().at(0, now).at(now, now);
        let (changed, _) = self.store.end_due(LONG, contact).await.expect("an answer");
        let mut expected = Vec::new();
        for index in 0..self.jobs.len() {
            let event = match self.jobs[index].progress.state {
                JobState::Running => JobEvent::EndLease { now, longest: LONG },
                _ => JobEvent::Expire { now },
            };
            if self.apply(index, event).is_ok() {
                self.jobs[index].is_paused = false;
                expected.push(self.jobs[index].id.clone());
            }
        }
        let mut changed: Vec<_> = changed.into_iter().map(|job| job.id).collect();
        changed.sort_unstable();
        assert_eq!(changed, expected);
    }

    /// Gives up the inputs of a job and deletes them, or ends its pause.
    async fn clean_or_resume(&mut self, index: usize) {
        let sql = "UPDATE jobs SET not_before = 0 WHERE id = ?1";
        let job = &mut self.jobs[index];
        match self.random.below(3) {
            0 => {
                let may = job.progress.state.has_ended() && job.inputs != InputState::None;
                let given_up = self.store.give_up_inputs(job.id.clone()).await.expect("an answer");
                assert_eq!(given_up, may);
                if may {
                    job.inputs = InputState::Leftover;
                }
            }
            1 => {
                self.store.inputs_deleted(job.id.clone()).await.expect("an answer");
                if job.inputs == InputState::Leftover {
                    job.inputs = InputState::None;
                }
            }
            _ => {
                self.times.execute(sql, params![job.id]).expect("another time");
                job.is_paused = false;
            }
        }
    }

    /// Applies an event to what a job should be.
    fn apply(&mut self, index: usize, event: JobEvent) -> Result<JobProgress, Refused> {
        let job = &mut self.jobs[index];
        job.progress = job.progress.after(event)?;
        if !job.progress.state.needs_inputs() && job.inputs == InputState::Stored {
            job.inputs = InputState::Leftover;
        }
        Ok(job.progress)
    }

    /// The end of a lease that was given after this time, checked.
    async fn checked(&self, job: &JobRecord, began: u64) -> u64 {
        let end = job.progress.lease_until;
        let least = began + LONG;
        // A lease from before a clock jumped stays.
        assert!(end >= least && (end <= self.now().await + LONG || end > began + 2 * LONG), "{job:?}");
        end
    }

    async fn now(&self) -> u64 {
        self.store.now().await.expect("the time")
    }

    /// Compares all jobs.
    async fn compare(&self) {
        for expected in &self.jobs {
            let job = self.store.job(expected.id.clone(), None).await.expect("it is there");
            let JobRecord { id, progress, inputs, .. } = job;
            let found = Expected { id, progress, is_paused: expected.is_paused, inputs };
            assert_eq!(&found, expected);
        }
    }
}

/// Whether a job waits too long already.
fn is_over(job: &Expected, now: u64) -> bool {
    job.progress.expires_at.is_some_and(|time| time <= now)
}

/// Whether a job in this state may have had the event before.
fn was_so(event: JobEvent, state: JobState) -> bool {
    match event {
        JobEvent::Finish { .. } => state == JobState::Done,
        JobEvent::Fail { .. } => state == JobState::Failed,
        JobEvent::Lose { .. } => matches!(state, JobState::Queued | JobState::Dead),
        JobEvent::Release { .. } => state == JobState::Queued,
        _ => false,
    }
}

#[tokio::test]
async fn the_store_follows_the_rules() {
    let mut states = std::collections::BTreeMap::<JobState, u32>::new();
    for seed in 0..12 {
        let folder = tempfile::tempdir().expect("a folder");
        let mut trace = Trace::new(folder.path(), seed).await;
        for _ in 0..250 {
            trace.step().await;
            trace.compare().await;
        }
        trace.jobs.iter().for_each(|job| *states.entry(job.progress.state).or_default() += 1);
    }
    println!("{states:?}");
    assert_eq!(states.len(), JobState::ALL.len(), "every state is reached: {states:?}");
}
