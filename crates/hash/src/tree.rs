//! The hashes of Merkle trees, and their digests.

use proofmill_cpu::Level;
use proofmill_memory::Zeroed;
use std::fmt::Debug;

/// The words of a digest.
pub const DIGEST: usize = 4;

/// A node of a tree: 32 bytes as little-endian words, but not a row. [`TreeHash::is_digest`] says which are digests of a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Digest(pub [u64; DIGEST]);

// SAFETY: zero words are words.
unsafe impl Zeroed for Digest {}

impl Digest {
    /// The bytes of a digest.
    pub const BYTES: usize = 8 * DIGEST;

    /// The words as eight little-endian bytes each.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes.as_chunks_mut().0.iter_mut().zip(self.0).for_each(|(to, word)| *to = word.to_le_bytes());
        bytes
    }

    /// The digest of these bytes. [`TreeHash::digest`] also checks it, for bytes from others.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let mut words = [0; DIGEST];
        words.iter_mut().zip(bytes.as_chunks().0).for_each(|(to, word)| *to = u64::from_le_bytes(*word));
        Self(words)
    }

    /// Digests of these words.
    pub fn of_words(words: &[[u64; DIGEST]]) -> &[Self] {
        // SAFETY: a digest is `repr(transparent)` over its words.
        unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len()) }
    }

    /// Digests to be written to these words.
    pub fn of_words_mut(words: &mut [[u64; DIGEST]]) -> &mut [Self] {
        // SAFETY: as for `of_words`.
        unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len()) }
    }

    /// The words of digests.
    pub(crate) fn as_words(digests: &[Self]) -> &[u64] {
        // SAFETY: a digest is `repr(transparent)` over its words.
        unsafe { std::slice::from_raw_parts(digests.as_ptr().cast(), DIGEST * digests.len()) }
    }

    /// The bytes of digests, on the little-endian machines that the kernels are for.
    pub(crate) fn as_bytes(digests: &[Self]) -> &[[u8; Self::BYTES]] {
        // SAFETY: a digest is as many bytes, and all bytes are valid.
        unsafe { std::slice::from_raw_parts(digests.as_ptr().cast(), digests.len()) }
    }

    /// The bytes, mutable.
    pub(crate) fn as_bytes_mut(digests: &mut [Self]) -> &mut [[u8; Self::BYTES]] {
        // SAFETY: as for `as_bytes`; all bytes are a digest.
        unsafe { std::slice::from_raw_parts_mut(digests.as_mut_ptr().cast(), digests.len()) }
    }
}

/// A hash of rows of 64-bit words and a hash of two digests, both in bulk, on the calling thread.
///
/// Nodes have a separate type, so that a row of words is never taken for a node.
pub trait TreeHash: Debug + Send + Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// The bound below which words must be; `None` if all are valid. Checked by the code that decodes words.
    fn modulus(&self) -> Option<u64> {
        None
    }

    /// The bytes of an element of a digest: 1, 8 or 32.
    fn element_bytes(&self) -> usize {
        1
    }

    /// Whether all elements are below the modulus of their field.
    fn is_digest(&self, _: &Digest) -> bool {
        true
    }

    /// The digest of bytes, if [it is one](Self::is_digest).
    fn digest(&self, bytes: &[u8; Digest::BYTES]) -> Option<Digest> {
        Some(Digest::from_bytes(bytes)).filter(|digest| self.is_digest(digest))
    }

    /// Digests of `digests.len()` rows of `columns` words each, row-major.
    ///
    /// # Panics
    /// If the length of `rows` is not `columns * digests.len()`.
    fn hash_rows(&self, level: Level, rows: &[u64], columns: usize, digests: &mut [Digest]);

    /// The same for columns: word j of row i is `columns[j][i]`.
    ///
    /// # Panics
    /// If the length of a column is not `digests.len()`.
    fn hash_columns(&self, level: Level, columns: &[&[u64]], digests: &mut [Digest]);

    /// `parents[i] = H(children[2 i], children[2 i + 1])`.
    ///
    /// # Panics
    /// If the number of children is not twice that of parents. A hash may panic if they are not [its digests](Self::is_digest).
    fn hash_pairs(&self, level: Level, children: &[Digest], parents: &mut [Digest]);
}
