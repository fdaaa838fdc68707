//! Kernels in assembly, for all instruction sets: straight-line programs, the order of their operations, and registers.
//!
//! A kernel begins as a formula: `sve` records the library's own, `fma` describes sums of columns. It becomes a [`Program`] of one
//! operation per value. Instruction sets differ in what [`Target`] says of them; text, addresses and frames are theirs.

pub(crate) mod program;
pub(crate) mod registers;
pub(crate) mod schedule;

pub(crate) use program::{Program, Value};
pub(crate) use registers::{Form, Location, Origin, Outputs, Target, allocate};
