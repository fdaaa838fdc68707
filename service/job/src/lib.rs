//! Jobs of Proofmill's service: the tasks for a prover, and the messages between the service and the process that proves.
//!
//! Nothing here computes. The service stores and passes on a [`Task`]; the program `proofmill` executes it (`proofmill prover`,
//! which reads [`Request`]s and writes [`Reply`]s, one JSON object a line).
#![forbid(unsafe_code)]

mod message;
mod task;

pub use message::{Finished, KeyFacts, Reply, Request, TaskFailure, TaskPhase};
pub use task::{ContentKind, KeyKind, StarkHash, Task, TaskInput, TaskOutput};
