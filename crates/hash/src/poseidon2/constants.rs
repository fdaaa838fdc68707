//! Round constants as planes of a vector type.

use super::{HALF_FULL_ROUNDS, PARTIAL_ROUNDS, permutation::partial_constant};
use proofmill_field::goldilocks::{GoldilocksVector, constant_planes};

/// The planes of all constants, in the order of use.
pub(super) const fn planes<V: GoldilocksVector, const WIDTH: usize, const COUNT: usize>(
    words: &[u64; COUNT],
) -> [[u64; 2]; COUNT] {
    assert!(COUNT == 2 * HALF_FULL_ROUNDS * WIDTH + PARTIAL_ROUNDS);
    let mut planes = [[0; 2]; COUNT];
    let mut i = 0;
    while i < COUNT {
        planes[i] = planes_of::<V, WIDTH>(i, words[i]);
        i += 1;
    }
    planes
}

/// The planes of the constant with this index.
pub(super) const fn planes_of<V: GoldilocksVector, const WIDTH: usize>(index: usize, word: u64) -> [u64; 2] {
    let is_partial = index >= HALF_FULL_ROUNDS * WIDTH && index < HALF_FULL_ROUNDS * WIDTH + PARTIAL_ROUNDS;
    if is_partial { partial_constant(word) } else { constant_planes::<V>(word) }
}
