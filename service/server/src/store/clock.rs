//! The clock of an SQLite database.
//!
//! All servers on the machine share it, and nobody can set it. It is the date of the machine's start, which the database keeps, plus the
//! time since that start. A server that opens the database after the machine's clock was set moves the date, and the ends of leases with
//! it.

use super::{SqlValue, StoreError, Transaction};
use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// The least difference that shows that the machine's clock was set, in milliseconds.
const SET: u64 = 1000;

/// The clocks of a machine.
pub trait Clock: Send + Sync {
    /// The name of this start of the machine.
    fn boot(&self) -> String;

    /// How long ago it was started, by a clock that nobody sets.
    fn since_boot(&self) -> Duration;

    /// The time since 1970, by the clock that people set.
    fn time_of_day(&self) -> Duration;
}

/// The clocks of this machine.
pub(super) struct MachineClock {
    boot: String,
    #[cfg(not(target_os = "linux"))]
    opened: std::time::Instant,
}

#[cfg(target_os = "linux")]
impl MachineClock {
    pub(super) fn new() -> std::io::Result<Self> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
        Ok(Self { boot })
    }
}

#[cfg(not(target_os = "linux"))]
impl MachineClock {
    /// Each server has a clock of its own.
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self { boot: uuid::Uuid::new_v4().to_string(), opened: std::time::Instant::now() })
    }
}

impl Clock for MachineClock {
    fn boot(&self) -> String {
        self.boot.clone()
    }

    #[cfg(target_os = "linux")]
    fn since_boot(&self) -> Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
    }

    #[cfg(not(target_os = "linux"))]
    fn since_boot(&self) -> Duration {
        self.opened.elapsed()
    }

    fn time_of_day(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

/// The time of one connection to the database.
pub(super) struct Time {
    clock: Arc<dyn Clock>,
    boot: String,
    /// The date of the machine's start, in milliseconds since 1970.
    started_at: AtomicI64,
}

impl Time {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        let boot = clock.boot();
        let started_at = AtomicI64::new(date_of_start(&*clock));
        Self { clock, boot, started_at }
    }

    /// The present time, in milliseconds since 1970.
    pub(super) fn now(&self) -> i64 {
        self.started_at.load(Ordering::Relaxed).saturating_add(milliseconds(self.clock.since_boot()))
    }

    /// Notes the date of the machine's start in the database, and moves the ends of what lasts there if the machine's clock was set
    /// since the last note.
    pub(super) fn set(&self, transaction: &mut dyn Transaction) -> Result<(), StoreError> {
        transaction
            .batch("CREATE TABLE IF NOT EXISTS clock (boot TEXT NOT NULL, started_at BIGINT NOT NULL)")?;
        let date = date_of_start(&*self.clock);
        let moved = match self.noted(transaction)? {
            // A small difference is no set clock: the noted date stays, and all ends stay valid.
            Some(noted) if noted.abs_diff(date) < SET => return self.follow(transaction),
            Some(noted) => date.saturating_sub(noted),
            // The database has no date of this start of the machine.
            None => 0,
        };
        // The step of the clock moves every future moment in the database, so that each lease,
        // wait and pause lasts as long as it was given for.
        let ends = [
            "UPDATE jobs SET lease_until = lease_until + $1 WHERE state = 'running'",
            // SQLite makes a sum that is too large a floating-point number.
            "UPDATE jobs SET expires_at = min(expires_at, 9223372036854775807 - max($1, 0)) + $1
                WHERE state = 'queued' AND expires_at IS NOT NULL",
            "UPDATE jobs SET not_before = not_before + $1 WHERE state = 'queued' AND not_before > 0",
        ];
        if moved != 0 {
            ends.into_iter().try_for_each(|sql| transaction.execute(sql, &[moved.into()]).map(drop))?;
        }
        transaction.execute("DELETE FROM clock", &[])?;
        let note: [SqlValue; 2] = [self.boot.as_str().into(), date.into()];
        transaction.execute("INSERT INTO clock (boot, started_at) VALUES ($1, $2)", &note)?;
        self.started_at.store(date, Ordering::Relaxed);
        Ok(())
    }

    /// Takes the date of the machine's start from the database, where another server may have set it.
    pub(super) fn follow(&self, transaction: &mut dyn Transaction) -> Result<(), StoreError> {
        if let Some(noted) = self.noted(transaction)? {
            self.started_at.store(noted, Ordering::Relaxed);
        }
        Ok(())
    }

    fn noted(&self, transaction: &mut dyn Transaction) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT started_at FROM clock WHERE boot = $1";
        transaction.query(sql, &[self.boot.as_str().into()])?.first().map(|row| row.integer(0)).transpose()
    }
}

fn date_of_start(clock: &dyn Clock) -> i64 {
    milliseconds(clock.time_of_day()).saturating_sub(milliseconds(clock.since_boot()))
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
