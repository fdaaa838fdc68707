//! Shared parts of Proofmill's commands: options, progress, output, exit statuses.
//!
//! A binary parses its arguments, which contain [`Options`], creates a [`Machine`] from them and runs a command, which returns
//! an [`Outcome`] or a [`Failure`]. A [`Report`] prints either and returns the exit status.
#![forbid(unsafe_code)]

pub mod cpu;
mod failure;
pub mod interrupt;
mod machine;
mod options;
mod phases;
mod report;
mod shell;
mod storage;

pub use failure::{Failure, PERMIT};
pub use machine::Machine;
pub use options::{Options, ThreadCounts, Threads};
pub use phases::{Display, Phase, PhaseClock};
pub use report::{Outcome, Report};
pub use shell::{Completions, Man};
pub use storage::StorageOptions;
