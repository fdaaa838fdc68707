//! Building trees at every level, on one core and on all: `cargo bench -p proofmill-merkle -- [--csv] [20 22] [hashes]
//! [levels]`.

use proofmill_cpu::Level;
use proofmill_merkle::{Hash, MerkleError, RowMajor, Tree, dispatch_hash};
use proofmill_testing::{Records, rng};
use rand::RngCore;
use std::env;

/// Words of a row: one permutation of width 12.
const COLUMNS: usize = 8;

/// The hashes that are measured by default.
const HASHES: [Hash; 3] = [Hash::Poseidon, Hash::Poseidon2, Hash::Poseidon2NarrowNodes];

fn main() -> Result<(), MerkleError> {
    let mut records = Records::new();
    let sizes = records.sizes(&[20, 22]);
    let hashes = named(&Hash::ALL, Hash::name).unwrap_or(HASHES.to_vec());
    let levels = named(&Level::available(), Level::name).unwrap_or(proofmill_field::goldilocks_levels());
    let mut result = Ok(());
    records.for_one_and_all_cores(|records, threads| {
        for size in &sizes {
            let mut rng = rng(3);
            let words: Vec<u64> = (0..COLUMNS << size).map(|_| rng.next_u64() >> 1).collect();
            for hash in &hashes {
                let name = format!("merkle {hash} 2^{size} x {COLUMNS}");
                for level in &levels {
                    let build = || {
                        let leaves = RowMajor::new(&words, COLUMNS)?;
                        dispatch_hash!(hash, H => Tree::<H>::build(*level, &leaves).map(drop))
                    };
                    if result.is_ok() {
                        result = build();
                        records.record(&name, level.name(), threads, None, build);
                    }
                }
            }
        }
    });
    result
}

/// The elements whose names are among the arguments, or all if none is.
fn named<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str) -> Option<Vec<T>> {
    let arguments: Vec<String> = env::args().collect();
    let named: Vec<T> =
        all.iter().copied().filter(|item| arguments.iter().any(|word| word == name(*item))).collect();
    (!named.is_empty()).then_some(named)
}
