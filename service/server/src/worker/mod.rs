//! Workers: take jobs from a [`Coordinator`], and have provers execute them.
//!
//! The worker supervises: it claims jobs, keeps their leases, brings keys and inputs, stores outputs. Processes prove: one for each job,
//! kept for the next. So a proof can be stopped at any time, does not keep the worker from prolonging its lease, and cannot take
//! the worker with it.
//!
//! The jobs' threads are never more than the worker's. A job that comes while another one has all threads waits, and jobs that wait together
//! divide them. With more threads than cores, a new job would delay the running ones, and none would end earlier.

mod attempt;
mod backoff;
mod claim_loop;
mod inspector;
mod keys;
mod lease;
mod memory;
mod pool;
mod prover;
mod schedule;
mod watchdog;

pub use inspector::ProcessInspector;
pub use memory::MachineMemory;

use crate::{
    coordinator::{Coordinator, WorkerFacts},
    service::ServiceError,
};
use keys::KeyFolder;
use pool::Pool;
use proofmill_cost::power::{MeanPower, POWERCAP};
use prover::{ProverProgram, Ready};
use schedule::ThreadSchedule;
use std::{
    convert::Infallible,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::watch,
    time::{MissedTickBehavior, interval, timeout},
};
use tokio_util::sync::CancellationToken;
use watchdog::Watchdog;

/// How often the worker says that it is there.
const SAY: Duration = Duration::from_secs(5);
/// How long it tries to say that it ends.
const LEAVE: Duration = Duration::from_secs(5);

/// The part of the memory for jobs that open keys may take while provers wait: one in this many bytes.
const KEPT_PART: u64 = 8;

/// How many jobs a worker has at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The jobs that wait and fit into memory together divide the threads; one that is alone gets all.
    #[default]
    Auto,
    /// One job at a time, on all threads: the least time from a job's start to its end.
    Latency,
    /// One job on each thread: the most jobs an hour.
    Throughput,
}

/// The options of a worker.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// Its id: unique, and new for each start.
    pub id: String,
    /// The program that executes jobs: `PROGRAM prover`.
    pub program: PathBuf,
    /// Arguments of the program before `prover`, such as `--level NAME`.
    pub arguments: Vec<std::ffi::OsString>,
    /// Threads for all jobs; by default one per hardware thread.
    pub threads: Option<usize>,
    /// The most memory for all jobs, in bytes; by default what the machine (or its cgroup) has, but for a reserve. Jobs get less while
    /// other processes of the machine leave less.
    pub memory: Option<u64>,
    /// The machine's memory.
    pub machine: MachineMemory,
    /// How many jobs at the same time.
    pub policy: Policy,
    /// Whether the program divides jobs among the machines of a cluster; [`Self::memory`] is then the cluster's. The worker takes one job at
    /// a time, and only jobs that no other worker has memory for.
    pub divides: bool,
    /// A folder for key files of services on other machines; several workers may share it.
    pub keys: PathBuf,
    /// The most bytes in that folder, but for keys in use.
    pub most_key_bytes: u64,
    /// How long the service leaves a job to the worker without a report.
    pub lease: Duration,
    /// How long jobs may go on when the worker is told to end; then they are given back.
    pub drain_timeout: Duration,
    /// The machine's price in dollars an hour, if known.
    pub dollars_per_hour: Option<f64>,
}

/// The state that all jobs of a worker share.
struct Worker {
    coordinator: Arc<dyn Coordinator>,
    options: WorkerOptions,
    threads: usize,
    memory: u64,
    machine: Arc<MachineMemory>,
    ready: Ready,
    keys: KeyFolder,
    pool: Pool,
    watchdog: Watchdog,
    /// Ends all attempts.
    stop: CancellationToken,
    /// Its jobs now, and whether it drains.
    state: Mutex<Now>,
}

/// A worker's jobs now, and whether it drains, for [`WorkerFacts`].
#[derive(Debug, Default)]
struct Now {
    jobs: Vec<String>,
    draining: bool,
}

