//! Witnesses of circom's circuits from their inputs: the WASM that circom's compiler writes, run by an interpreter or compiled to a graph, and graphs of
//! circom-witnesscalc.
//!
//! [`Inputs`] parses an `input.json`; [`Program`] is a circuit's WASM, [`Compiled`] one that was compiled, [`Graph`] one of circom-witnesscalc. Circuits and inputs may be hostile: for any bytes the result
//! is a value or a [`WitnessError`], within [`Limits`]. No error shows a value of a signal by `{}`.
//!
//! ```no_run
//! use proofmill_field::bn254::Fr;
//! use proofmill_witness::{Inputs, Limits, Program};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let circuit = <Program>::from_bytes(&std::fs::read("circuit.wasm")?, Limits::default())?;
//! let wires = circuit.calculate(&Inputs::from_json(br#"{"a": 3, "b": 11}"#)?)?;
//! assert_eq!(wires[0], Fr::from(1));
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod compile;
mod curves;
mod error;
mod graph;
mod input;
mod machine;
mod names;
mod number;
mod program;
mod wasm;

pub use compile::{Compiled, embedded_wasm};
pub use error::WitnessError;
pub use graph::{Binary, Graph, Unary};
pub use input::{Inputs, LARGEST_INPUT, Signal};
pub use program::Program;
pub use wasm::{Debugged, Event, Limits, likely_curve, native::NATIVE_FUNCTIONS};
