//! Messages between a supervisor and the process that proves: one JSON object a line.

use crate::{KeyKind, Task, TaskInput};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf};

/// A request of the supervisor, on the process's standard input.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Execute a task. Answered by any number of [`Reply::Phase`], then one [`Reply::Finished`] or [`Reply::Failed`].
    Execute {
        /// The task, with digests for keys.
        task: Task,
        /// The files of the keys, by digest. Keys that were used before may still be open.
        keys: BTreeMap<String, PathBuf>,
        /// The files of the inputs.
        inputs: BTreeMap<TaskInput, PathBuf>,
        /// An empty folder, for one file per output, with the output's name.
        outputs: PathBuf,
        /// The number of threads.
        threads: usize,
    },
    /// Say what a key file is. Answered by [`Reply::Key`] or [`Reply::Failed`].
    Inspect {
        /// The file.
        path: PathBuf,
    },
}

/// A reply of the process, on its standard output.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "kebab-case")]
pub enum Reply {
    /// The first line: the process can receive requests.
    Ready {
        /// Version of the program.
        version: String,
        /// Level (CPU features) that it uses.
        level: String,
        /// The CPU's name.
        cpu: String,
        /// The greatest number of threads for a task: all hardware threads, unless an option says another number.
        threads: usize,
        /// Memory of the machine in bytes.
        memory: u64,
    },
    /// A phase of the task begins.
    Phase {
        /// The phase.
        name: String,
    },
    /// The task is done; proofs were verified, and the outputs are written.
    Finished(Finished),
    /// The task cannot be done.
    Failed(TaskFailure),
    /// The facts about a key file.
    Key(KeyFacts),
}

/// How a task was done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Finished {
    /// The phases in order.
    pub phases: Vec<TaskPhase>,
    /// The process's peak memory so far, in bytes.
    #[serde(default)]
    pub peak_memory: Option<u64>,
}

/// A phase that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Phase))]
pub struct TaskPhase {
    /// The phase.
    pub name: String,
    /// Its duration in seconds.
    pub seconds: f64,
}

/// Why a task cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFailure {
    /// One line without secret values.
    pub message: String,
    /// Whether another attempt could succeed: the machine's fault, not the input's.
    pub transient: bool,
}

/// Facts about a key file, from its header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct KeyFacts {
    /// Its kind.
    pub kind: KeyKind,
    /// The size of the circuit's domain, where there is one.
    #[serde(default)]
    pub domain: Option<u64>,
    /// The number of public signals or values, where it is known.
    #[serde(default)]
    pub public: Option<u64>,
    /// A bound, in bytes, on the memory of a task with this key, one thread and empty inputs. It counts the process's allocations,
    /// and the pages of files that are mapped at a time. [`Self::bound`] gives the bound of any task.
    pub memory: u64,
    /// The memory of each further thread, in bytes.
    #[serde(default)]
    pub memory_per_thread: u64,
    /// The memory for each byte of the inputs, in bytes.
    #[serde(default)]
    pub memory_per_input_byte: u64,
}

impl KeyFacts {
    /// More threads than this take no more memory, because of how sums of points divide their work.
    pub const MOST_THREADS: usize = 24;

    /// A bound, in bytes, on the memory of a task with this key, `threads` threads and `input_bytes` bytes of inputs. A task with
    /// several keys takes at most the sum of their bounds.
    pub fn bound(&self, threads: usize, input_bytes: u64) -> u64 {
        let further = threads.clamp(1, Self::MOST_THREADS) as u64 - 1;
        self.memory
            .saturating_add(self.memory_per_thread.saturating_mul(further))
            .saturating_add(self.memory_per_input_byte.saturating_mul(input_bytes))
    }
}
