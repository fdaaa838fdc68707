//! The hashes of Merkle trees.

use proofmill_cpu::Level;
use proofmill_memory::Zeroed;
use std::fmt::Debug;

/// A hash of rows of 64-bit words and a hash of two digests, both in bulk, on the calling thread.
///
/// Nodes have a separate type, so that a row of words is never taken for a node.
pub trait TreeHash: Copy + Debug + Eq + Send + Sync + 'static {
    /// A node of the tree.
    type Digest: Zeroed + Eq + Debug + Default + Send + Sync + 'static;

    /// The name on the command line.
    const NAME: &'static str;

    /// The bound below which words must be; `None` if all are valid. Checked by the code that decodes words.
    const MODULUS: Option<u64>;

    /// The bytes of an element of a digest: 1, 8 or 32.
    const ELEMENT_BYTES: usize;

    /// Digests of `digests.len()` rows of `columns` words each, row-major.
    ///
    /// # Panics
    /// If the length of `rows` is not `columns * digests.len()`.
    fn hash_rows(level: Level, rows: &[u64], columns: usize, digests: &mut [Self::Digest]);

    /// The same for columns: word j of row i is `columns[j][i]`.
    ///
    /// # Panics
    /// If the length of a column is not `digests.len()`.
    fn hash_columns(level: Level, columns: &[&[u64]], digests: &mut [Self::Digest]);

    /// `parents[i] = H(children[2 i], children[2 i + 1])`.
    ///
    /// # Panics
    /// If the number of children is not twice that of parents.
    fn hash_pairs(level: Level, children: &[Self::Digest], parents: &mut [Self::Digest]);

    /// The digest as bytes; elements are [`ELEMENT_BYTES`](Self::ELEMENT_BYTES) little-endian bytes each.
    fn to_bytes(digest: &Self::Digest) -> [u8; 32];

    /// The digest from bytes; `None` if an element is not below its field's modulus.
    fn from_bytes(bytes: &[u8; 32]) -> Option<Self::Digest>;
}
