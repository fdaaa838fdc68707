//! The interface of permutations of field elements.

use proofmill_cpu::Portable;
use proofmill_field::Lanes;
use proofmill_field::goldilocks::{Goldilocks, GoldilocksLanes, GoldilocksVector, U64x1};
use std::fmt::Debug;

/// The widest state of all permutations, in elements.
pub const MAX_WIDTH: usize = 12;

/// The rule by which a row is absorbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absorption {
    /// Polygon's `linear_hash`: a row of at most four elements is its own digest, padded with zeros; in a longer row, each
    /// block is padded with zeros, and the first four elements of the previous state become the last four.
    LinearHash,
    /// Plonky3's `PaddingFreeSponge`: each block overwrites as many of the state's first elements as it has.
    Overwrite,
}

/// An assembly permutation for vectors of any length, generated from its formula: permutes the tile at the first pointer
/// with the constants at the second.
#[cfg(target_arch = "aarch64")]
type Kernel = unsafe extern "C" fn(*mut u64, *const [u64; 2]);

/// The assembly kernels of a permutation.
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
    /// The name on the command line.
    const NAME: &'static str;

    /// Elements of the state: 8 or 12.
    const WIDTH: usize;

    /// The rule by which rows are absorbed.
    const ABSORPTION: Absorption;

    /// Kernels that are not compiled from [`permute`](Self::permute).
    #[cfg(target_arch = "aarch64")]
    const KERNELS: Kernels;

    /// Permutes as many states as n vectors have lanes, where n is 1 or 2: `state[n i ..][..n]` holds element i of every
    /// state. Two vectors hide the latency of partial rounds, which have one S-box for each.
    ///
    /// # Panics
    /// If the length of `state` is not [`WIDTH`](Self::WIDTH) times n vectors.
    fn permute<V: GoldilocksVector>(state: &mut [V]);
}

/// Permutes one state, in plain Rust.
///
/// # Panics
/// If the length of `state` is not [`Permutation::WIDTH`].
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
