//! Tests of SHA-256 with every kernel of this CPU.

mod agreement;
mod keyed;
mod known_answers;
mod speed;

use proofmill_sha256::Kernels;
use std::env;

/// Names kernels, separated by commas, that must have run for the tests to pass: a skipped test cannot look like a passed one.
const REQUIRED: &str = "PROOFMILL_REQUIRE_SHA256";

/// Each kernel on its own, and the best ones of each level.
fn all_kernels() -> Vec<Kernels> {
    let available = Kernels::available();
    for name in env::var(REQUIRED).unwrap_or_default().split(',').filter(|name| !name.is_empty()) {
        assert!(available.iter().any(|kernels| kernels.name() == name), "{REQUIRED}: this CPU lacks {name}");
    }
    let mut all = available;
    for level in proofmill_cpu::Level::available() {
        let kernels = Kernels::at(level);
        if !all.contains(&kernels) {
            all.push(kernels);
        }
    }
    assert!(all.contains(&Kernels::best()), "{}", Kernels::best());
    all
}

/// Runs `body` with all of them.
fn for_each_kernels(mut body: impl FnMut(Kernels)) {
    for kernels in all_kernels() {
        println!("-- {kernels}");
        body(kernels);
    }
}

fn from_hex(digits: &str) -> Vec<u8> {
    hex::decode(digits).unwrap()
}

/// The values of a response file's lines `name = value`, in order.
fn fields<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let fields = text.lines().filter_map(|line| line.split_once('='));
    fields.filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim()).collect()
}
