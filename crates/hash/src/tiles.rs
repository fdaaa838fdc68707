//! As many states side by side as a level has lanes, or a few times as many.
//!
//! A tile holds element i of its states in words `i lanes ..`; all of it is permuted at once.

#[cfg(target_arch = "aarch64")]
use crate::permutation::Kernels;
use crate::{MAX_WIDTH, Permutation};
use proofmill_field::{Algebra, Lanes, goldilocks::GoldilocksEngine};

/// The most vectors of an element.
const MAX_VECTORS: usize = 2;

const fn width<E: GoldilocksEngine>() -> usize {
    E::Chain::WIDTH
}

/// Vectors of an element in a tile; one where there are no vectors, since whoever has one state waits for it.
const fn vectors<E: GoldilocksEngine, P: Permutation>() -> usize {
    if width::<E>() == 1 { 1 } else { P::VECTORS }
}

/// States in a tile.
#[inline(always)]
pub(crate) fn lanes<E: GoldilocksEngine, P: Permutation>(engine: E) -> usize {
    #[cfg(target_arch = "aarch64")]
    if let Some(assembly) = engine.assembly() {
        return assembly.words();
    }
    let _ = engine;
    vectors::<E, P>() * width::<E>()
}

/// Permutes every state; the tile holds `P::WIDTH` times [`lanes`] words, any on entry, canonical elements after.
pub(crate) fn permute<E: GoldilocksEngine, P: Permutation>(engine: E, tile: &mut [u64]) {
    #[cfg(target_arch = "aarch64")]
    if let Some(assembly) = engine.assembly() {
        assert_eq!(tile.len(), P::WIDTH * assembly.words(), "a whole tile");
        let Kernels { sve, sve2, constants } = P::KERNELS;
        // SAFETY: the token is proof of the instructions; the kernel reads and writes WIDTH whole vectors, and reads its
        // constants.
        return unsafe { assembly.choose(sve, sve2)(tile.as_mut_ptr(), constants.as_ptr()) };
    }
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
