//! Hashes over BN254's scalar field: `cargo bench -p proofmill-hash --bench bn254 [-- --csv]`.

use proofmill_cpu::Level;
use proofmill_field::{Field, bn254::Fr};
use proofmill_hash::{
    PoseidonBn254,
    pedersen::{pedersen, pedersen_many},
    poseidon_bn254::poseidon,
};
use proofmill_testing::{Records, rng};

/// Hashes in a run.
const COUNT: usize = 1 << 14;

fn main() {
    let mut records = Records::new();
    let mut rng = rng(1);
    let pairs: Vec<[Fr; 2]> = (0..COUNT).map(|_| [Fr::random(&mut rng), Fr::random(&mut rng)]).collect();
    records.for_one_and_all_cores(|records, threads| {
        if threads == 1 {
            records.record(&format!("{COUNT} pedersen, a chain"), "portable", 1, None, || {
                pairs.iter().fold(Fr::ZERO, |hash, [a, _]| pedersen(hash, *a))
            });
            records.record(&format!("{COUNT} poseidon 3, a chain"), "portable", 1, None, || {
                pairs.iter().fold(Fr::ZERO, |hash, [a, _]| poseidon(&[hash, *a]))
            });
        }
        for level in Level::available() {
            records.record(&format!("{COUNT} pedersen"), level.name(), threads, None, || {
                pedersen_many(level, &pairs)
            });
            records.record(&format!("{COUNT} poseidon 3"), level.name(), threads, None, || {
                PoseidonBn254::of_width(3).hash_many(level, pairs.as_flattened())
            });
        }
    });
}
