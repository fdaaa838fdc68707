//! Tests of `proofmill-p3`: one program, so that what they share is compiled once.

mod kernels;
mod proofs;
