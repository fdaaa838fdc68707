//! Poseidon2 over Goldilocks, widths 8 and 12: the instances of Plonky3.
//!
//! S-box x^7, 8 full and 22 partial rounds (Grassi, Khovratovich, Schofnegger, eprint 2023/323). Full rounds multiply by the
//! block matrix of the circulant (2, 3, 1, 1), Plonky3's `MDSMat4`, partial rounds by the matrix of ones plus
//! Plonky3's diagonal (`MATRIX_DIAG_8_GOLDILOCKS`, `MATRIX_DIAG_12_GOLDILOCKS`); the round constants are those of
//! the authors' Grain generator (Plonky3's `GOLDILOCKS_POSEIDON2_RC_*`, p3-goldilocks 0.9).
//!
//! An [`Instance`] has other round constants.
//!
//! Boojum's Poseidon2, of width 12, is another permutation: its block matrix is the paper's M4 of rows (5, 7, 1, 3) ..., its
//! diagonal is of powers of two up to 2^14, and its round constants are Poseidon's.

#[cfg(test)]
mod bounds;
mod constants;
mod instance;
mod linear;
mod permutation;
mod round_constants;

pub use instance::Instance;
pub use linear::BLOCK;
pub use permutation::partial_rounds;

use crate::{Absorption, Permutation};
use proofmill_field::goldilocks::GoldilocksVector;

/// The full rounds before the partial ones, and those after.
pub const HALF_FULL_ROUNDS: usize = 4;

/// The rounds with one S-box.
pub const PARTIAL_ROUNDS: usize = 22;

/// The most halvings of an [`Entry`] of any width.
const MAX_HALVINGS: usize = 3;

/// The permutation of `WIDTH` elements: 8 or 12.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Poseidon2<const WIDTH: usize>;

/// A diagonal entry: `factor / 2^halvings`.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// At most 4 in absolute value; 1 or -1 if `halvings` is not zero.
    pub factor: i32,
    /// The exponent of the divisor 2.
    pub halvings: u32,
}

/// The parameters of a width.
pub trait Parameters: Permutation {
    /// The diagonal that partial rounds add to the matrix of ones; the first entry is -2, the second is an integer.
    const DIAGONAL: &'static [Entry];

    /// The most halvings of an entry.
    const MAX_HALVINGS: usize;

    /// The partial rounds after which planes must be made fresh.
    const ROUNDS_A_FOLD: usize;

    /// The round constants, in the order of use: one per element in full rounds, one in partial rounds.
    const ROUND_CONSTANTS: &'static [u64];

    /// The planes of the round constants.
    fn constants<V: GoldilocksVector>() -> &'static [[u64; 2]];
}

const fn entry(factor: i32, halvings: u32) -> Entry {
    Entry { factor, halvings }
}

impl Parameters for Poseidon2<8> {
    const DIAGONAL: &'static [Entry] = &[
        entry(-2, 0),
        entry(1, 0),
        entry(2, 0),
        entry(1, 1),
        entry(3, 0),
        entry(-1, 1),
        entry(-3, 0),
        entry(-4, 0),
    ];
    const MAX_HALVINGS: usize = 1;
    const ROUNDS_A_FOLD: usize = 6;
    const ROUND_CONSTANTS: &'static [u64] = &round_constants::WIDTH_8;

    #[inline(always)]
    fn constants<V: GoldilocksVector>() -> &'static [[u64; 2]] {
        const { &constants::planes::<V, 8, _>(&round_constants::WIDTH_8) }
    }
}

impl Parameters for Poseidon2<12> {
    const DIAGONAL: &'static [Entry] = &[
        entry(-2, 0),
        entry(1, 0),
        entry(2, 0),
        entry(1, 1),
        entry(3, 0),
        entry(4, 0),
        entry(-1, 1),
        entry(-3, 0),
        entry(-4, 0),
        entry(1, 2),
        entry(-1, 2),
        entry(1, 3),
    ];
    const MAX_HALVINGS: usize = MAX_HALVINGS;
    const ROUNDS_A_FOLD: usize = 4;
    const ROUND_CONSTANTS: &'static [u64] = &round_constants::WIDTH_12;

    #[inline(always)]
    fn constants<V: GoldilocksVector>() -> &'static [[u64; 2]] {
        const { &constants::planes::<V, 12, _>(&round_constants::WIDTH_12) }
    }
}

