//! A run with its machine and its measurements, as it is stored, exported, compared and shown.
//!
//! Serialised to JSON, this is the format of `bench export`: field names are the keys, and absent options are
//! omitted. [`FORMAT`] is incremented when readers of an older format would misread the new one.

use crate::BenchError;
use jiff::Timestamp;
pub use proofmill_cost::price::Price;
use serde::{Deserialize, Serialize};

/// Version of the JSON format.
pub const FORMAT: u32 = 1;

/// One invocation of `bench run`, `bench provers` or `bench platform`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchRun {
    /// 32 random hexadecimal digits; a run keeps them in every store.
    pub id: String,
    /// The user's name for the run; by default the CPU's model.
    pub label: String,
    /// Start time.
    pub began: Timestamp,
    /// End time; `None` for a run in progress or one that was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Proofmill's version.
    pub version: String,
    /// The machine.
    pub machine: MachineFacts,
    /// The disturbances.
    #[serde(default)]
    pub noise: Noise,
    /// Source of power readings: `rapl`, `ipmitool`, `csv FILE` or `constant`; `None` if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_source: Option<String>,
    /// The machine's price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Measurements in the order in which they ended.
    #[serde(default)]
    pub measurements: Vec<Measurement>,
}

impl BenchRun {
    /// Starts a run now, without measurements.
    ///
    /// # Errors
    /// A system that has no randomness for the id.
    pub fn begin(
        label: Option<String>,
        command: Vec<String>,
        machine: MachineFacts,
    ) -> Result<Self, BenchError> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|error| BenchError::Workload {
            name: "run".to_owned(),
            problem: format!("the system gives no randomness for an id: {error}"),
        })?;
        Ok(Self {
            id: format!("{:032x}", u128::from_be_bytes(id)),
            label: label.unwrap_or_else(|| machine.cpu.clone()),
            began: Timestamp::now(),
            ended: None,
            command,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine,
            noise: Noise::default(),
            power_source: None,
            price: None,
            measurements: Vec::new(),
        })
    }

    /// Reasons to doubt its times, one sentence each. In comparisons with a run that has any, nothing is
    /// called faster or slower.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let unfinished =
            self.ended.is_none().then(|| "it did not end, so its disturbances are unknown".to_owned());
        self.noise.warnings.iter().cloned().chain(unfinished).collect()
    }
}

/// Facts about a machine; unknown facts are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineFacts {
    /// The CPU's own name.
    pub cpu: String,
    /// `x86_64` or `aarch64`.
    pub architecture: String,
    /// The core's microarchitecture: `Zen 5`, `Neoverse V2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub microarchitecture: Option<String>,
    /// Number of hardware threads.
    pub threads: u32,
    /// Number of cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Number of packages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sockets: Option<u32>,
    /// Threads per core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads_per_core: Option<u32>,
    /// The caches that the first core uses, one of each level and kind.
    pub caches: Vec<Cache>,
    /// Features of this CPU that Proofmill knows.
    pub features: Vec<String>,
    /// Levels that this CPU supports.
    pub levels: Vec<String>,
    /// Length in bits of the longest vectors of its instructions; for SVE, this CPU's length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector_bits: Option<u32>,
    /// Frequency in hertz, measured while one core was busy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_hertz: Option<f64>,
    /// Frequency in hertz, according to the system or the CPU's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertised_hertz: Option<f64>,
    /// Memory in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The operating system's name and version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The kernel's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The hypervisor's name, if the machine is virtual.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<String>,
    /// The cloud's name of the instance type: `c7a.metal-48xl`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// The compiler that built Proofmill.
    pub compiler: String,
}

/// A cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// The level; 1 is nearest to the core.
    pub level: u8,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Number of threads that share it.
    pub shared_by: u32,
}

/// Disturbances during a run, as shares of the machine's CPU time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Noise {
    /// CPU time that the hypervisor gave to other machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal: Option<f64>,
    /// CPU time that other processes used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<f64>,
    /// The lowest frequency during the run below the highest, as a share of the highest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_drop: Option<f64>,
    /// A sentence for each disturbance that makes the times doubtful.
    pub warnings: Vec<String>,
}

/// The identity of a row: rows of two runs are compared if these are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RowKey {
    /// The kind of benchmark.
    pub suite: Suite,
    /// The family, which is a chart of the report: `msm`, `openssl`.
    pub family: String,
    /// The benchmark: `bn254-g1`, `rsa2048-sign`.
    pub benchmark: String,
    /// Number of units in an iteration, if the benchmark has several sizes: `65536`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The name of one of Proofmill's levels, a peer or a program.
    pub implementation: String,
    /// Number of threads.
    pub threads: u32,
}

/// Kinds of benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Suite {
    /// Proofmill's kernels.
    Kernel,
    /// Whole proofs.
    Prover,
    /// Other programs, which measure the machine.
    Platform,
}

/// A row with its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// What was measured.
    pub row: RowKey,
    /// A peer's or program's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// When the row was finished.
    pub ended: Timestamp,
    /// The result.
    pub outcome: RowOutcome,
}

/// The outcome of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum RowOutcome {
    /// The row was measured.
    Measured(Figures),
    /// The row ran once without timing, and its answer is right.
    Checked {
        /// The digest of the output.
        answer: String,
    },
    /// The program is not installed.
    Absent {
        /// What to install: `apt-get install brotli`.
        remedy: String,
    },
    /// The row could not be measured.
    Failed {
        /// The reason, one sentence.
        reason: String,
    },
}

/// The measured values of a row. Times are for an iteration by all the row's threads together, so that
/// `amount / seconds` is the machine's rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Seconds per iteration, one mean for each sample.
    pub seconds: Vec<f64>,
    /// The clock of `seconds`.
    pub clock: Clock,
    /// Amount of work of an iteration, in units.
    pub amount: f64,
    /// The unit of work: `points`, `bytes`, `signatures`, `requests`.
    pub unit: String,
    /// Digest of the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// CPU cycles per iteration, the samples' median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<f64>,
    /// Instructions per iteration, the samples' median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<f64>,
    /// Times of an iteration's phases, in order; medians.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseTime>,
    /// Peak memory of the work in bytes, beyond what the process used before it was prepared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory: Option<u64>,
    /// Length of the output in bytes, for compression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_out: Option<u64>,
    /// Power in watts of the machine or its packages (see the run's power source) during the measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watts: Option<f64>,
}

/// A phase of the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseTime {
    /// The name: `read`, `witness`, `msm`.
    pub name: String,
    /// Wall time of the phase in an iteration, in seconds.
    pub seconds: f64,
}

/// The clock that times are measured with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// CPU time of the process: used on one thread, because other load does not lengthen it.
    Cpu,
    /// Wall time.
    Wall,
}
