//! Tests of `proofmill-field`: one program, so that what they share is compiled once.

mod basic;
mod goldilocks;
mod goldilocks_extension;
mod lanes;
mod laws;
mod towers;
