//! Takes, keeps, compares and shows measurements: which machine, and which of its kernels, proves cheapest.
//!
//! This library is the measuring system. The binary `proofmill-bench` adds the commands and Proofmill's own kernels and
//! provers, as [`Workload`]s; peers are programs that the library talks to; platform workloads are programs that it runs.
//!
//! * [`definition`]: what is to be measured, read from `benchmarks/definitions/*.toml`.
//! * [`workload`]: what a thing must do to be measured.
//! * [`statistics`]: medians, intervals, and whether two sets of samples differ.
//! * [`machine`]: what it is measured on.
//! * [`peers`]: other people's libraries, in programs of their own that take turns with ours.
//! * [`programs`]: provers that are programs, timed from start to end.
//! * [`plan`]: the rows of a run; [`suite`] runs them.
//! * [`sampler`]: samples of several implementations in alternation; [`counters`] and [`noise`] observe them.
//! * [`model`]: what if it ran faster, or had longer vectors.
//! * [`record`]: a run, its machine and its measurements: the one form that is stored, exported, compared and shown.
//! * [`platform`]: other people's programs, which tell what the machine is good at.
//! * [`power`] and [`price`]: joules that instruments saw, dollars that somebody asks.
//! * [`bounds`]: what a record may hold.
//! * [`store`]: where runs are kept.
//! * [`report`]: runs as one HTML page.
//! * [`exchange`]: files in which they go from one machine to another.
//! * [`compare`]: which of two is faster, row by row.
#![deny(unsafe_code)]

pub mod bounds;
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
pub mod price;
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
pub mod workload;

pub use error::BenchError;
pub use workload::Workload;
