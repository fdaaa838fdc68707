//! The definition of a tree, computed one hash at a time.

use proofmill_cpu::Level;
use proofmill_field::goldilocks::MODULUS;
use proofmill_merkle::{Digest, TreeHash};
use proofmill_testing::rng;
use rand::RngCore;

/// The layers of the largest trees; fewer where tests run emulated.
pub(crate) const MOST: u32 = if cfg!(target_arch = "x86_64") { 16 } else { 11 };

/// Words below the modulus, from a fixed seed.
pub(crate) fn words(count: usize, seed: u64) -> Vec<u64> {
    let mut rng = rng(seed);
    (0..count).map(|_| rng.next_u64() % MODULUS).collect()
}

/// The layers of a tree, leaves first.
pub(crate) fn layers(hash: &dyn TreeHash, words: &[u64], columns: usize) -> Vec<Vec<Digest>> {
    let portable = Level::available()[0];
    let mut leaves = vec![Digest::default(); words.len() / columns];
    hash.hash_rows(portable, words, columns, &mut leaves);
    let mut layers = vec![leaves];
    while layers[layers.len() - 1].len() > 1 {
        let children = &layers[layers.len() - 1];
        let parent = |pair: &[Digest]| {
            let mut parent = [Digest::default()];
            hash.hash_pairs(portable, pair, &mut parent);
            parent[0]
        };
        layers.push(children.chunks(2).map(parent).collect());
    }
    layers
}
