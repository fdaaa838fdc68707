//! What a Merkle tree is made of.

use proofmill_cpu::Level;
use proofmill_memory::Zeroed;
use std::fmt::Debug;

/// A hash of rows of 64-bit words and a hash of two digests, both in bulk, on the calling thread.
///
/// Nodes have a type of their own, so that a row of words is never taken for one.
pub trait TreeHash: Copy + Debug + Eq + Send + Sync + 'static {
    /// A node of the tree.
    type Digest: Zeroed + Eq + Debug + Default + Send + Sync + 'static;

    /// Name as the command line spells it.
    const NAME: &'static str;

    /// What words must be below; `None` where any is good. Whoever decodes words checks them.
    const MODULUS: Option<u64>;

    /// Digests of `digests.len()` rows of `columns` words each, row-major.
    ///
    /// # Panics
    /// If `rows` has not `columns * digests.len()` words.
    fn hash_rows(level: Level, rows: &[u64], columns: usize, digests: &mut [Self::Digest]);

    /// The same of columns: word j of row i is `columns[j][i]`.
    ///
    /// # Panics
    /// If a column has not `digests.len()` words.
    fn hash_columns(level: Level, columns: &[&[u64]], digests: &mut [Self::Digest]);

    /// `parents[i] = H(children[2 i], children[2 i + 1])`.
    ///
    /// # Panics
    /// If there are not twice as many children as parents.
    fn hash_pairs(level: Level, children: &[Self::Digest], parents: &mut [Self::Digest]);

    /// The digest as bytes: of elements, eight little-endian bytes each.
    fn to_bytes(digest: &Self::Digest) -> [u8; 32];

    /// The digest of bytes; `None` if an element is not below [`MODULUS`](Self::MODULUS).
    fn from_bytes(bytes: &[u8; 32]) -> Option<Self::Digest>;
}
