//! STARKs over Goldilocks.
//!
//! An AIR's constraints are run once on symbols and captured as a graph ([`air::capture`]), which becomes a program
//! ([`air::Program`]) that evaluates them on blocks of rows, in the vectors of the level that the CPU has.
//!
//! [`security`] computes how many bits of security are proven for a configuration of the protocol.

pub mod air;
pub mod security;
