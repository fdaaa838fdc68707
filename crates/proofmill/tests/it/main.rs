//! The library's interface: round trips, the kinds of errors, and equal results at every level.
#![allow(clippy::unwrap_used)]

mod any;
#[cfg(feature = "arkworks")]
mod arkworks;
mod bls;
mod circuit_cache;
mod fflonk;
mod groth16;
mod merkle;
mod plonk;
mod srs;
mod stark;

use proofmill::{Error, Level, Machine};
use std::path::PathBuf;

/// A file of the small example.
fn example(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/membership-small").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(example(name)).unwrap()
}

fn text(name: &str) -> String {
    String::from_utf8(bytes(name)).unwrap()
}

/// A machine for each level of this CPU, with a few threads.
fn machines() -> Vec<Machine> {
    let machine = |level| Machine::builder().level(level).threads(2).build().unwrap();
    Level::available().into_iter().map(machine).collect()
}

/// The kind of an error, and its message, which is one line.
#[track_caller]
fn kind<T: std::fmt::Debug>(result: proofmill::Result<T>) -> (&'static str, String) {
    let error = result.expect_err("an error");
    let message = error.to_string();
    assert!(!message.contains('\n') && !message.is_empty(), "{message:?}");
    let kind = match error {
        Error::Rejected(_) => "rejected",
        Error::Unsatisfied(_) => "unsatisfied",
        Error::Malformed(_) => "malformed",
        Error::Mismatch(_) => "mismatch",
        Error::Io(_) => "io",
        Error::InsecureSetup(_) => "insecure setup",
        Error::System(_) => "system",
        _ => "another",
    };
    (kind, message)
}

/// Asserts an error's kind, and that its message contains these words.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: proofmill::Result<T>, expected: &str, words: &str) {
    let (kind, message) = kind(result);
    assert_eq!(kind, expected, "{message}");
    assert!(message.contains(words), "{message:?} lacks {words:?}");
}
