//! Measures, stores, compares and shows: which machine, and which of its kernels, proves fastest or at the
//! lowest cost.
//!
//! This library is the measuring system. The binary `proofmill-bench` adds the commands, and Proofmill's own
//! kernels and provers as [`PreparedWorkload`]s. Peers are programs that speak a protocol with the library; platform
//! workloads are programs that it runs.
//!
//! * [`definition`]: definitions of benchmarks, read from `lab/definitions/*.toml`.
//! * [`catalogue`]: workloads by name, as the measuring system runs them.
//! * [`statistics`]: medians, confidence intervals, and whether two sets of samples differ.
//! * [`machine`]: facts about the machine.
//! * [`peers`]: other libraries, each in a program of its own, sampled in alternation with Proofmill.
//! * [`programs`]: provers as whole processes, timed from start to end.
//! * [`plan`]: the rows of a run; [`suite`] runs them.
//! * [`sampler`]: samples of several implementations in alternation. [`counters`] and [`noise`] observe them.
//! * [`model`]: predictions for other frequencies and lengths of vectors.
//! * [`record`]: a run with its machine and measurements, as it is stored, exported, compared and shown.
//! * [`platform`]: other programs that measure the machine.
//! * [`power`]: energy readings.
//! * [`bounds`]: bounds on a record.
//! * [`store`]: the database of runs.
//! * [`report`]: runs as one HTML page.
//! * [`exchange`]: files that carry runs from one machine to another.
//! * [`compare`]: which of two runs is faster, row by row.
#![deny(unsafe_code)]

pub mod bounds;
pub mod catalogue;
pub mod compare;
pub mod counters;
pub mod definition;
mod error;
pub mod exchange;
pub mod machine;
pub mod model;
pub mod noise;
pub mod peers;
pub mod plan;
pub mod platform;
pub mod power;
mod process;
pub mod programs;
pub mod record;
pub mod report;
pub mod sampler;
pub mod statistics;
pub mod store;
pub mod suite;
#[cfg(test)]
mod testing;

pub use catalogue::PreparedWorkload;
pub use error::BenchError;