/// Implements the permutation for one width.
macro_rules! permutation {
    ($width:literal, $name:literal, $words:ident, $sve:ident, $sve2:ident) => {
        impl Permutation for Poseidon2<$width> {
            const NAME: &'static str = $name;
            const WIDTH: usize = $width;
            const ABSORPTION: Absorption = Absorption::Overwrite;

            #[cfg(target_arch = "aarch64")]
            const KERNELS: crate::permutation::Kernels = {
                unsafe extern "C" {
                    fn $sve(tile: *mut u64, constants: *const [u64; 2]);
                    fn $sve2(tile: *mut u64, constants: *const [u64; 2]);
                }
                // The planes do not depend on the vector type, so those of plain Rust apply.
                type Vector =
                    proofmill_field::goldilocks::GoldilocksLanes<proofmill_field::goldilocks::U64x1>;
                crate::permutation::Kernels {
                    sve: $sve,
                    sve2: $sve2,
                    constants: &constants::planes::<Vector, $width, _>(&round_constants::$words),
                }
            };

            #[inline(always)]
            fn permute<V: GoldilocksVector>(state: &mut [V]) {
                permutation::permute_vectors::<Self, V, $width>(state, Self::constants::<V>());
            }
        }
    };
}

permutation!(8, "poseidon2-8", WIDTH_8, proofmill_poseidon2_8_sve1, proofmill_poseidon2_8_sve2);
permutation!(12, "poseidon2", WIDTH_12, proofmill_poseidon2_12_sve1, proofmill_poseidon2_12_sve2);

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    std::arch::global_asm!(include_str!("aarch64/width_8.s"), edition = const 1);
    std::arch::global_asm!(include_str!("aarch64/width_8.s"), edition = const 2);
    std::arch::global_asm!(include_str!("aarch64/width_12.s"), edition = const 1);
    std::arch::global_asm!(include_str!("aarch64/width_12.s"), edition = const 2);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Digest, Sponge, TreeHash, permute};
    use proofmill_field::{Algebra, Field, Invert, goldilocks::Goldilocks};
    use proofmill_testing::{for_each_goldilocks_level, rng};
    use rand::RngCore;

    /// The rounds as defined, with dense matrices.
    fn textbook<const WIDTH: usize>(state: &mut [Goldilocks], constants: &[u64])
    where
        Poseidon2<WIDTH>: Parameters,
    {
        let block = |row: usize, column: usize| linear::BLOCK[(4 + column % 4 - row % 4) % 4];
        let external = |row: usize, column: usize| {
            Goldilocks::from((block(row, column) * if row / 4 == column / 4 { 2 } else { 1 }) as u32)
        };
        let half = Goldilocks::from(2u32).invert_vartime().expect("not zero");
        let internal = |row: usize, column: usize| {
            let Entry { factor, halvings } = Poseidon2::<WIDTH>::DIAGONAL[row];
            let size = Goldilocks::from(factor.unsigned_abs()) * half.pow_vartime(&[halvings.into()]);
            let entry = if factor < 0 { -size } else { size };
            if row == column { entry + Goldilocks::ONE } else { Goldilocks::ONE }
        };
        let multiply = |state: &mut [Goldilocks], entry: &dyn Fn(usize, usize) -> Goldilocks| {
            let before = state.to_vec();
            for (row, element) in state.iter_mut().enumerate() {
                let products = before.iter().enumerate().map(|(column, x)| entry(row, column) * *x);
                *element = products.fold(Goldilocks::ZERO, |sum, product| sum + product);
            }
        };
        multiply(state, &external);
        let mut constants = constants.iter().map(|word| Goldilocks::new(*word));
        for round in 0..2 * HALF_FULL_ROUNDS + PARTIAL_ROUNDS {
            let is_partial = (HALF_FULL_ROUNDS..HALF_FULL_ROUNDS + PARTIAL_ROUNDS).contains(&round);
            for element in &mut state[..if is_partial { 1 } else { WIDTH }] {
                *element = (*element + constants.next().expect("a constant")).pow_vartime(&[7]);
            }
            if is_partial { multiply(state, &internal) } else { multiply(state, &external) }
        }
    }

    fn is_the_textbooks_permutation<const WIDTH: usize>(constants: &[u64])
    where
        Poseidon2<WIDTH>: Parameters,
    {
        let mut rng = rng(1);
        for _ in 0..1000 {
            let mut state: Vec<_> = (0..WIDTH).map(|_| Goldilocks::random(&mut rng)).collect();
            let mut slow = state.clone();
            permute::<Poseidon2<WIDTH>>(&mut state);
            textbook::<WIDTH>(&mut slow, constants);
            assert_eq!(state, slow);
        }
    }

    /// With random and with extreme constants, for numbers of states below, at and above those of tiles.
    fn instances_are_the_textbooks_permutation<const WIDTH: usize, const STATES: usize>()
    where
        Poseidon2<WIDTH>: Parameters,
    {
        let mut rng = rng(STATES as u64);
        let count = Instance::<WIDTH>::CONSTANTS;
        let random = (0..count).map(|_| Goldilocks::random(&mut rng)).collect();
        for constants in [random, vec![Goldilocks::ZERO; count], vec![-Goldilocks::ONE; count]] {
            let words: Vec<_> =
                constants.iter().map(|constant: &Goldilocks| constant.to_canonical()).collect();
            let states: [[u64; STATES]; WIDTH] =
                std::array::from_fn(|_| std::array::from_fn(|_| rng.next_u64()));
            for_each_goldilocks_level(|level| {
                let mut permuted = states;
                Instance::<WIDTH>::new(level, &constants).permute(permuted.as_flattened_mut());
                for state in 0..STATES {
                    let mut slow = states.map(|element| Goldilocks::new(element[state]));
                    textbook::<WIDTH>(&mut slow, &words);
                    let fast = permuted.map(|element| element[state]);
                    assert_eq!(
                        fast,
                        slow.map(Goldilocks::to_canonical),
                        "{level}, state {state} of {STATES}"
                    );
                }
            });
        }
    }

    /// With the constants of the type that has a tree's hash.
    fn an_instance_hashes_as_the_type<const WIDTH: usize>(constants: &[u64])
    where
        Poseidon2<WIDTH>: Parameters,
        Sponge<Poseidon2<WIDTH>>: TreeHash,
    {
        let constants: Vec<_> = constants.iter().map(|word| Goldilocks::new(*word)).collect();
        let mut rng = rng(2);
        for_each_goldilocks_level(|level| {
            let instance = Instance::<WIDTH>::new(level, &constants);
            for (rows, columns) in [(0, 3), (1, 0), (1, 9), (2, 4), (7, 8), (33, 1), (40, 17)] {
                let words: Vec<_> = (0..rows * columns).map(|_| rng.next_u64()).collect();
                let mut digests = vec![[Digest::default(); 2]; rows];
                let (found, expected) = digests.as_flattened_mut().split_at_mut(rows);
                instance.hash_rows(columns, found, |row, column| words[row * columns + column]);
                Sponge(Poseidon2::<WIDTH>).hash_rows(level, &words, columns, expected);
                assert_eq!(found, expected, "{level}, {rows} rows of {columns}");
                let children = digests.as_flattened();
                let mut parents = [vec![Digest::default(); rows], vec![Digest::default(); rows]];
                instance.hash_pairs(children, &mut parents[0]);
                Sponge(Poseidon2::<WIDTH>).hash_pairs(level, children, &mut parents[1]);
                assert_eq!(parents[0], parents[1], "{level}, {rows} nodes");
            }
        });
    }

    #[test]
    fn instances_hash_as_types() {
        an_instance_hashes_as_the_type::<8>(&round_constants::WIDTH_8);
        an_instance_hashes_as_the_type::<12>(&round_constants::WIDTH_12);
    }

    #[test]
    fn instances_are_the_textbooks_permutations() {
        instances_are_the_textbooks_permutation::<8, 1>();
        instances_are_the_textbooks_permutation::<8, 8>();
        instances_are_the_textbooks_permutation::<8, 37>();
        instances_are_the_textbooks_permutation::<12, 1>();
        instances_are_the_textbooks_permutation::<12, 7>();
        instances_are_the_textbooks_permutation::<12, 16>();
    }

    /// Many states, because a plane that becomes too wide shows in only a few of them.
    #[test]
    fn are_the_textbooks_permutations() {
        is_the_textbooks_permutation::<8>(&round_constants::WIDTH_8);
        is_the_textbooks_permutation::<12>(&round_constants::WIDTH_12);
    }
}
