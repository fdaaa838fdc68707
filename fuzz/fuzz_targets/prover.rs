//! Arbitrary bytes as lines for `proofmill prover`, and as the files that it reads itself: keys, signature sets, STARKs to aggregate.
#![no_main]
#![allow(dead_code, reason = "modules of the prover, of which a part is used")]

#[path = "../../crates/cli/src/prover/fault.rs"]
mod fault;
#[path = "../../crates/cli/src/prover/inner.rs"]
mod inner;
#[path = "../../crates/cli/src/prover/inspect.rs"]
mod inspect;
#[path = "../../crates/cli/src/prover/memory.rs"]
mod memory;
#[path = "../../crates/cli/src/prover/requests.rs"]
mod requests;
#[path = "../../crates/cli/src/prover/signatures.rs"]
mod signatures;

use fault::{Fault, FileNames};
use libfuzzer_sys::fuzz_target;
use proofmill_job::Request;
use requests::{Line, read_line};
use std::{path::PathBuf, sync::LazyLock};

/// The file with the input.
static FILE: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("proofmill-fuzz-prover-{}", std::process::id())));

/// Checks what the job's owner would read.
fn check<T>(result: Result<T, Fault>) {
    let Err(fault) = result else { return };
    let mut names = FileNames::default();
    names.call(&FILE, "input");
    let message = fault.failure(&names).message;
    assert!(!message.is_empty() && message.chars().count() <= 1003, "{message:?}");
    assert!(!message.chars().any(char::is_control), "{message:?}");
    assert!(!message.contains(&*FILE.to_string_lossy()), "{message:?}");
}

fuzz_target!(|bytes: &[u8]| {
    let mut input = bytes;
    while let Ok(Some(line)) = read_line(&mut input) {
        let Line::Whole(line) = line else { continue };
        let Ok(request) = serde_json::from_slice::<Request>(&line) else { continue };
        let written = serde_json::to_vec(&request).expect("JSON");
        let again = serde_json::from_slice::<Request>(&written).expect("what was written");
        assert_eq!(serde_json::to_vec(&again).expect("JSON"), written);
    }
    std::fs::write(&*FILE, bytes).expect("a file");
    check(inspect::inspect(&FILE));
    check(inner::open(&FILE));
    check(signatures::Sets::open(&FILE).and_then(|sets| sets.verify()));
});
