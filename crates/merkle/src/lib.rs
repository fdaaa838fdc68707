//! Merkle trees over rows of 64-bit words, with any [`TreeHash`]: build, open, check.
//!
//! The number of leaves is a power of two; a leaf is the digest of a row, and all rows have the same length. A node is the hash
//! of its two children. Layer 0 is the leaves, the last layer the root.
//!
//! * [`Tree::build`] keeps every node, [`root`] none; [`write_tree`] writes rows and nodes to a file that [`TreeFile`] maps.
//!   Rows come from [`Leaves`]: a slice, columns, or a mapped file, which may be larger than memory.
//! * [`Opening`] proves rows of a tree to a verifier that knows its root (or one of its layers, a *cap*). [`Opening::check`]
//!   and the decoders are safe for hostile input.
//!
//! * [`ssz`] has the trees of Ethereum's SSZ, over chunks of 32 bytes padded with zeros up to a limit.
//!
//! Work runs on the ambient rayon pool, in tasks of whole subtrees. Digests do not depend on the number of threads.
//!
//! ```
//! use proofmill_cpu::Level;
//! use proofmill_merkle::{Hash, RowMajor, Tree};
//!
//! # fn main() -> Result<(), proofmill_merkle::MerkleError> {
//! let (level, hash) = (Level::best(), Hash::Poseidon2.tree_hash());
//! let words: Vec<u64> = (0..32).collect();
//! let rows = RowMajor::new(&words, 4)?;
//! let tree = Tree::build(level, hash, &rows)?;
//! let opening = tree.open(&rows, &[5], 1)?;
//! opening.check(level, hash, 8, 4, &[tree.root()])?;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod build;
mod document;
mod error;
mod file;
mod hash;
mod leaves;
mod opening;
pub mod ssz;
mod tree;

pub use build::root;
pub use document::{OpeningDocument, decimal};
pub use error::MerkleError;
pub use file::{TreeFile, write_tree};
pub use hash::{Hash, digest_from_hex, digest_to_hex};
pub use leaves::{ColumnMajor, Leaves, RowMajor};
pub use opening::Opening;
pub use proofmill_hash::{Digest, TreeHash};
pub use tree::{Tree, siblings_of};
