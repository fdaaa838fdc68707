//! Curve arithmetic as pipelines of small processors.
//!
//! A [formula](formulas) is recorded as a [graph](DataflowGraph) of field operations: a Kahn process network (G. Kahn, "The semantics of a
//! simple language for parallel programming", 1974). Its nodes are programs of the tiles of a device, and its edges are buffers between
//! them. It is [executed](execute) exactly, in the [signed limbs](limbs) of a tile; a [`Device`] says what its kernels [take](schedule),
//! and how long pipelines of them [run](simulate).
#![forbid(unsafe_code)]

pub mod device;
mod error;
pub mod execute;
pub mod explore;
pub mod formulas;
pub mod graph;
pub mod limbs;
pub mod msm;
pub mod pictures;
pub mod place;
pub mod samples;
pub mod schedule;
pub mod simulate;

pub use device::Device;
pub use error::PipelineError;
pub use graph::DataflowGraph;
