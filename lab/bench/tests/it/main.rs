//! Tests of `proofmill-bench`: one program, so that what they share is compiled once.

mod commands;
mod peers;
