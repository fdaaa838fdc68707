//! The states of a job and the events that change them. The stores decide by [`JobProgress::after`] alone, and the model checker explores it
//! (`tests/model`).
//!
//! ```text
//!            claim                finish
//!  queued ----------> running ------------> done
//!    ^ |  <----------    |  |     fail
//!    | |   lease ended,  |  +-------------> failed
//!    | |   lost, release |
//!    | |                 +-- lease ended or lost, attempts exhausted --> dead
//!    | +-- cancel (also from running) --> cancelled                       |
//!    | +-- expire --> expired                                             |
//!    +------------------------------ retry -------------------------------+
//! ```
//!
//! A *fence* is a number that grows with each claim of a job. A worker names the fence of its claim in everything that it says about the job;
//! what does not carry the present fence is refused. So a worker that was taken for dead and is not can neither finish, fail
//! nor prolong the job.

use serde::{Deserialize, Serialize};

/// The name of a state.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema,
)]
#[serde(rename_all = "kebab-case")]
#[schema(as = State)]
pub enum JobState {
    /// Waits for a worker.
    Queued,
    /// A worker has it, until its lease ends.
    Running,
    /// Its result is there.
    Done,
    /// It cannot be done: a wrong input. Never tried again.
    Failed,
    /// All attempts were lost. Its inputs are kept for a while, for a retry.
    Dead,
    /// Its owner cancelled it.
    Cancelled,
    /// It waited longer than its owner allowed.
    Expired,
}

impl JobState {
    /// All states.
    pub const ALL: [Self; 7] =
        [Self::Queued, Self::Running, Self::Done, Self::Failed, Self::Dead, Self::Cancelled, Self::Expired];

    /// Its name in the store and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Dead => "dead",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }

    /// The state of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether a job in this state stays in it, but for a retry.
    pub fn has_ended(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }

    /// Whether a job in this state still needs its inputs: also when it may be retried.
    pub fn needs_inputs(self) -> bool {
        matches!(self, Self::Queued | Self::Running | Self::Dead)
    }
}

/// How far a job has come, which decides the events that it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Progress)]
pub struct JobProgress {
    /// The state.
    pub state: JobState,
    /// Claims that count, since the job was submitted or retried.
    pub attempts: u32,
    /// The most attempts; at least 1.
    pub most_attempts: u32,
    /// The number of all claims.
    pub fence: u64,
    /// When the lease of a running job ends, in the database's milliseconds.
    pub lease_until: u64,
    /// When a queued job expires, if it does.
    pub expires_at: Option<u64>,
}

/// An event in the life of a job. Times are the database's milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobEvent {
    /// A worker takes the job, until `lease_until`.
    Claim {
        /// When the lease ends.
        lease_until: u64,
    },
    /// The worker with this fence is alive and prolongs its lease.
    Beat {
        /// The worker's fence.
        fence: u64,
        /// When the lease ends.
        lease_until: u64,
    },
    /// The worker has done the job.
    Finish {
        /// The worker's fence.
        fence: u64,
    },
    /// The worker found that the job cannot be done.
    Fail {
        /// The worker's fence.
        fence: u64,
    },
    /// The worker lost the attempt: its prover crashed, or was killed for time or memory.
    Lose {
        /// The worker's fence.
        fence: u64,
    },
    /// The worker gives the job back because it shuts down; the attempt does not count.
    Release {
        /// The worker's fence.
        fence: u64,
    },
    /// The lease ended: the worker is taken for dead.
    EndLease {
        /// The present time.
        now: u64,
        /// The longest lease; one that ends later than [`latest_end`] was given before a clock jumped back.
        longest: u64,
    },
    /// The owner no longer wants the job.
    Cancel,
    /// The job waited too long.
    Expire {
        /// The present time.
        now: u64,
    },
    /// The owner wants a dead job tried again.
    Retry,
}

/// Why an event is refused; the job stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refused {
    /// The event is not for a job in this state.
    #[error("the job is {}", .0.name())]
    State(JobState),
    /// Another worker has claimed the job since.
    #[error("the lease has passed to another worker")]
    Fence,
    /// It is not yet time.
    #[error("it is not yet time")]
    Early,
}

