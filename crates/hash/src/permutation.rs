//! What a permutation of field elements is.

use crate::sponge::Absorption;
use proofmill_cpu::Portable;
use proofmill_field::goldilocks::{Goldilocks, GoldilocksVector, Lanes, Word};
use std::fmt::Debug;

/// The widest state of any permutation here, in elements.
pub const MAX_WIDTH: usize = 12;

/// A permutation of states of Goldilocks elements.
pub trait Permutation: Copy + Debug + Eq + Send + Sync + 'static {
    /// Name as the command line spells it.
    const NAME: &'static str;

    /// Elements of the state: 8 or 12.
    const WIDTH: usize;

    /// How rows are absorbed.
    const ABSORPTION: Absorption;

    /// Vectors of each element that [`permute`](Self::permute) does best to take: more than one hides the latency of rounds
    /// that have little to do side by side.
    const VECTORS: usize = 1;

    /// Kernels that are not compiled from [`permute`](Self::permute) by the compiler.
    #[cfg(target_arch = "aarch64")]
    const KERNELS: crate::tiles::Kernels;

    /// Permutes as many states as there are lanes in n vectors, n being one or [`VECTORS`](Self::VECTORS): `state[n i ..][..n]`
    /// holds element i of each.
    ///
    /// # Panics
    /// If `state` does not hold [`WIDTH`](Self::WIDTH) times n vectors.
    fn permute<V: GoldilocksVector>(state: &mut [V]);
}

/// Permutes one state, in plain Rust.
///
/// # Panics
/// If `state` does not hold [`Permutation::WIDTH`] elements.
pub fn permute<P: Permutation>(state: &mut [Goldilocks]) {
    let mut lanes = [Lanes::new(Word::default()); MAX_WIDTH];
    let lanes = &mut lanes[..P::WIDTH];
    for (lane, element) in lanes.iter_mut().zip(state.iter()) {
        *lane = Lanes::load(Portable, &[element.to_canonical()]);
    }
    P::permute(lanes);
    for (lane, element) in lanes.iter().zip(state) {
        let mut word = [0];
        lane.store(&mut word);
        *element = Goldilocks::new(word[0]);
    }
}
