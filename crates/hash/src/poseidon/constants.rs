//! Round constants as planes of a vector type.

use super::{
    linear::{CIRCULANT, WIDTH},
    round_constants::ROUND_CONSTANTS,
};
use proofmill_field::goldilocks::{Goldilocks, GoldilocksVector, constant_planes};
use std::marker::PhantomData;

/// The full rounds before the partial ones, and those after.
pub const HALF_FULL_ROUNDS: usize = 4;

/// The rounds with one S-box.
pub const PARTIAL_ROUNDS: usize = 22;

/// The constants of an equivalent permutation whose partial rounds add to the first element only: other elements skip the
/// S-box, so their constants may be added after the linear layer.
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

/// The number of added constants: one per partial round, one per element of a full round.
const COUNT: usize = 2 * HALF_FULL_ROUNDS * WIDTH + PARTIAL_ROUNDS;

/// The constants of the equivalent permutation.
pub(super) struct Rounds<V>(PhantomData<V>);

impl<V: GoldilocksVector> Rounds<V> {
    /// The constants as planes, in the order of use.
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
