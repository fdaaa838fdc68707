//! What Proofmill's commands share: options, progress, printing, exit statuses.
//!
//! A binary parses its arguments, which contain [`Options`], makes a [`Machine`] of them and runs a command, which gives an
//! [`Outcome`] or a [`Failure`]. A [`Report`] prints either and gives the exit status.
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

pub use failure::Failure;
pub use machine::Machine;
pub use options::{Options, ThreadCounts, Threads};
pub use phases::{Phase, PhaseClock};
pub use report::{Outcome, Report};
pub use shell::{Completions, Man};
pub use storage::StorageOptions;
