//! Tests of `proofmill-pairing`: one program, so that what they share is compiled once.

mod evm;
mod pairing;
