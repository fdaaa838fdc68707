//! Tests of `proofmill-witness`: one program, so that what they share is compiled once.

mod calculate;
mod circom1;
mod compiled;
mod graph;
mod hostile;
mod names;
