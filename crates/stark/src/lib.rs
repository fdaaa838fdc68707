//! STARKs over Goldilocks.
//!
//! An AIR's constraints are run once on symbols and captured as a graph ([`air::capture`]), which becomes a program
//! ([`air::Program`]) that evaluates them on blocks of rows, in the vectors of the level that the CPU has.
//!
//! Committed columns are opened at points of an extension, and FRI folds, by the kernels of [`openings`].

pub mod air;
pub mod openings;
