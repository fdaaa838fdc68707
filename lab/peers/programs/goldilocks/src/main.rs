//! Times the Goldilocks kernels of Plonky3, plonky2 and boojum, and prints them in the format of `lab/records`.
//!
//! A row is measured if its name contains every word of an argument, for any of the arguments; without
//! arguments, all rows are measured. `--csv` prints records; `--large` adds transforms of 2^24 rows.

#![forbid(unsafe_code)]

mod field;
mod merkle;
mod permutations;
#[path = "../../records.rs"]
mod records;
mod transforms;

use p3_goldilocks::Goldilocks;
use proofmill_testing::rng;
use rand::RngCore;
use records::Records;

/// The instruction set for which the peers' packed types were compiled.
const LEVEL: &str = if cfg!(target_feature = "avx512f") {
    "avx512"
} else if cfg!(target_feature = "avx2") {
    "avx2"
} else {
    "scalar"
};

/// The rows selected on the command line.
struct Selection(Vec<String>);

impl Selection {
    fn from_arguments() -> Self {
        Self(std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect())
    }

    fn has(&self, name: &str) -> bool {
        let matches = |argument: &String| argument.split_whitespace().all(|word| name.contains(word));
        self.0.is_empty() || self.0.iter().any(matches)
    }
}

/// `len` elements, the same in every run.
fn elements(len: usize) -> Vec<Goldilocks> {
    let mut rng = rng(3);
    (0..len).map(|_| Goldilocks::new(rng.next_u64())).collect()
}

/// The implementation name of a packed type: the library and the instruction set.
fn packed(library: &str) -> String {
    format!("{library}-{LEVEL}")
}

fn main() {
    let selection = Selection::from_arguments();
    Records::new().for_one_and_all_cores(|records, threads| {
        field::measure(records, &selection, threads);
        permutations::measure(records, &selection, threads);
        merkle::measure(records, &selection, threads);
        transforms::measure(records, &selection, threads);
    });
}
