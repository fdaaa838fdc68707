//! Poseidon over Goldilocks, width 12: the instance of plonky2 and of Polygon Hermez.
//!
//! S-box x^7, 8 full and 22 partial rounds (Grassi, Khovratovich, Rechberger, Roy, Schofnegger, eprint 2019/458).

mod constants;
mod linear;
mod permutation;
mod round_constants;

pub use constants::{HALF_FULL_ROUNDS, PARTIAL_ROUNDS};
pub use linear::WIDTH;
pub use permutation::{FIRST_GROUP, LAYERS, full_round, partial_rounds};

use crate::{Absorption, Permutation};
use proofmill_field::goldilocks::GoldilocksVector;

/// The permutation of plonky2 and of Polygon Hermez.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Poseidon;

impl Permutation for Poseidon {
    const NAME: &'static str = "poseidon";
    const WIDTH: usize = WIDTH;
    const ABSORPTION: Absorption = Absorption::LinearHash;

    #[cfg(target_arch = "aarch64")]
    const KERNELS: crate::permutation::Kernels = aarch64::KERNELS;

    #[inline(always)]
    fn permute<V: GoldilocksVector>(state: &mut [V]) {
        match state.len() / WIDTH {
            1 => permutation::permute::<V, 1>(state.as_chunks_mut().0),
            2 => permutation::permute::<V, 2>(state.as_chunks_mut().0),
            _ => panic!("one or two vectors an element"),
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use super::constants::Rounds;
    use crate::permutation::Kernels;
    use proofmill_field::goldilocks::{GoldilocksLanes, U64x1};

    std::arch::global_asm!(include_str!("aarch64/sve.s"), edition = const 1);
    std::arch::global_asm!(include_str!("aarch64/sve.s"), edition = const 2);

    unsafe extern "C" {
        fn proofmill_poseidon_sve1(tile: *mut u64, constants: *const [u64; 2]);
        fn proofmill_poseidon_sve2(tile: *mut u64, constants: *const [u64; 2]);
    }

    /// The planes do not depend on the vector type, so those of plain Rust apply.
    pub(super) const KERNELS: Kernels = Kernels {
        sve: proofmill_poseidon_sve1,
        sve2: proofmill_poseidon_sve2,
        constants: &Rounds::<GoldilocksLanes<U64x1>>::PLANES,
    };
}

#[cfg(test)]
mod tests {
    use super::{
        HALF_FULL_ROUNDS, PARTIAL_ROUNDS, Poseidon, WIDTH, linear, round_constants::ROUND_CONSTANTS,
    };
    use crate::permute;
    use proofmill_field::{Algebra, Field, goldilocks::Goldilocks};
    use proofmill_testing::rng;

    /// The paper's definition, without the kernels' transformations.
    fn textbook(state: &mut [Goldilocks]) {
        for (round, constants) in ROUND_CONSTANTS.iter().enumerate() {
            let is_full = !(HALF_FULL_ROUNDS..HALF_FULL_ROUNDS + PARTIAL_ROUNDS).contains(&round);
            for (i, (element, constant)) in state.iter_mut().zip(constants).enumerate() {
                *element += Goldilocks::new(*constant);
                if is_full || i == 0 {
                    *element = element.pow_vartime(&[7]);
                }
            }
            let before = state.to_vec();
            for (row, element) in state.iter_mut().enumerate() {
                let entry = |column: usize| linear::CIRCULANT[(column + WIDTH - row) % WIDTH] as u32;
                let products =
                    before.iter().enumerate().map(|(column, x)| Goldilocks::from(entry(column)) * *x);
                *element = products.fold(Goldilocks::ZERO, |sum, product| sum + product);
            }
            state[0] += Goldilocks::from(linear::CORNER as u32) * before[0];
        }
    }

    /// Many states, because a plane that becomes too wide shows in only a few of them.
    #[test]
    fn is_the_textbooks_permutation() {
        let mut rng = rng(1);
        for _ in 0..2000 {
            let mut state: Vec<_> = (0..WIDTH).map(|_| Goldilocks::random(&mut rng)).collect();
            let mut slow = state.clone();
            permute::<Poseidon>(&mut state);
            textbook(&mut slow);
            assert_eq!(state, slow);
        }
    }
}
