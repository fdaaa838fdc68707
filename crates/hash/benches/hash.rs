//! Permutations at every level, on one core: `cargo bench -p proofmill-hash [-- --csv]`.

use proofmill_field::goldilocks::Goldilocks;
use proofmill_hash::{Digest, Permutation, Poseidon, Poseidon2, Sponge, TreeHash};
use proofmill_testing::{Records, rng};
use rand::RngCore;

/// Permutations in a run.
const COUNT: usize = 1 << 16;

fn main() {
    let mut records = Records::new();
    records.for_one_and_all_cores(|records, threads| {
        if threads == 1 {
            nodes::<Poseidon>(records);
            nodes::<Poseidon2<8>>(records);
            nodes::<Poseidon2<12>>(records);
        }
    });
}

/// Nodes of trees: one permutation each.
fn nodes<P: Permutation>(records: &mut Records) {
    // A name has its width already where that is not the usual one.
    let name = format!("{COUNT} {} {}", P::NAME.trim_end_matches("-8"), P::WIDTH);
    let mut rng = rng(1);
    let mut digest = || Digest(std::array::from_fn(|_| Goldilocks::new(rng.next_u64())));
    let children: Vec<Digest> = (0..2 * COUNT).map(|_| digest()).collect();
    let mut parents = vec![Digest::default(); COUNT];
    let mut portable = None;
    for level in proofmill_field::goldilocks_levels() {
        let seconds = records.record(&name, level.name(), 1, portable, || {
            Sponge::<P>::hash_pairs(level, &children, &mut parents);
        });
        portable.get_or_insert(("portable", seconds));
    }
}
