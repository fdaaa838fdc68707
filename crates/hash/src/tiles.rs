//! As many states side by side as a level has lanes, or a few times as many.
//!
//! A tile holds element i of its states in words `i lanes ..`; all of it is permuted at once.

use crate::{MAX_WIDTH, Permutation};
use proofmill_cpu::Portable;
use proofmill_field::{
    Algebra,
    goldilocks::{GoldilocksEngine, GoldilocksVector, Words},
};

/// A level's token as something that permutes tiles.
pub(crate) trait Tiles: Copy {
    /// States in a tile.
    fn lanes<P: Permutation>(self) -> usize;

    /// Permutes every state; the tile holds `P::WIDTH * lanes` words, any on entry, canonical elements after.
    fn permute<P: Permutation>(self, tile: &mut [u64]);
}

/// Levels whose vectors the compiler knows.
macro_rules! compiled {
    ($($token:ty),*) => { $(
        impl Tiles for $token {
            #[inline(always)]
            fn lanes<P: Permutation>(self) -> usize {
                vectors::<Self, P>() * width::<Self>()
            }

            #[inline(always)]
            fn permute<P: Permutation>(self, tile: &mut [u64]) {
                permute::<Self, P>(self, tile);
            }
        }
    )* };
}

compiled!(Portable);
#[cfg(target_arch = "x86_64")]
compiled!(proofmill_cpu::Avx2, proofmill_cpu::Avx512, proofmill_cpu::Avx512Ifma);
#[cfg(target_arch = "aarch64")]
compiled!(proofmill_cpu::Neon);

/// The most vectors of an element.
const MAX_VECTORS: usize = 2;

const fn width<E: GoldilocksEngine>() -> usize {
    <<E as GoldilocksEngine>::Chain as GoldilocksVector>::Words::WIDTH
}

/// Vectors of an element in a tile; one where there are no vectors, since whoever has one state waits for it.
const fn vectors<E: GoldilocksEngine, P: Permutation>() -> usize {
    if width::<E>() == 1 { 1 } else { P::VECTORS }
}

fn permute<E: GoldilocksEngine, P: Permutation>(engine: E, tile: &mut [u64]) {
    const { assert!(P::VECTORS <= MAX_VECTORS) };
    engine.run(
        #[inline(always)]
        || {
            let lanes = width::<E>();
            let mut state = [E::Chain::zero(engine); MAX_VECTORS * MAX_WIDTH];
            let state = &mut state[..P::WIDTH * const { vectors::<E, P>() }];
            for i in 0..state.len() {
                state[i] = E::Chain::load(engine, &tile[i * lanes..]);
            }
            P::permute(state);
            for i in 0..state.len() {
                state[i].store(&mut tile[i * lanes..]);
            }
        },
    );
}

#[cfg(target_arch = "aarch64")]
pub(crate) use sve::Kernels;

#[cfg(target_arch = "aarch64")]
mod sve {
    use super::*;
    use proofmill_cpu::{Sve, Sve2};

    /// Permutes the tile at the first pointer with the constants at the second.
    type Kernel = unsafe extern "C" fn(*mut u64, *const [u64; 2]);

    /// A permutation in assembly for vectors of any length, generated from its formula.
    #[derive(Clone, Copy, Debug)]
    pub struct Kernels {
        pub(crate) sve: Kernel,
        pub(crate) sve2: Kernel,
        /// Planes of the constants, in the order of use.
        pub(crate) constants: &'static [[u64; 2]],
    }

    impl Tiles for Sve {
        #[inline(always)]
        fn lanes<P: Permutation>(self) -> usize {
            self.words()
        }

        #[inline(always)]
        fn permute<P: Permutation>(self, tile: &mut [u64]) {
            assert_eq!(tile.len(), P::WIDTH * self.lanes::<P>(), "a whole tile");
            // SAFETY: `self` proves SVE; the kernel reads and writes WIDTH whole vectors, and reads its constants.
            unsafe { (P::KERNELS.sve)(tile.as_mut_ptr(), P::KERNELS.constants.as_ptr()) }
        }
    }

    impl Tiles for Sve2 {
        #[inline(always)]
        fn lanes<P: Permutation>(self) -> usize {
            self.sve().words()
        }

        #[inline(always)]
        fn permute<P: Permutation>(self, tile: &mut [u64]) {
            assert_eq!(tile.len(), P::WIDTH * self.lanes::<P>(), "a whole tile");
            // SAFETY: as above, with SVE2.
            unsafe { (P::KERNELS.sve2)(tile.as_mut_ptr(), P::KERNELS.constants.as_ptr()) }
        }
    }
}
