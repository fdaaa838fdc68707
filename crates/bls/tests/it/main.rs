//! Tests of `proofmill-bls`: one program, so that what they share is compiled once.

mod batch;
mod keys;
mod vectors;
mod verify;