/// The latest end of a lease that is believed: twice the longest lease from now. So a step back of the clock that is shorter than a lease
/// takes no job from a worker that is alive. Nor does the clock of another server on the same SQLite file.
pub fn latest_end(now: u64, longest: u64) -> u64 {
    now.saturating_add(longest.saturating_mul(2))
}

/// Since when a server has been in touch with the store without a gap, and when it last was, in the database's milliseconds.
///
/// Workers cannot prolong leases while the store is out of reach. So a server that was out of touch, or has just started, ends no
/// lease before workers had the time of one to reach the store again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Contact {
    since: u64,
    last: u64,
}

impl Contact {
    /// The contact after a transaction at this time. A longer silence than `gap` ends the one before; so does a jump of the clock.
    #[must_use]
    pub fn at(self, now: u64, gap: u64) -> Self {
        let goes_on = (self.last..=self.last.saturating_add(gap)).contains(&now);
        Self { since: if goes_on { self.since } else { now }, last: now }
    }

    /// Whether it has lasted for this time, in milliseconds.
    pub fn lasts(self, time: u64) -> bool {
        self.last - self.since >= time
    }
}

impl JobProgress {
    /// A new job.
    pub fn new(most_attempts: u32, expires_at: Option<u64>) -> Self {
        Self { state: JobState::Queued, attempts: 0, most_attempts, fence: 0, lease_until: 0, expires_at }
    }

    /// How far the job is after the event.
    ///
    /// # Errors
    /// [`Refused`] if the job does not accept the event. A second [`JobEvent::Finish`], `Fail`, `Lose` or `Release` of one claim is
    /// refused, too: callers who may have been answered before compare the state.
    pub fn after(self, event: JobEvent) -> Result<Self, Refused> {
        match event {
            JobEvent::Claim { lease_until } => {
                self.expect(JobState::Queued)?;
                // The fence only grows, so reports of earlier claims are told apart.
                let (attempts, fence) = (self.attempts.saturating_add(1), self.fence.saturating_add(1));
                Ok(Self { state: JobState::Running, attempts, fence, lease_until, ..self })
            }
            JobEvent::Beat { fence, lease_until } => {
                self.expect_fence(fence)?;
                // A beat that arrives late must not shorten the lease.
                Ok(Self { lease_until: lease_until.max(self.lease_until), ..self })
            }
            JobEvent::Finish { fence } => {
                self.expect_fence(fence)?;
                Ok(Self { state: JobState::Done, ..self })
            }
            JobEvent::Fail { fence } => {
                self.expect_fence(fence)?;
                Ok(Self { state: JobState::Failed, ..self })
            }
            JobEvent::Lose { fence } => {
                self.expect_fence(fence)?;
                Ok(self.lost())
            }
            JobEvent::Release { fence } => {
                self.expect_fence(fence)?;
                Ok(Self { state: JobState::Queued, attempts: self.attempts.saturating_sub(1), ..self })
            }
            JobEvent::EndLease { now, longest } => {
                self.expect(JobState::Running)?;
                let lasts = now < self.lease_until && self.lease_until <= latest_end(now, longest);
                if lasts { Err(Refused::Early) } else { Ok(self.lost()) }
            }
            JobEvent::Cancel => match self.state {
                JobState::Queued | JobState::Running => Ok(Self { state: JobState::Cancelled, ..self }),
                state => Err(Refused::State(state)),
            },
            JobEvent::Expire { now } => {
                self.expect(JobState::Queued)?;
                match self.expires_at {
                    Some(time) if time <= now => Ok(Self { state: JobState::Expired, ..self }),
                    _ => Err(Refused::Early),
                }
            }
            JobEvent::Retry => {
                self.expect(JobState::Dead)?;
                Ok(Self { state: JobState::Queued, attempts: 0, expires_at: None, ..self })
            }
        }
    }

    fn lost(self) -> Self {
        let state = if self.attempts < self.most_attempts { JobState::Queued } else { JobState::Dead };
        Self { state, ..self }
    }

    fn expect(self, state: JobState) -> Result<(), Refused> {
        if self.state == state { Ok(()) } else { Err(Refused::State(self.state)) }
    }

    /// Whether a worker with this fence has the job.
    fn expect_fence(self, fence: u64) -> Result<(), Refused> {
        self.expect(JobState::Running)?;
        if self.fence == fence { Ok(()) } else { Err(Refused::Fence) }
    }
}
