//! Tests of `proofmill-ntt`: one program, so that what they share is compiled once.

mod arkworks;
mod goldilocks;
