//! Which job gets how many threads, and what is left for others.

use super::Policy;
use std::collections::HashMap;
use tokio::task::Id;

/// What a running job has.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    /// The job's id.
    pub(super) job: String,
    /// Its threads.
    pub(super) threads: usize,
    /// Its memory, in bytes.
    pub(super) memory: u64,
}

/// The worker's threads and memory, and who has them. The sum of what jobs have is never more than what is there.
#[derive(Debug)]
pub(super) struct Schedule {
    policy: Policy,
    threads: usize,
    memory: u64,
    taken: HashMap<Id, Taken>,
}

impl Schedule {
    /// Nothing runs.
    pub(super) fn new(policy: Policy, threads: usize, memory: u64) -> Self {
        Self { policy, threads: threads.max(1), memory, taken: HashMap::new() }
    }

    /// The most jobs at the same time.
    pub(super) fn most_jobs(&self) -> usize {
        match self.policy {
            Policy::Latency => 1,
            Policy::Auto | Policy::Throughput => self.threads,
        }
    }

    /// Whether there are threads for one more job.
    pub(super) fn has_room(&self) -> bool {
        self.taken.len() < self.most_jobs() && self.free_threads() > 0
    }

    /// The memory that no job has, in bytes.
    pub(super) fn free_memory(&self) -> u64 {
        self.memory.saturating_sub(self.taken.values().map(|taken| taken.memory).sum())
    }

    /// The threads for a new job when so many more wait.
    pub(super) fn threads_for(&self, waiting: u64) -> usize {
        let waiting = usize::try_from(waiting).unwrap_or(usize::MAX);
        let jobs = self.taken.len().saturating_add(waiting).saturating_add(1);
        let share = match self.policy {
            Policy::Latency => self.threads,
            Policy::Throughput => 1,
            // The last one takes what a division leaves.
            Policy::Auto if waiting == 0 => self.threads.div_ceil(jobs),
            Policy::Auto => self.threads / jobs,
        };
        share.clamp(1, self.free_threads().max(1))
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
    use super::{Policy, Schedule, Taken};

    /// Claims jobs while there is room; `waiting` are all that come. Returns the threads of each.
    async fn fill(policy: Policy, threads: usize, waiting: u64) -> Vec<usize> {
        let mut schedule = Schedule::new(policy, threads, 1000);
        let mut all = Vec::new();
        for left in (0..waiting).rev() {
            if !schedule.has_room() {
                break;
            }
            let threads = schedule.threads_for(left);
            let id = tokio::spawn(async {}).id();
            schedule.begin(id, Taken { job: String::new(), threads, memory: 1 });
            all.push(threads);
        }
        assert!(all.iter().sum::<usize>() <= threads);
        all
    }

    #[tokio::test]
    async fn threads_by_policy() {
        assert_eq!(fill(Policy::Latency, 8, 5).await, [8]);
        assert_eq!(fill(Policy::Throughput, 4, 5).await, [1; 4]);
        assert_eq!(fill(Policy::Throughput, 4, 2).await, [1; 2]);
        assert_eq!(fill(Policy::Auto, 8, 1).await, [8]);
        assert_eq!(fill(Policy::Auto, 8, 2).await, [4, 4]);
        assert_eq!(fill(Policy::Auto, 8, 3).await, [2, 2, 3]);
        assert_eq!(fill(Policy::Auto, 8, 100).await, [1; 8]);
        assert_eq!(fill(Policy::Auto, 1, 3).await, [1]);
    }
}
