//! Times of kernels on one core of this machine. Samples of all kernels for the same operation are taken in
//! alternation.

use crate::workloads::Workloads;
use proofmill_bench::{
    BenchError, PreparedWorkload,
    catalogue::Catalogue,
    machine::time_stamp_hertz,
    record::Clock,
    sampler::{self, Effort, InProcess, Sampled},
    statistics::Summary,
};
use proofmill_console::Failure;
use proofmill_sha256::Kernels;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::{hint::black_box, sync::Arc, time::Duration};

/// Sampling ends when the median is known to 1 %, or after this time.
const EFFORT: Effort = Effort { time: Duration::from_millis(100), precision: 0.01 };

/// All measurements.
pub(crate) struct Measurements {
    pub(crate) rows: Vec<KernelTime>,
    /// Steps of the time-stamp counter per second. "Cycles" are these steps; their rate does not depend on
    /// the core's frequency.
    pub(crate) cycles_per_second: Option<f64>,
}

/// The measurement of an operation by a kernel.
pub(crate) struct KernelTime {
    /// The operation.
    pub(crate) operation: &'static str,
    /// The name of a level, or of one of SHA-256's kernels.
    pub(crate) kernel: &'static str,
    /// The median CPU time of one operation, in seconds. Other processes disturb CPU time less than wall
    /// time.
    pub(crate) seconds: f64,
}

/// The work of an operation.
enum Work {
    /// SHA-256 of one message of this many bytes, by every SHA-256 kernel.
    Message(usize),
    /// SHA-256 of [`PAIRS`] messages of 64 bytes, by every SHA-256 kernel.
    Pairs,
    /// A kernel of the bench at a size, at each of its levels.
    Kernel(&'static str, u64),
}

/// Number of messages that are hashed together.
const PAIRS: usize = 1024;

/// Operations, their work, and the number of operations in an iteration.
const OPERATIONS: [(&str, Work, f64); 11] = [
    (SHORT, Work::Message(32), 1.0),
    ("SHA-256 of 128 B", Work::Message(128), 1.0),
    ("SHA-256 of 5 MB", Work::Message(5_000_000), 1.0),
    (TREE, Work::Pairs, PAIRS as f64),
    ("BLS12-381, point of G2 of one message", Work::Kernel("bls12_381/hash-to-g2", 1), 1.0),
    ("BLS12-381, points of G2 of 128 messages, each", Work::Kernel("bls12_381/hash-to-g2", 128), 128.0),
    ("BLS signature", Work::Kernel("bls/sign", 1), 1.0),
    (VERIFY, Work::Kernel("bls/verify", 1), 1.0),
    ("BLS agg verif of 1 msg by 128 pubkeys", Work::Kernel("bls/fast-aggregate-verify", 128), 1.0),
    // One at a time.
    ("BLS verif of 6 msgs by 6 pubkeys", Work::Kernel("bls/verify", 1), 1.0 / 6.0),
    (BATCH, Work::Kernel("bls/batch-verify", 6), 1.0),
];

/// The most frequent operation of an Ethereum client.
pub(crate) const VERIFY: &str = "BLS verification";
/// An operation that benefits from vectors.
pub(crate) const BATCH: &str = "Serial batch verify 6 msgs by 6 pubkeys (with blinding)";
/// The hashing of a tree's nodes.
pub(crate) const TREE: &str = "SHA-256 of 64 B, 1024 of them";
/// The most important length of a single message: a node's contents.
pub(crate) const SHORT: &str = "SHA-256 of 32 B";

impl Measurements {
    /// Takes all measurements; lasts some seconds.
    pub(crate) fn new() -> Result<Self, Failure> {
        let pool = ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|error| Failure::Input(format!("cannot start a thread: {error}")))?;
        let (pool, workloads, mut rows) = (Arc::new(pool), Workloads::default(), Vec::new());
        for (operation, work, each) in &OPERATIONS {
            rows.extend(measure(&pool, &workloads, operation, work, *each)?);
        }
        Ok(Self { rows, cycles_per_second: time_stamp_hertz() })
    }

    pub(crate) fn row(&self, operation: &str, kernel: &str) -> Option<&KernelTime> {
        self.rows.iter().find(|row| row.operation == operation && row.kernel == kernel)
    }

    /// How many times faster the row is than the operation's first kernel.
    pub(crate) fn ratio(&self, row: &KernelTime) -> f64 {
        let first = self.rows.iter().find(|first| first.operation == row.operation);
        first.map_or(1.0, |first| first.seconds / row.seconds)
    }

    pub(crate) fn cycles(&self, row: &KernelTime) -> Option<f64> {
        self.cycles_per_second.map(|rate| rate * row.seconds)
    }
}

/// Measures an operation with every kernel that this CPU supports.
fn measure(
    pool: &Arc<ThreadPool>,
    workloads: &Workloads,
    operation: &'static str,
    work: &Work,
    each: f64,
) -> Result<Vec<KernelTime>, BenchError> {
    let subject = |prepared| InProcess::prepare(operation.to_owned(), pool.clone(), None, || prepared);
    let mut subjects: Vec<(&'static str, InProcess)> = Vec::new();
    match *work {
        Work::Kernel(kernel, size) => {
            for level in workloads.levels(kernel).unwrap_or_default() {
                subjects.push((level.name(), subject(workloads.prepare(kernel, size, level))?));
            }
        }
        Work::Message(len) => {
            let message = vec![0x5a; len];
            // The other kernels' lanes are not used for one message.
            let single = |kernels: &Kernels| kernels.name() == kernels.single_name();
            for kernels in Kernels::available().into_iter().filter(single) {
                let message = message.clone();
                let hash = move || _ = black_box(kernels.digest(black_box(&message)));
                subjects.push((kernels.name(), subject(Ok(Box::new(Sha256(hash))))?));
            }
        }
        Work::Pairs => {
            for kernels in Kernels::available() {
                let (pairs, mut digests) = (vec![[0x5a; 64]; PAIRS], vec![[0; 32]; PAIRS]);
                let hash = move || kernels.pairs(black_box(&pairs), black_box(&mut digests));
                subjects.push((kernels.name(), subject(Ok(Box::new(Sha256(hash))))?));
            }
        }
    }
    let mut turns: Vec<&mut dyn Sampled> = subjects.iter_mut().map(|(_, subject)| subject as _).collect();
    let taken = sampler::take(&mut turns, EFFORT, Clock::Cpu, None, |_| ());
    let row = |((kernel, _), figures): (&(&'static str, InProcess), sampler::Taken)| {
        let summary = Summary::of(&figures?.seconds);
        Ok(summary.map(|summary| KernelTime { operation, kernel, seconds: summary.median / each }))
    };
    subjects.iter().zip(taken).filter_map(|pair| row(pair).transpose()).collect()
}

/// A SHA-256 kernel that is selected by name, because levels do not select all of them.
struct Sha256<F>(F);

impl<F: FnMut() + Send> PreparedWorkload for Sha256<F> {
    fn run(&mut self, _: &mut dyn FnMut(&'static str)) -> Result<(), String> {
        (self.0)();
        Ok(())
    }

    /// Not used: the tests of `proofmill-sha256` compare its kernels.
    fn output(&self) -> Vec<u8> {
        Vec::new()
    }
}
