//! Permutations and hashes of rows at every level, on one core: `cargo bench -p proofmill-hash [-- --csv]`.

use proofmill_hash::{Digest, Permutation, Poseidon, Sponge, TreeHash};
use proofmill_simd::Level;
use proofmill_testing::{Records, rng};
use rand::RngCore;

/// Permutations in a run.
const COUNT: usize = 1 << 16;

fn main() {
    let mut records = Records::new();
    records.for_one_and_all_cores(|records, threads| {
        if threads == 1 {
            rows::<Poseidon>(records);
        }
    });
}

/// Rows that take one permutation each.
fn rows<P: Permutation>(records: &mut Records) {
    let name = format!("{COUNT} {} {}", P::NAME, P::WIDTH);
    let mut rng = rng(1);
    let words: Vec<u64> = (0..8 * COUNT).map(|_| rng.next_u64() >> 1).collect();
    let mut digests = vec![Digest::default(); COUNT];
    let mut portable = None;
    for level in Level::goldilocks_levels() {
        let seconds = records.record(&name, level.name(), 1, portable, || {
            Sponge::<P>::hash_rows(level, &words, 8, &mut digests);
        });
        portable.get_or_insert(("portable", seconds));
    }
}
