//! Keeps the lease of a job.

use crate::{
    coordinator::{Coordinator, Trouble},
    store::Worked,
    time::milliseconds,
};
use std::time::Duration;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until, timeout_at},
};

use super::backoff::Backoff;

/// The number of leases for which a worker goes on that cannot reach the service. If the store was out of reach for all, nobody else has
/// got the job meanwhile, and the worker keeps it.
const OUTAGE: u32 = 10;
/// The least time between two reports of one job.
const LEAST: Duration = Duration::from_millis(250);

/// A lease of a job.
pub(super) struct Lease<'a> {
    pub(super) coordinator: &'a dyn Coordinator,
    pub(super) job: &'a str,
    pub(super) fence: u64,
    /// How long it lasts without a report.
    pub(super) length: Duration,
    /// When the job arrived.
    pub(super) claimed: Instant,
}

/// Why the worker no longer has the job.
#[derive(Debug)]
pub(super) enum LeaseEnd {
    /// The service said so.
    Lost(String),
    /// The service does not accept the worker.
    Denied(String),
    /// The service could not be reached for many leases.
    Over,
}

impl Lease<'_> {
    /// Prolongs the lease, and reports phases, until the worker no longer has the job.
    pub(super) async fn keep(&self, mut phases: watch::Receiver<Option<String>>) -> LeaseEnd {
        // When the service gave the lease is not known exactly; an answer on its way is the only difference.
        let outage = OUTAGE * self.length;
        let (mut last, mut until) = (self.claimed, self.claimed + outage);
        let third = self.length / 3;
        loop {
            let changed = async {
                // The sender lives as long as the attempt.
                if phases.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
                sleep_until(last + LEAST).await;
            };
            tokio::select! {
                () = sleep_until(last + third) => {}
                () = changed => {}
            }
            let phase = phases.borrow_and_update().clone();
            match self.beat(phase, until).await {
                // Counted from the request: the service granted the lease at that moment or later.
                Ok(sent) => (last, until) = (sent, sent + outage),
                Err(end) => return end,
            }
        }
    }

    /// Prolongs the lease, and tries that until `until`; returns when the request that succeeded was sent.
    async fn beat(&self, phase: Option<String>, until: Instant) -> Result<Instant, LeaseEnd> {
        let lease_ms = milliseconds(self.length);
        let mut backoff = Backoff::default();
        loop {
            let sent = Instant::now();
            if sent >= until {
                return Err(LeaseEnd::Over);
            }
            let beat = Worked::Beat { lease_ms, phase: phase.clone() };
            let call = self.coordinator.report(self.job, self.fence, beat);
            // A lost request must not cost the lease: another one follows after a third of it.
            let problem = match timeout_at(until.min(sent + self.length / 3), call).await {
                Ok(Ok(())) => return Ok(sent),
                Ok(Err(Trouble::Lost(message))) => return Err(LeaseEnd::Lost(message)),
                Ok(Err(Trouble::Denied(message))) => return Err(LeaseEnd::Denied(message)),
                Ok(Err(Trouble::Unavailable(problem) | Trouble::Refused(problem))) => problem,
                Err(_) => "no answer".to_owned(),
            };
            if backoff.is_worth_a_line() {
                tracing::warn!(problem, "cannot prolong the lease, trying again");
            }
            sleep_until(until.min(Instant::now() + backoff.next().min(self.length / 6))).await;
        }
    }
}
