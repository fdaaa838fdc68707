//! For tests and benches only: edge-case inputs, loops over levels and threads, times, a curve in plain integers, and running
//! programs.
//!
//! Integers are little-endian slices of 64-bit words, not elements of Proofmill's fields, so that the tests of any crate can
//! use them.
#![forbid(unsafe_code)]

mod command;
mod directions;
mod integer_curve;
mod integers;
mod machine;
mod timing;

pub use command::{Folder, Run, examples};
pub use directions::directions;
pub use integer_curve::{IntegerCurve, IntegerPoint};
pub use integers::{bit_runs, edge_integers, is_below, operands, rng, uniform};
pub use machine::{for_each_goldilocks_level, for_each_level, for_each_pool};
pub use timing::{assert_faster, assert_levels_win};
