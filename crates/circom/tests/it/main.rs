//! Tests of `proofmill-circom`: one program, so that what they share is compiled once.

mod contributions;
mod export;
mod hostile;
mod json;
mod keys;
mod r1cs_wtns;
mod sym;
