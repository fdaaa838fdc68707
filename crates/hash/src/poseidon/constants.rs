//! Round constants, ready for the planes of a vector type.

use super::{
    linear::{CIRCULANT, WIDTH},
    round_constants::ROUND_CONSTANTS,
};
use proofmill_field::goldilocks::{Goldilocks, GoldilocksVector, constant_planes};
use std::marker::PhantomData;

/// Full rounds before the partial ones, and as many after.
pub const HALF_FULL_ROUNDS: usize = 4;

/// Rounds with one S-box.
pub const PARTIAL_ROUNDS: usize = 22;

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

/// Constants that are added: one in a partial round, one an element in a full one.
const COUNT: usize = 2 * HALF_FULL_ROUNDS * WIDTH + PARTIAL_ROUNDS;

/// The equivalent permutation's constants.
pub(super) struct Rounds<V>(PhantomData<V>);

impl<V: GoldilocksVector> Rounds<V> {
    /// As planes, in the order of use.
    pub(super) const PLANES: [[u64; 2]; COUNT] = {
        let mut planes = [[0; 2]; COUNT];
        let (mut round, mut next) = (0, 0);
        while round < EQUIVALENT.len() {
            let is_partial = round >= HALF_FULL_ROUNDS && round < HALF_FULL_ROUNDS + PARTIAL_ROUNDS;
            let mut element = 0;
            while element < if is_partial { 1 } else { WIDTH } {
                planes[next] = constant_planes::<V>(EQUIVALENT[round][element]);
                (element, next) = (element + 1, next + 1);
            }
            round += 1;
        }
        planes
    };
}
