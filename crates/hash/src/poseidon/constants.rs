//! Round constants, ready for the planes of a vector type.

use super::{
    linear::{CIRCULANT, WIDTH},
    round_constants::ROUND_CONSTANTS,
};
use proofmill_field::goldilocks::{Goldilocks, GoldilocksVector, constant_planes};
use std::marker::PhantomData;

/// Full rounds before the partial ones, and as many after.
pub(super) const HALF_FULL_ROUNDS: usize = 4;

/// Rounds with one S-box.
pub(super) const PARTIAL_ROUNDS: usize = 22;

/// Constants of an equivalent permutation whose partial rounds add to the first element only: the others' pass the S-box
/// untouched, so that they may as well be added a linear layer later.
const EQUIVALENT: [[u64; WIDTH]; 2 * HALF_FULL_ROUNDS + PARTIAL_ROUNDS] = {
    let mut rounds = ROUND_CONSTANTS;
    let mut round = HALF_FULL_ROUNDS;
    while round < HALF_FULL_ROUNDS + PARTIAL_ROUNDS {
        let mut moved = rounds[round];
        moved[0] = 0;
        rounds[round] = {
            let mut kept = [0; WIDTH];
            kept[0] = rounds[round][0];
            kept
        };
        let mut row = 0;
        while row < WIDTH {
            let (mut sum, mut column) = (rounds[round + 1][row] as u128, 0);
            while column < WIDTH {
                sum += CIRCULANT[(column + WIDTH - row) % WIDTH] as u128 * moved[column] as u128;
                column += 1;
            }
            rounds[round + 1][row] = Goldilocks::reduce(sum).to_canonical();
            row += 1;
        }
        round += 1;
    }
    rounds
};

/// The equivalent permutation's constants as planes.
pub(super) struct Rounds<V>(PhantomData<V>);

impl<V: GoldilocksVector> Rounds<V> {
    /// Of the full rounds.
    pub(super) const FULL: [[[u64; 2]; WIDTH]; 2 * HALF_FULL_ROUNDS] = {
        let mut planes = [[[0; 2]; WIDTH]; 2 * HALF_FULL_ROUNDS];
        let mut i = 0;
        while i < WIDTH * planes.len() {
            let (full, element) = (i / WIDTH, i % WIDTH);
            let round = if full < HALF_FULL_ROUNDS { full } else { full + PARTIAL_ROUNDS };
            planes[full][element] = constant_planes::<V>(EQUIVALENT[round][element]);
            i += 1;
        }
        planes
    };

    /// Of the partial rounds.
    pub(super) const PARTIAL: [[u64; 2]; PARTIAL_ROUNDS] = {
        let mut planes = [[0; 2]; PARTIAL_ROUNDS];
        let mut i = 0;
        while i < PARTIAL_ROUNDS {
            planes[i] = constant_planes::<V>(EQUIVALENT[HALF_FULL_ROUNDS + i][0]);
            i += 1;
        }
        planes
    };
}
