//! Poseidon over Goldilocks, width 12: the instance of plonky2 and of Polygon Hermez.
//!
//! S-box x^7, 8 full and 22 partial rounds (Grassi, Khovratovich, Rechberger, Roy, Schofnegger, eprint 2019/458).

mod constants;
mod linear;
mod permutation;
mod round_constants;

pub use constants::{HALF_FULL_ROUNDS, PARTIAL_ROUNDS};
pub use linear::WIDTH;
pub use permutation::{LAYERS, State};

use crate::Permutation;
use proofmill_field::goldilocks::GoldilocksVector;

/// The permutation of plonky2 and of Polygon Hermez.
#[derive(Clone, Copy, Debug, Default)]
pub struct Poseidon;

impl Permutation for Poseidon {
    const NAME: &'static str = "poseidon";
    const WIDTH: usize = WIDTH;

    #[cfg(target_arch = "aarch64")]
    const KERNELS: crate::tiles::Kernels = aarch64::KERNELS;

    #[inline(always)]
    fn permute<V: GoldilocksVector>(state: &mut [V]) {
        permutation::permute(state.try_into().expect("twelve elements"));
    }
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use super::{WIDTH, constants::Rounds};
    use crate::tiles::Kernels;
    use proofmill_field::goldilocks::{Lanes, Word};

    std::arch::global_asm!(include_str!("aarch64/sve.s"), include_str!("aarch64/sve2.s"));

    unsafe extern "C" {
        fn proofmill_poseidon_sve(tile: *mut u64, constants: *const [u64; 2]);
        fn proofmill_poseidon_sve2(tile: *mut u64, constants: *const [u64; 2]);
    }

    /// The planes do not depend on the words: those of plain Rust serve.
    pub(super) const KERNELS: Kernels = Kernels {
        sve: proofmill_poseidon_sve,
        sve2: proofmill_poseidon_sve2,
        constants: &Rounds::<Lanes<Word>>::PLANES,
    };
}
