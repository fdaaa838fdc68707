//! The rules of the service, and wrong ones that the checker has to find out.

use proofmill_server::state::{JobEvent, JobProgress, JobState, Refused};

/// What is wrong with the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// A claim leaves the fence as it was.
    SameFence,
    /// A result is accepted from any worker that ever had the job.
    FinishOfAnyFence,
    /// A lost attempt is accepted from any worker that ever had the job.
    LoseOfAnyFence,
    /// A lease is prolonged by any worker that ever had the job.
    BeatOfAnyFence,
    /// Attempts count when a worker loses them.
    AttemptsCountLate,
    /// A second result of the same claim is accepted.
    FinishTwice,
    /// A job that has ended can be cancelled.
    CancelOfEnded,
    /// A lease ends before its time.
    LeaseEndsEarly,
    /// A lease ends at its time only, however far the clock has jumped back.
    LeaseOutlivesJump,
    /// A lease ends as soon as the store can be reached again.
    LeaseEndsWithOutage,
    /// A worker says that it is done before its outputs are stored.
    OutputsAfterResult,
    /// Outputs have one place for all claims.
    OutputsWithoutFence,
    /// A job is acknowledged before it is committed.
    AnswerBeforeCommit,
    /// Idempotency keys are not looked at.
    NoIdempotency,
    /// The inputs of a job that was dead a moment ago are deleted.
    InputsDeletedUnasked,
    /// A job is retried while its inputs are being deleted.
    RetryWithoutInputs,
}

/// The rules.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    /// What is wrong with them.
    pub(crate) flaw: Option<Flaw>,
}

impl Rules {
    /// Whether this is wrong with them.
    pub(crate) fn have(self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }

    /// How far a job is after an event.
    pub(crate) fn after(self, before: JobProgress, event: JobEvent) -> Result<JobProgress, Refused> {
        let present = before.fence;
        let Some(flaw) = self.flaw else { return before.after(event) };
        match (flaw, event) {
            (Flaw::SameFence, JobEvent::Claim { .. }) => {
                before.after(event).map(|after| JobProgress { fence: present.max(1), ..after })
            }
            (Flaw::FinishOfAnyFence, JobEvent::Finish { .. }) => {
                before.after(JobEvent::Finish { fence: present })
            }
            (Flaw::LoseOfAnyFence, JobEvent::Lose { .. }) => before.after(JobEvent::Lose { fence: present }),
            (Flaw::BeatOfAnyFence, JobEvent::Beat { lease_until, .. }) => {
                before.after(JobEvent::Beat { fence: present, lease_until })
            }
            (Flaw::AttemptsCountLate, JobEvent::Claim { .. } | JobEvent::Release { .. }) => {
                before.after(event).map(|after| JobProgress { attempts: before.attempts, ..after })
            }
            (Flaw::AttemptsCountLate, JobEvent::Lose { .. }) => {
                JobProgress { attempts: before.attempts + 1, ..before }.after(event)
            }
            (Flaw::FinishTwice, JobEvent::Finish { fence }) if before.state == JobState::Done => {
                JobProgress { state: JobState::Running, ..before }.after(JobEvent::Finish { fence })
            }
            (Flaw::CancelOfEnded, JobEvent::Cancel) => {
                Ok(JobProgress { state: JobState::Cancelled, ..before })
            }
            (Flaw::LeaseEndsEarly, JobEvent::EndLease { now, longest }) => {
                before.after(JobEvent::EndLease { now: now + 1, longest })
            }
            (Flaw::LeaseOutlivesJump, JobEvent::EndLease { now, .. }) => {
                before.after(JobEvent::EndLease { now, longest: u64::MAX })
            }
            _ => before.after(event),
        }
    }
}
