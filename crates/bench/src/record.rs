//! A run, its machine and its measurements: the one form that is stored, exported, compared and shown.
//!
//! Serialised as JSON it is the format of `bench export`: field names are the keys, absent options are left out, and
//! [`FORMAT`] is raised when a reader of an older format would misread it.

use crate::BenchError;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Version of the JSON format.
pub const FORMAT: u32 = 1;

/// One invocation of `bench run` or `bench platform`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// 32 hexadecimal digits of the system's randomness, the same in whatever store it is.
    pub id: String,
    /// What the user calls it; the CPU's model if they did not say.
    pub label: String,
    /// When it began.
    pub began: Timestamp,
    /// When it ended; none for a run that is under way or was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// The command's words.
    pub command: Vec<String>,
    /// Proofmill's version.
    pub version: String,
    /// What it ran on.
    pub machine: Machine,
    /// What disturbed it.
    #[serde(default)]
    pub noise: Noise,
    /// Where the watts come from: `rapl`, `ipmitool`, `csv FILE` or `constant`; none if nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_source: Option<String>,
    /// What the machine costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// In the order in which they ended.
    #[serde(default)]
    pub measurements: Vec<Measurement>,
}

impl Run {
    /// A run that begins now, without measurements.
    ///
    /// # Errors
    /// A system that has no randomness for its id.
    pub fn begin(label: Option<String>, command: Vec<String>, machine: Machine) -> Result<Self, BenchError> {
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

    /// What makes its times doubtful, a sentence each: nothing is called faster or slower by a run that has such a sentence.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let unfinished =
            self.ended.is_none().then(|| "it did not end, so what disturbed it is not known".to_owned());
        self.noise.warnings.iter().cloned().chain(unfinished).collect()
    }
}

/// What a machine costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// US dollars an hour.
    pub dollars_per_hour: f64,
    /// `given`, or the instance's name and where its price was read.
    pub source: String,
}

/// Facts about a machine; what could not be found out is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// The CPU's name for itself.
    pub cpu: String,
    /// `x86_64`, `aarch64`.
    pub architecture: String,
    /// The core's design: `Zen 5`, `Neoverse V2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub microarchitecture: Option<String>,
    /// Threads that the system runs at once.
    pub threads: u32,
    /// Cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Packages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sockets: Option<u32>,
    /// Threads of a core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads_per_core: Option<u32>,
    /// One of each kind that the first core uses.
    pub caches: Vec<Cache>,
    /// CPU features that Proofmill knows, present here.
    pub features: Vec<String>,
    /// Levels that Proofmill can run at.
    pub levels: Vec<String>,
    /// Bits of the longest vectors that its instructions work on: of SVE, those of this CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector_bits: Option<u32>,
    /// Hertz, counted while one core was busy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_hertz: Option<f64>,
    /// Hertz, as the system or the CPU's name says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertised_hertz: Option<f64>,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The operating system's name and version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The kernel's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Its maker's name, where the machine is virtual.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<String>,
    /// The cloud's name for such a machine: `c7a.metal-48xl`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// The compiler that built Proofmill.
    pub compiler: String,
}

/// A cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// 1 is nearest to the core.
    pub level: u8,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    /// Bytes.
    pub bytes: u64,
    /// Threads that share it.
    pub shared_by: u32,
}

/// What else went on while a run measured; shares of the machine's CPU time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Noise {
    /// What the hypervisor gave to others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal: Option<f64>,
    /// What other processes used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<f64>,
    /// How far the frequency sank from its highest during the run, as a share of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_drop: Option<f64>,
    /// A sentence for each that makes the times doubtful.
    pub warnings: Vec<String>,
}

/// What a row is about: rows of two runs are compared if these are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Row {
    /// What kind of thing.
    pub suite: Suite,
    /// A chart of the report: `msm`, `openssl`.
    pub family: String,
    /// `bn254-g1`, `rsa2048-sign`.
    pub benchmark: String,
    /// How many things one iteration works on, where that varies: `65536`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// One of Proofmill's levels, a peer's name, or a program's.
    pub implementation: String,
    /// Threads that work together.
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
    /// Other people's programs, which tell what the machine is good at.
    Platform,
}

/// A row and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// What was measured.
    pub row: Row,
    /// A peer's or program's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// When it was done.
    pub ended: Timestamp,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Outcome {
    /// It was measured.
    Measured(Figures),
    /// It ran once and its answer is right; it was not timed.
    Checked {
        /// The digest.
        answer: String,
    },
    /// The program is not installed.
    Absent {
        /// What to do about it: `apt-get install brotli`.
        remedy: String,
    },
    /// It could not be measured.
    Failed {
        /// Why, in a sentence.
        reason: String,
    },
}

/// What was measured. Times are of an iteration by all the row's threads together, so that `amount / seconds` is the
/// machine's rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Seconds an iteration: each sample's mean.
    pub seconds: Vec<f64>,
    /// What the seconds are of.
    pub clock: Clock,
    /// How many units an iteration does.
    pub amount: f64,
    /// `points`, `bytes`, `signatures`, `requests`: one unit is what a rate counts.
    pub unit: String,
    /// Digest of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// CPU cycles an iteration, the samples' median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<f64>,
    /// Instructions an iteration, the samples' median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<f64>,
    /// Where the time of an iteration goes, in order; medians.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// Bytes that the work needs at its peak, beyond what the process held before it was prepared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory: Option<u64>,
    /// Bytes that came out, of work whose quality that tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_out: Option<u64>,
    /// Watts of the whole machine (or its packages: see the run's source) while it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watts: Option<f64>,
}

/// A part of the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// `read`, `witness`, `msm`.
    pub name: String,
    /// Wall time of it in an iteration.
    pub seconds: f64,
}

/// What seconds are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// CPU time of the process: on one thread, so that a busy machine lengthens nothing.
    Cpu,
    /// Time that passed.
    Wall,
}
