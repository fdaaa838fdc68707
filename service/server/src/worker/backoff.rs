//! Pauses between tries.

use crate::coordinator::Trouble;
use std::{future::Future, time::Duration};
use tokio::time::{Instant, sleep, timeout};

/// The first pause.
const FIRST: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(30);
/// How often a failure that lasts is logged.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// Pauses that double from 100 ms to 30 s.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    tries: u32,
    logged: Option<Instant>,
}

impl Backoff {
    /// The next pause: between half and all of the present length, so that workers that failed together do not return together.
    pub(super) fn next(&mut self) -> Duration {
        let pause = FIRST.saturating_mul(1 << self.tries.min(16)).min(LONGEST);
        self.tries = self.tries.saturating_add(1);
        pause.mul_f64(0.5 + 0.5 * random())
    }

    /// Whether a failure is to be logged: the first, then one a minute.
    pub(super) fn is_worth_a_line(&mut self) -> bool {
        let is_due = self.logged.is_none_or(|logged| logged.elapsed() >= LOG_EVERY);
        if is_due {
            self.logged = Some(Instant::now());
        }
        is_due
    }

    /// Notes a success; returns whether there were failures before.
    pub(super) fn reset(&mut self) -> bool {
        std::mem::take(self).tries > 0
    }
}

/// A number in `[0, 1)`, for nothing secret.
fn random() -> f64 {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0),
        Err(_) => 0.5,
    }
}

/// Calls again while the service is unavailable, until `patience` after the first failure. A call that takes longer than `each` counts
/// as a failure.
pub(super) async fn persist<T, F>(
    patience: Duration,
    each: Duration,
    mut call: impl FnMut() -> F,
) -> Result<T, Trouble>
where
    F: Future<Output = Result<T, Trouble>>,
{
    let mut backoff = Backoff::default();
    let mut failed = None;
    loop {
        let problem = match timeout(each, call()).await {
            Ok(Err(Trouble::Unavailable(problem))) => problem,
            Ok(answer) => return answer,
            Err(_) => "the service did not answer in time".to_owned(),
        };
        // Patience counts from the first failure: a long first call costs none of it.
        let first: &mut Instant = failed.get_or_insert_with(Instant::now);
        let pause = backoff.next();
        if first.elapsed() + pause >= patience {
            return Err(Trouble::Unavailable(problem));
        }
        sleep(pause).await;
    }
}
