//! The constraints that rows of a circuit express, and the identity that a proof shows: gates, lookups, copy constraints, and R1CS as
//! rows.

pub(crate) mod called;
pub mod gates;
pub(crate) mod layout;
pub(crate) mod linearisation;
pub(crate) mod lookup;
pub(crate) mod partial_rounds;
pub(crate) mod permutation;
pub mod r1cs;
pub(crate) mod summand;
pub(crate) mod system;
