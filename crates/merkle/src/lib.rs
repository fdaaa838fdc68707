//! Merkle trees over rows of 64-bit words, by any [`TreeHash`]: build, open, check.
//!
//! A tree has a power of two of leaves, the digests of rows of one length; a node is the hash of its two children. Layer 0
//! is the leaves, the last layer the root.
//!
//! * [`Tree::build`] keeps every node, [`root`] none, [`write_tree`] puts rows and nodes into a file that [`TreeFile`]
//!   maps. Rows come from [`Leaves`]: a slice, columns, a mapped file larger than memory.
//! * [`Opening`] shows rows of a tree to whoever knows its root (or a layer of it, a *cap*); [`Opening::check`] and the
//!   decoders take what an attacker wrote.
//!
//! * [`ssz`] has the trees of Ethereum's SSZ, over chunks of 32 bytes with zeros up to a limit.
//!
//! Threads are those of the ambient rayon pool; each takes whole subtrees. The digests do not depend on their number.
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
pub use document::OpeningDocument;
pub use error::MerkleError;
pub use file::{TreeFile, write_tree};
pub use hash::{Hash, digest_from_hex, digest_to_hex};
pub use leaves::{ColumnMajor, Leaves, RowMajor};
pub use opening::Opening;
#[doc(hidden)]
pub use proofmill_hash;
pub use proofmill_hash::TreeHash;
pub use tree::Tree;
