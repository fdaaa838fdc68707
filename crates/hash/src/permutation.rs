//! What a permutation of field elements is.

use proofmill_cpu::Portable;
use proofmill_field::Lanes;
use proofmill_field::goldilocks::{Goldilocks, GoldilocksLanes, GoldilocksVector, U64x1};
use std::fmt::Debug;

/// The widest state of any permutation here, in elements.
pub const MAX_WIDTH: usize = 12;

/// How a row is absorbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absorption {
    /// Polygon's `linear_hash`: a row of at most four elements is its own digest, zeros behind it; of a longer one each block
    /// has zeros behind it, and the first four elements of the state before become the last four.
    LinearHash,
    /// Plonky3's `PaddingFreeSponge`: each block overwrites the state's first elements, and as many as it has.
    Overwrite,
}

/// A permutation in assembly for vectors of any length, generated from its formula: permutes the tile at the first pointer with
/// the constants at the second.
#[cfg(target_arch = "aarch64")]
type Kernel = unsafe extern "C" fn(*mut u64, *const [u64; 2]);

/// A permutation's kernels in assembly.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    pub(crate) sve: Kernel,
    pub(crate) sve2: Kernel,
    /// Planes of the constants, in the order of use.
    pub(crate) constants: &'static [[u64; 2]],
}

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
    const KERNELS: Kernels;

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
    let mut lanes = [GoldilocksLanes::new(U64x1::default()); MAX_WIDTH];
    let lanes = &mut lanes[..P::WIDTH];
    for (lane, element) in lanes.iter_mut().zip(state.iter()) {
        *lane = GoldilocksLanes::load(Portable, &[element.to_canonical()]);
    }
    P::permute(lanes);
    for (lane, element) in lanes.iter().zip(state) {
        let mut word = [0];
        lane.store(&mut word);
        *element = Goldilocks::new(word[0]);
    }
}
