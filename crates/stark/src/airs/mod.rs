//! AIRs that are ready for use, and examples of how to write one.
//!
//! Each AIR is a statement with public values, and has a function `trace` that makes an [`Execution`] from the statement's secrets. No
//! constraint has a degree above 3, so that the quotient has two chunks, and proofs work at every blowup. [`Workload`] names the AIRs for
//! the command line.
//!
//! | AIR | a row is | columns | constraints |
//! |---|---|---:|---:|
//! | [`Fibonacci`] | a pair | 2 | 5 |
//! | [`Poseidon2<8>`](Poseidon2) | a permutation | 172 | 188 |
//! | [`Poseidon2<12>`](Poseidon2) | a permutation | 236 | 260 |
//! | [`MerkleTree`] | a node of a path | 178 | 184 |
//! | [`KeccakF`] | a round | 2300 | 2775 |
//! | [`Blake3`] | a compression | 8032 | 8284 |

mod bits;
mod blake3;
mod execution;
mod fibonacci;
mod keccak_f;
mod merkle_tree;
mod permutation;
mod poseidon2;
mod workload;

pub use blake3::Blake3;
pub use execution::Execution;
pub use fibonacci::Fibonacci;
pub use keccak_f::KeccakF;
pub use merkle_tree::{MerklePath, MerkleTree};
pub use poseidon2::Poseidon2;
pub use workload::{Example, UnknownWorkload, Workload};
