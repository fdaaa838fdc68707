//! Proofmill's kernels behind the traits of [Plonky3](https://github.com/Plonky3/Plonky3) 0.9.0-rc.2, for programs over
//! Goldilocks.
//!
//! A program gets the kernels by the types of its configuration, and our engine by functions. Its proofs stay the same, byte for byte:
//!
//! | this crate | in place of |
//! |---|---|
//! | [`Dft`] | `Radix2DitParallel<Goldilocks>` and the like |
//! | [`Poseidon2<8>`](Poseidon2), [`Poseidon2<12>`](Poseidon2) | `Poseidon2Goldilocks<8>`, `Poseidon2Goldilocks<12>`, and the sponges and compression functions of trees |
//! | [`KeccakF`] | `p3_keccak::KeccakF`, and the sponges and compression functions of trees |
//! | [`FriPcs`] | `TwoAdicFriPcs`, and its openings and folding |
//! | [`prove`] | `p3_uni_stark::prove` |
//! | [`prove_batch`] | `p3_batch_stark::prove_batch`: several tables with lookups |
//! | [`verify`], [`verify_batch`] | `p3_uni_stark::verify`, `p3_batch_stark::verify_batch` |
//!
//! The kernels are chosen when the program runs, so the program need not be compiled for the CPU.
//!
//! ```
//! use p3_goldilocks::Goldilocks;
//! use p3_merkle_tree::MerkleTreeMmcs;
//! use proofmill_p3::{FriPcs, Poseidon2};
//!
//! type Mmcs = MerkleTreeMmcs<Goldilocks, Goldilocks, Poseidon2<8>, Poseidon2<8>, 2, 4>;
//! # type ChallengeMmcs = p3_commit::ExtensionMmcs<Goldilocks, p3_field::extension::BinomialExtensionField<Goldilocks, 2>, Mmcs>;
//! type Pcs = FriPcs<Mmcs, ChallengeMmcs>;
//! ```

mod constraints;
mod dft;
mod elements;
mod engine;
mod fri;
mod keccak;
mod poseidon2;
mod proof;
mod prove;
mod verify;

pub use dft::Dft;
pub use engine::{batch_key, constraints, preprocessed_key, tables, tables_key};
pub use fri::FriPcs;
pub use keccak::KeccakF;
pub use poseidon2::{Poseidon2, default_goldilocks_poseidon2_8, default_goldilocks_poseidon2_12};
pub use proof::{
    Challenge, Configuration, Word, batch_from_plonky3, batch_to_plonky3, from_plonky3, to_plonky3,
};
pub use prove::{prove, prove_batch};
pub use verify::{verify, verify_batch, verify_with_preprocessed};

/// The number of elements of each row, where there is one row for each digest.
fn columns<T, D>(rows: &[T], digests: &[D]) -> usize {
    if digests.is_empty() {
        return 0;
    }
    assert!(rows.len().is_multiple_of(digests.len()), "equally many elements for each digest");
    rows.len() / digests.len()
}

/// The number of rows that trees should hash at a time: a multiple of the number of lanes of any level's vectors.
const LANES: usize = 16;
