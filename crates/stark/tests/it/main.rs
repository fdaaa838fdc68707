//! Tests of `proofmill-stark`: one program, so that what they share is compiled once.

mod air;
mod airs;
mod blinding;
mod config;
mod divided;
mod document;
mod memory;
mod openings;
mod proofs;
mod security;
mod sequence;
mod tables;
mod transcript;
mod wide;