/// Works until `drain` becomes true and the jobs that it has are done, or given back after [`WorkerOptions::drain_timeout`].
///
/// # Errors
/// [`ServiceError::Io`] if the program cannot be started or is another version, [`ServiceError::Forbidden`] if the service denies.
pub async fn run(
    coordinator: Arc<dyn Coordinator>,
    options: WorkerOptions,
    drain: watch::Receiver<bool>,
) -> Result<(), ServiceError> {
    let worker = Arc::new(Worker::start(coordinator, options).await?);
    tracing::info!(
        worker = worker.options.id,
        threads = worker.threads,
        memory = worker.memory,
        level = worker.ready.level,
        cpu = worker.ready.cpu,
        "the worker is ready"
    );
    let result = tokio::select! {
        result = claim_loop::run(&worker, drain) => result,
        never = worker.watchdog.run(|| worker.pool.kill_idle()) => match never {},
        never = worker.send_facts() => match never {},
    };
    let leave = worker.coordinator.leave(&worker.options.id);
    let (left, ()) = tokio::join!(timeout(LEAVE, leave), worker.pool.end());
    if !matches!(left, Ok(Ok(()))) {
        tracing::warn!("cannot tell the service that the worker ends");
    }
    result
}

impl Worker {
    async fn start(coordinator: Arc<dyn Coordinator>, options: WorkerOptions) -> Result<Self, ServiceError> {
        let machine = Arc::new(options.machine.clone());
        let hardware = std::thread::available_parallelism().map_or(1, usize::from);
        let memory = options.memory.or_else(|| machine.total().map(without_reserve)).unwrap_or(u64::MAX >> 1);
        let slots = ThreadSchedule::new(options.policy, options.threads.unwrap_or(hardware)).most_jobs();
        let key_memory = memory / KEPT_PART / slots as u64;
        let program = ProverProgram {
            path: options.program.clone(),
            arguments: options.arguments.clone(),
            sees_ray: options.divides,
        };
        let pool = Pool::new(program, key_memory, machine.clone());
        let prover = pool.get().await?;
        let ready = prover.ready.clone();
        pool.put(prover);
        Ok(Self {
            threads: options.threads.unwrap_or(hardware.min(ready.threads)).max(1),
            memory,
            keys: KeyFolder::new(&options.keys, options.most_key_bytes)?,
            watchdog: Watchdog::new(machine.clone()),
            machine,
            stop: CancellationToken::new(),
            state: Mutex::default(),
            coordinator,
            options,
            ready,
            pool,
        })
    }

    /// The memory that all jobs may have now, in bytes: less than the most while other processes of the machine leave less.
    fn memory_now(&self) -> u64 {
        if self.options.divides {
            // This is the memory of a cluster's machines, not of this one.
            return self.memory;
        }
        // The worker's own provers take memory from the system that jobs may still have.
        let own = self.watchdog.taken().saturating_add(self.pool.memory());
        let available = self.machine.available().unwrap_or(u64::MAX);
        let left = available.saturating_add(own).saturating_sub(self.watchdog.least());
        left.min(self.memory)
    }

    /// Tells the service again and again what the worker is and has.
    async fn send_facts(&self) -> Infallible {
        let mut times = interval(SAY.min(self.options.lease));
        times.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut power = MeanPower::open(POWERCAP.as_ref()).ok();
        loop {
            times.tick().await;
            let facts = self.facts(power.as_mut().and_then(MeanPower::watts));
            let said = timeout(SAY, self.coordinator.see(&self.options.id, &facts)).await;
            if !matches!(said, Ok(Ok(()))) {
                tracing::debug!("cannot tell the service that the worker is there");
            }
            self.pool.end_unused().await;
        }
    }

    fn facts(&self, watts: Option<f64>) -> WorkerFacts {
        let now = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        WorkerFacts {
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            cpu: self.ready.cpu.clone(),
            level: self.ready.level.clone(),
            threads: self.threads,
            most_jobs: ThreadSchedule::new(self.options.policy, self.threads).most_jobs(),
            memory: self.memory,
            jobs: now.jobs.clone(),
            dollars_per_hour: self.options.dollars_per_hour,
            watts,
            divides: self.options.divides,
            draining: now.draining,
        }
    }
}

/// The memory for jobs on a machine with this memory, in bytes. The rest is for the system, this process and idle provers.
fn without_reserve(total: u64) -> u64 {
    total - (total / 8).clamp(256 << 20, 4 << 30).min(total / 2)
}
