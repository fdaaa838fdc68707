//! Trees at every level, on one core and on all: `cargo bench -p proofmill-merkle [-- --csv] [20 22] [NAME of a hash or level]`.

use proofmill_merkle::{Hash, RowMajor, Tree, dispatch_hash};
use proofmill_simd::Level;
use proofmill_testing::{Records, rng};
use rand::RngCore;
use std::env;

/// Words of a row: one permutation of width 12.
const COLUMNS: usize = 8;

fn main() {
    let mut records = Records::new();
    let sizes = records.sizes(&[20, 22]);
    // Where any hash is named, only those named; and so for levels.
    let named: Vec<String> = env::args().skip(1).collect();
    let chosen = |name: &str, all: &[&str]| {
        named.iter().any(|argument| argument == name)
            || !all.iter().any(|other| named.iter().any(|a| a == other))
    };
    let hashes = Hash::ALL.map(Hash::name);
    let levels: Vec<Level> = Level::goldilocks_levels();
    let names: Vec<&str> = levels.iter().map(|level| level.name()).collect();
    records.for_one_and_all_cores(|records, threads| {
        for size in &sizes {
            let mut rng = rng(3);
            let words: Vec<u64> = (0..COLUMNS << size).map(|_| rng.next_u64() >> 1).collect();
            let Ok(leaves) = RowMajor::new(&words, COLUMNS) else { continue };
            for hash in Hash::ALL.into_iter().filter(|hash| chosen(hash.name(), &hashes)) {
                let name = format!("merkle {hash} 2^{size} x {COLUMNS}");
                for level in levels.iter().filter(|level| chosen(level.name(), &names)) {
                    records.record(
                        &name,
                        level.name(),
                        threads,
                        None,
                        || dispatch_hash!(hash, H => Tree::<H>::build(*level, &leaves).map(drop).is_ok()),
                    );
                }
            }
        }
    });
}
