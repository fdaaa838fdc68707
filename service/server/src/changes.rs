//! Wakes waiters for jobs in this process. Other servers' changes are not seen here, so waiters also look again from time to time.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::Notify;

/// The waiters for each job, and the waiters for any job to be queued.
#[derive(Default)]
pub struct Changes {
    /// The notifier of each job, and the number of its watches.
    jobs: Mutex<HashMap<String, (Arc<Notify>, usize)>>,
    queue: Notify,
}

/// A wait for the changes of one job.
pub struct Watch<'a> {
    changes: &'a Changes,
    job: String,
    notify: Arc<Notify>,
}

impl Changes {
    /// Begins to watch a job: no change after this call is missed.
    pub fn watch(&self, job: &str) -> Watch<'_> {
        let mut jobs = self.jobs();
        let (notify, watches) = jobs.entry(job.to_owned()).or_default();
        *watches += 1;
        Watch { changes: self, job: job.to_owned(), notify: notify.clone() }
    }

    /// Wakes the waiters that watch this job.
    pub fn changed(&self, job: &str) {
        if let Some((notify, _)) = self.jobs().get(job) {
            notify.notify_waiters();
        }
    }

    /// Wakes workers that wait for a job.
    pub fn queued(&self) {
        self.queue.notify_waiters();
    }

    /// Completes when a job is queued after this call.
    pub fn next_queued(&self) -> tokio::sync::futures::Notified<'_> {
        self.queue.notified()
    }

    fn jobs(&self) -> std::sync::MutexGuard<'_, HashMap<String, (Arc<Notify>, usize)>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch<'_> {
    /// Completes when the job changes after this call.
    pub fn next(&self) -> tokio::sync::futures::Notified<'_> {
        self.notify.notified()
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let mut jobs = self.changes.jobs();
        if let Some((_, watches)) = jobs.get_mut(&self.job) {
            *watches -= 1;
            // The last watch removes the entry: the map has only jobs with waiters.
            if *watches == 0 {
                jobs.remove(&self.job);
            }
        }
    }
}
