//! Development only: edge-case inputs and loops over levels and threads.
//!
//! Nothing here knows a field or a curve: integers are little-endian slices of 64-bit words, so that every
//! crate can use this one in its tests.

mod integers;
mod machine;

pub use integers::{bit_runs, edge_integers, is_below, operands, rng, uniform};
pub use machine::{for_each_level, for_each_pool};
