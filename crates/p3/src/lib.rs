//! Proofmill's kernels behind the traits of [Plonky3](https://github.com/Plonky3/Plonky3) 0.9.0-rc.2, for programs over
//! Goldilocks.
//!
//! A program gets them by the types of its configuration, and its proofs stay the same, byte for byte:
//!
//! | instead of | in place of |
//! |---|---|
//! | [`Dft`] | `Radix2DitParallel<Goldilocks>` and the like |
//! | [`Poseidon2<8>`](Poseidon2), [`Poseidon2<12>`](Poseidon2) | `Poseidon2Goldilocks<8>`, `Poseidon2Goldilocks<12>` |
//! | [`KeccakF`] | `p3_keccak::KeccakF` |
//! | `[Goldilocks; LANES]`, `[u64; LANES]` in `MerkleTreeMmcs` | `<Goldilocks as Field>::Packing`, `[u64; VECTOR_LEN]` |
//!
//! The kernels are chosen when the program runs, so it need not be compiled for the CPU. [`LANES`] states are permuted at a
//! time where a tree is packed that wide.
//!
//! ```
//! use p3_fri::TwoAdicFriPcs;
//! use p3_goldilocks::Goldilocks;
//! use p3_merkle_tree::MerkleTreeMmcs;
//! use p3_symmetric::{PaddingFreeSponge, TruncatedPermutation};
//! use proofmill_p3::{Dft, LANES, Poseidon2};
//!
//! type Perm = Poseidon2<8>;
//! type Hash = PaddingFreeSponge<Perm, 8, 4, 4>;
//! type Compress = TruncatedPermutation<Perm, 2, 4, 8>;
//! type Mmcs = MerkleTreeMmcs<[Goldilocks; LANES], [Goldilocks; LANES], Hash, Compress, 2, 4>;
//! # type ChallengeMmcs = p3_commit::ExtensionMmcs<Goldilocks, p3_field::extension::BinomialExtensionField<Goldilocks, 2>, Mmcs>;
//! type Pcs = TwoAdicFriPcs<Goldilocks, Dft, Mmcs, ChallengeMmcs>;
//! ```

mod constraints;
mod dft;
mod keccak;
mod packed;
mod poseidon2;
mod prove;

pub use dft::Dft;
pub use keccak::KeccakF;
pub use poseidon2::{Poseidon2, default_goldilocks_poseidon2_8, default_goldilocks_poseidon2_12};
pub use prove::{prove, prove_with_preprocessed};

/// How many states a tree should permute at a time: a multiple of what any level has in its vectors.
pub const LANES: usize = 16;
