//! Jobs of Proofmill's service: what is asked of a prover, and the messages between the service and the process that proves.
//!
//! Nothing here computes. The service stores and passes on a [`Task`]; the program `proofmill` executes it (`proofmill prover`,
//! which reads [`Request`]s and writes [`Reply`]s, one JSON object a line).
#![forbid(unsafe_code)]

mod message;
mod task;

pub use message::{Failure, Finished, KeyFacts, Phase, Reply, Request};
pub use task::{Content, Input, KeyKind, Output, StarkHash, Task};
