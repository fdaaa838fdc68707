//! Divides a worker's threads among its jobs.

use super::Policy;
use std::collections::HashMap;
use tokio::task::Id;

/// The threads and memory of a running job.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    /// The job's id.
    pub(super) job: String,
    /// Its threads.
    pub(super) threads: usize,
    /// Its memory, in bytes.
    pub(super) memory: u64,
}

/// The worker's threads, and what the jobs have. They never have more threads than there are.
#[derive(Debug)]
pub(super) struct ThreadSchedule {
    policy: Policy,
    threads: usize,
    taken: HashMap<Id, Taken>,
}

impl ThreadSchedule {
    /// A schedule without jobs.
    pub(super) fn new(policy: Policy, threads: usize) -> Self {
        Self { policy, threads: threads.max(1), taken: HashMap::new() }
    }

    /// The most jobs at the same time.
    pub(super) fn most_jobs(&self) -> usize {
        match self.policy {
            Policy::Latency => 1,
            Policy::Auto | Policy::Throughput => self.threads,
        }
    }

    /// How many more jobs there are threads for.
    pub(super) fn room(&self) -> usize {
        self.most_jobs().saturating_sub(self.taken.len()).min(self.free_threads())
    }

    /// The memory that the jobs have, in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.taken.values().fold(0, |sum, taken| sum.saturating_add(taken.memory))
    }

    /// The threads for a new job when so many more wait, and there is memory for so many like it.
    pub(super) fn threads_for(&self, waiting: u64, fitting: u64) -> usize {
        let free = self.free_threads().max(1);
        match self.policy {
            Policy::Latency => free,
            Policy::Throughput => 1,
            // Jobs that can start now divide the free threads.
            Policy::Auto => {
                let jobs = waiting.saturating_add(1).min(fitting.max(1));
                (free / usize::try_from(jobs).unwrap_or(usize::MAX)).max(1)
            }
        }
    }

    /// Notes that a job has these.
    pub(super) fn begin(&mut self, id: Id, taken: Taken) {
        self.taken.insert(id, taken);
    }

    /// Notes that a job has ended.
    pub(super) fn end(&mut self, id: Id) {
        self.taken.remove(&id);
    }

    /// The ids of the jobs.
    pub(super) fn jobs(&self) -> Vec<String> {
        self.taken.values().map(|taken| taken.job.clone()).collect()
    }

    fn free_threads(&self) -> usize {
        self.threads.saturating_sub(self.taken.values().map(|taken| taken.threads).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::{Policy, Taken, ThreadSchedule};

    /// Claims jobs while there is room; `waiting` are all that come, and `fitting` of them fit into memory. Returns the threads of each.
    async fn fill(policy: Policy, threads: usize, waiting: u64, fitting: u64) -> Vec<usize> {
        let mut schedule = ThreadSchedule::new(policy, threads);
        let mut all = Vec::new();
        for index in 0..waiting.min(fitting) {
            if schedule.room() == 0 {
                break;
            }
            let threads = schedule.threads_for(waiting - index - 1, fitting - index);
            let id = tokio::spawn(async {}).id();
            schedule.begin(id, Taken { job: String::new(), threads, memory: 1 });
            all.push(threads);
        }
        assert!(all.iter().sum::<usize>() <= threads);
        assert_eq!(schedule.memory(), all.len() as u64);
        all
    }

    #[tokio::test]
    async fn threads_by_policy() {
        assert_eq!(fill(Policy::Latency, 8, 5, 9).await, [8]);
        assert_eq!(fill(Policy::Throughput, 4, 5, 9).await, [1; 4]);
        assert_eq!(fill(Policy::Throughput, 4, 2, 9).await, [1; 2]);
        assert_eq!(fill(Policy::Auto, 8, 1, 9).await, [8]);
        assert_eq!(fill(Policy::Auto, 8, 2, 9).await, [4, 4]);
        assert_eq!(fill(Policy::Auto, 8, 3, 9).await, [2, 3, 3]);
        assert_eq!(fill(Policy::Auto, 8, 100, 200).await, [1; 8]);
        assert_eq!(fill(Policy::Auto, 1, 3, 9).await, [1]);
    }

    #[tokio::test]
    async fn jobs_that_do_not_fit_into_memory_get_no_threads() {
        assert_eq!(fill(Policy::Auto, 8, 100, 1).await, [8]);
        assert_eq!(fill(Policy::Auto, 8, 100, 2).await, [4, 4]);
        assert_eq!(fill(Policy::Auto, 8, 2, 3).await, [4, 4]);
        // The memory was counted before it changed, so `fitting` may be 0.
        assert_eq!(ThreadSchedule::new(Policy::Auto, 8).threads_for(5, 0), 8);
        assert_eq!(ThreadSchedule::new(Policy::Auto, 8).threads_for(u64::MAX, u64::MAX), 1);
    }
}
