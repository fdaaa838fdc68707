//! Tests of `proofmill-groth16`: one program, so that what they share is compiled once.

mod batch;
mod insecurity;
mod prove;
mod setup;
mod solidity;
