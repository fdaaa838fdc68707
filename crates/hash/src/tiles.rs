//! Tiles: as many states as a level has lanes, or a small multiple.
//!
//! A tile holds element i of its states in words `i lanes ..`; all states are permuted at once.

#[cfg(target_arch = "aarch64")]
use crate::permutation::Kernels;
use crate::{MAX_WIDTH, Permutation};
use proofmill_cpu::{Level, MAX_LANES, Portable};
#[cfg(target_arch = "aarch64")]
use proofmill_field::goldilocks::Assembly;
use proofmill_field::{Algebra, Lanes, dispatch_goldilocks, goldilocks::GoldilocksEngine};

/// The vectors of an element where there are vectors.
const VECTORS: usize = 2;

const fn width<E: GoldilocksEngine>() -> usize {
    E::Chain::WIDTH
}

/// The vectors of an element in a tile; one where there are no vectors, because callers with one state depend on its
/// latency.
const fn vectors<E: GoldilocksEngine>() -> usize {
    if width::<E>() == 1 { 1 } else { VECTORS }
}

/// The level for `count` states: plain Rust for a single one, where it has the lowest latency.
pub(crate) fn level_for(level: Level, count: usize) -> Level {
    if count == 1 { Level::Portable(Portable) } else { level }
}

/// The states in a tile.
#[inline(always)]
pub(crate) fn lanes<E: GoldilocksEngine>(engine: E) -> usize {
    #[cfg(target_arch = "aarch64")]
    if let Some(assembly) = engine.assembly() {
        return assembly.words();
    }
    let _ = engine;
    vectors::<E>() * width::<E>()
}

/// Permutes every state; the tile holds `P::WIDTH` times [`lanes`] words, any words before and canonical elements after.
pub(crate) fn permute<E: GoldilocksEngine, P: Permutation>(engine: E, tile: &mut [u64]) {
    #[cfg(target_arch = "aarch64")]
    if let Some(assembly) = engine.assembly() {
        return permute_by_assembly::<P>(assembly, tile, P::KERNELS.constants);
    }
    permute_vectors::<E, P>(
        engine,
        tile,
        #[inline(always)]
        |state| P::permute(state),
    );
}

/// Permutes any number n of states: `states[n i + k]` is element i of state k, any word before and canonical after.
///
/// # Panics
/// If the number of words is not a multiple of the permutation's width.
pub fn permute_states<P: Permutation>(level: Level, states: &mut [u64]) {
    assert!(states.len().is_multiple_of(P::WIDTH), "whole states");
    dispatch_goldilocks!(level_for(level, states.len() / P::WIDTH), engine => {
        permute_in_tiles::<_, P>(engine, states, |tile| permute::<_, P>(engine, tile));
    });
}

/// Copies states to tiles, where they are permuted, and back.
pub(crate) fn permute_in_tiles<E: GoldilocksEngine, P: Permutation>(
    engine: E,
    states: &mut [u64],
    permute: impl Fn(&mut [u64]),
) {
    let (lanes, count) = (lanes(engine), states.len() / P::WIDTH);
    // The states already are a tile, in its order of words.
    if count == lanes {
        return permute(states);
    }
    let mut tile = [0; MAX_WIDTH * MAX_LANES];
    let tile = &mut tile[..P::WIDTH * lanes];
    for first in (0..count).step_by(lanes) {
        let len = lanes.min(count - first);
        for (words, state) in tile.chunks_exact_mut(lanes).zip(states.chunks_exact(count)) {
            words[..len].copy_from_slice(&state[first..][..len]);
        }
        permute(tile);
        for (words, state) in tile.chunks_exact(lanes).zip(states.chunks_exact_mut(count)) {
            state[first..][..len].copy_from_slice(&words[..len]);
        }
    }
}

/// [`permute`] with the kernel's constants.
///
/// # Panics
/// If there are not as many constants as the permutation has.
#[cfg(target_arch = "aarch64")]
pub(crate) fn permute_by_assembly<P: Permutation>(
    assembly: Assembly,
    tile: &mut [u64],
    constants: &[[u64; 2]],
) {
    assert_eq!(tile.len(), P::WIDTH * assembly.words(), "a whole tile");
    let Kernels { sve, sve2, constants: own } = P::KERNELS;
    assert_eq!(constants.len(), own.len(), "as many constants");
    // SAFETY: the token proves the instructions; the kernel reads and writes WIDTH whole vectors, and reads its
    // constants.
    unsafe { assembly.choose(sve, sve2)(tile.as_mut_ptr(), constants.as_ptr()) };
}

/// Permutes a tile of vectors of the engine.
#[inline(always)]
pub(crate) fn permute_vectors<E: GoldilocksEngine, P: Permutation>(
    engine: E,
    tile: &mut [u64],
    permute: impl Fn(&mut [E::Chain]),
) {
    engine.run(
        #[inline(always)]
        || {
            let lanes = width::<E>();
            let mut state = [E::Chain::zero(engine); VECTORS * MAX_WIDTH];
            let state = &mut state[..P::WIDTH * const { vectors::<E>() }];
            for i in 0..state.len() {
                state[i] = E::Chain::load(engine, &tile[i * lanes..]);
            }
            permute(state);
            for i in 0..state.len() {
                state[i].store(&mut tile[i * lanes..]);
            }
        },
    );
}
