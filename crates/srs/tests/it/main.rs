//! Tests of `proofmill-srs`: one program, so that what they share is compiled once.

mod ceremonies;
mod ignition;
mod insecure;
mod prepared;
mod ptau;
mod transcripts;
