//! Merkle trees over rows of 64-bit words: roots, openings, tree files; and the trees of Ethereum's SSZ.
//!
//! ```
//! use proofmill::merkle::{Hash, Opening, Rows, Tree};
//!
//! # fn main() -> proofmill::Result<()> {
//! let words: Vec<u64> = (0..64).collect();
//! let rows = Rows::new(&words, 4)?; // 16 rows of 4 words
//! let tree = Tree::build(Hash::Poseidon2, &rows)?;
//! let opening = tree.open(&rows, &[3, 11])?.to_json();
//!
//! // A verifier knows the root and the tree's shape.
//! let opening = Opening::from_json(opening)?;
//! opening.verify(16, 4, &tree.root())?;
//! assert_eq!(opening.row(1), [44, 45, 46, 47]);
//! # Ok(())
//! # }
//! ```

use crate::{Error, Result, machine::current};
use proofmill_field::goldilocks::{Goldilocks, MODULUS};
use proofmill_files::{FileName, MappedFile, OutputFile, read_file_at_most, write_text};
pub use proofmill_merkle::Hash;
use proofmill_merkle::{
    Leaves, MerkleError, OpeningDocument, RowMajor, digest_from_hex, digest_to_hex, write_tree,
};
use std::{fmt, path::Path};

/// Rows of 64-bit words, all of the same length, whose number is a power of two: in memory, or a file of little-endian words.
#[derive(Debug)]
pub struct Rows<'a> {
    source: Source<'a>,
    columns: usize,
    name: Option<FileName>,
}

#[derive(Debug)]
enum Source<'a> {
    Words(&'a [u64]),
    File(MappedFile),
}

impl<'a> Rows<'a> {
    /// Rows of `columns` words, stored contiguously.
    ///
    /// # Errors
    /// [`Error::Malformed`] if `columns` does not divide the number of words, or the number of rows is not a power of two.
    pub fn new(words: &'a [u64], columns: usize) -> Result<Self> {
        Self { source: Source::Words(words), columns, name: None }.checked()
    }

    /// The rows of a file, which may be larger than memory.
    ///
    /// # Errors
    /// [`Error::Io`], and as [`Self::new`].
    pub fn open(path: impl AsRef<Path>, columns: usize) -> Result<Self> {
        let path = path.as_ref();
        let file = MappedFile::open(path).map_err(|error| Error::io(path, error))?;
        Self { source: Source::File(file), columns, name: Some(FileName::new(path)) }.checked()
    }

    fn checked(self) -> Result<Self> {
        self.leaves()?;
        Ok(self)
    }

    fn leaves(&self) -> Result<RowMajor<'_>> {
        let rows = match &self.source {
            Source::Words(words) => RowMajor::new(words, self.columns),
            Source::File(file) => RowMajor::of_file(file, self.columns),
        };
        rows.map_err(|error| self.error(error))
    }

    fn error(&self, error: MerkleError) -> Error {
        Error::merkle(self.name.as_ref(), error)
    }

    pub(crate) fn name(&self) -> Option<&FileName> {
        self.name.as_ref()
    }

    fn words(&self) -> &[u64] {
        match &self.source {
            Source::Words(words) => words,
            Source::File(file) => file.words(),
        }
    }

    /// Copies the words from index `first` on as elements; pages of a file are released.
    pub(crate) fn read(&self, first: usize, to: &mut [Goldilocks]) -> Result<(), MerkleError> {
        /// The words that are copied before they are released.
        const PIECE: usize = 1 << 17;
        for (first, to) in (first..).step_by(PIECE).zip(to.chunks_mut(PIECE)) {
            let last = first + to.len();
            to.copy_from_slice(self.checked_elements(first, &self.words()[first..last])?);
            if let Source::File(file) = &self.source {
                file.release(Goldilocks::BYTES * first..Goldilocks::BYTES * last);
            }
        }
        Ok(())
    }

    /// Words from index `first` on as elements.
    fn checked_elements<'w>(&self, first: usize, words: &'w [u64]) -> Result<&'w [Goldilocks], MerkleError> {
        Goldilocks::from_words(words).map_err(|index| {
            let at = first + index;
            let (row, column) = ((at / self.columns) as u64, (at % self.columns) as u64);
            MerkleError::NotCanonical { row, column, value: words[index], modulus: MODULUS }
        })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.words().len() / self.columns
    }

    /// The number of words of a row.
    pub fn columns(&self) -> usize {
        self.columns
    }
}

/// The root of a tree, or another of its nodes, with its hash. It is displayed as 64 hexadecimal digits: bytes in order, or
/// four elements in order, each with its most significant digit first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    hash: Hash,
    digest: proofmill_merkle::Digest,
}

impl Digest {
    /// Parses the displayed form; a prefix `0x` and capital letters are accepted.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_hex(hash: Hash, text: &str) -> Result<Self> {
        let digits = text.to_ascii_lowercase();
        let digits = digits.strip_prefix("0x").unwrap_or(&digits);
        let digest = digest_from_hex(hash.tree_hash(), digits, "digest").map_err(|error| match error {
            MerkleError::Digest { problem, .. } => Error::malformed(None, problem),
            error => Error::merkle(None, error),
        })?;
        Ok(Self { hash, digest })
    }

    /// The digest in 32 bytes; for a hash over a field, little-endian elements: four of Goldilocks, or one.
    ///
    /// # Errors
    /// [`Error::Malformed`] for an element that is not below the modulus.
    pub fn from_bytes(hash: Hash, bytes: [u8; 32]) -> Result<Self> {
        let digest = hash.tree_hash().digest(&bytes);
        let digest = digest.ok_or_else(|| Error::malformed(None, "expected elements below the modulus"))?;
        Ok(Self { hash, digest })
    }

    /// The 32 bytes.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.digest.to_bytes()
    }

    /// The hash.
    pub fn hash(&self) -> Hash {
        self.hash
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&digest_to_hex(self.hash.tree_hash(), &self.digest))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{self}", self.hash)
    }
}

/// The root of the tree over these rows, without keeping its nodes. Runs on all threads.
///
/// # Errors
/// [`Error::Malformed`] for a word that is not below the hash's modulus, with its position.
pub fn root(hash: Hash, rows: &Rows<'_>) -> Result<Digest> {
    let leaves = rows.leaves()?;
    let root = proofmill_merkle::root(current().level, hash.tree_hash(), &leaves);
    Ok(Digest { hash, digest: root.map_err(|error| rows.error(error))? })
}

/// Digests of rows, on the calling thread.
pub(crate) fn digests(hash: Hash, words: &[u64], columns: usize) -> Vec<[u8; 32]> {
    let (hash, mut digests) = (hash.tree_hash(), vec![Default::default(); words.len() / columns]);
    let are_words = |modulus| words.iter().all(|word| *word < modulus);
    assert!(hash.modulus().is_none_or(are_words), "words below the modulus");
    hash.hash_rows(current().level, words, columns, &mut digests);
    digests.into_iter().map(proofmill_merkle::Digest::to_bytes).collect()
}

/// A tree in memory: all nodes, without the rows.
pub struct Tree {
    hash: Hash,
    tree: proofmill_merkle::Tree,
}

impl Tree {
    /// Builds the tree over these rows. Runs on all threads.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a word that is not below the hash's modulus, with its position.
    pub fn build(hash: Hash, rows: &Rows<'_>) -> Result<Self> {
        let leaves = rows.leaves()?;
        let tree = proofmill_merkle::Tree::build(current().level, hash.tree_hash(), &leaves);
        Ok(Self { hash, tree: tree.map_err(|error| rows.error(error))? })
    }

    /// The root.
    pub fn root(&self) -> Digest {
        Digest { hash: self.hash, digest: self.tree.root() }
    }

    /// Opens the rows of ascending indices. `rows` must be the rows that the tree was built from.
    ///
    /// # Errors
    /// [`Error::Malformed`] for indices that are out of range, not ascending, or empty; [`Error::Mismatch`] if the number of
    /// rows is not the tree's.
    pub fn open(&self, rows: &Rows<'_>, indices: &[usize]) -> Result<Opening> {
        let leaves = rows.leaves()?;
        if leaves.rows() != self.tree.rows() {
            let (expected, found) = (self.tree.rows() as u64, leaves.rows() as u64);
            return Err(rows.error(MerkleError::Shape { what: "rows", expected, found }));
        }
        let opening = self.tree.open(&leaves, indices, 1).map_err(|error| rows.error(error))?;
        Ok(Opening { hash: self.hash, opening, name: None })
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tree of {} rows with root {:?}", self.tree.rows(), self.root())
    }
}

/// A mapped file of rows and their tree, which may be larger than memory.
#[derive(Debug)]
pub struct TreeFile {
    file: proofmill_merkle::TreeFile,
    name: FileName,
}

impl TreeFile {
    /// Writes a file of rows and their tree, completely or not at all, and opens it. Each row is read once.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for a word that is not below the hash's modulus.
    pub fn build(path: impl AsRef<Path>, hash: Hash, rows: &Rows<'_>) -> Result<Self> {
        let path = path.as_ref();
        let leaves = rows.leaves()?;
        let mut output = OutputFile::create(path).map_err(|error| Error::io(path, error))?;
        let written = write_tree(current().level, hash.tree_hash(), &leaves, &mut output);
        written.map_err(|error| match error {
            MerkleError::Io(error) => Error::io(path, error),
            error => rows.error(error),
        })?;
        output.finish().map_err(|error| Error::io(path, error))?;
        Self::open(path)
    }

    /// Opens a tree file.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for any other file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let name = FileName::new(path.as_ref());
        let file = proofmill_merkle::TreeFile::open(path.as_ref());
        Ok(Self { file: file.map_err(|error| Error::merkle(Some(&name), error))?, name })
    }

    /// The hash.
    pub fn hash(&self) -> Hash {
        self.file.hash()
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.file.rows()
    }

    /// The number of words of a row.
    pub fn columns(&self) -> usize {
        self.file.columns()
    }

    /// The root.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the file's root is not a digest.
    pub fn root(&self) -> Result<Digest> {
        let digest = self.file.root().map_err(|error| self.error(error))?;
        Ok(Digest { hash: self.hash(), digest })
    }

    /// Opens the rows of ascending indices.
    ///
    /// # Errors
    /// [`Error::Malformed`] for indices that are out of range, not ascending, or empty, and for a damaged file.
    pub fn open_rows(&self, indices: &[u64]) -> Result<Opening> {
        let opening = self.file.open_rows(current().level, indices).map_err(|error| self.error(error))?;
        Ok(Opening { hash: self.hash(), opening, name: None })
    }

    fn error(&self, error: MerkleError) -> Error {
        Error::merkle(Some(&self.name), error)
    }
}

/// Rows of a tree, with the nodes that authenticate them against the root.
pub struct Opening {
    hash: Hash,
    opening: proofmill_merkle::Opening,
    name: Option<FileName>,
}

/// The most bytes of an opening's file: millions of rows. Memory is a small multiple of it.
const LONGEST_OPENING: u64 = 1 << 28;

impl Opening {
    /// Reads an opening's JSON file.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Malformed`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = read_file_at_most(path, LONGEST_OPENING).map_err(|error| Error::io(path, error))?;
        Self::read(&text, Some(FileName::new(path)))
    }

    /// Parses an opening's JSON.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        Self::read(text.as_ref(), None)
    }

    fn read(text: &[u8], name: Option<FileName>) -> Result<Self> {
        let malformed = |error| Error::merkle(name.as_ref(), error);
        let document = OpeningDocument::parse(text).map_err(malformed)?;
        let hash = document.hash().map_err(malformed)?;
        let opening = document.opening(hash).map_err(malformed)?;
        Ok(Self { hash, opening, name })
    }

    /// The text of an opening's JSON file.
    pub fn to_json(&self) -> String {
        OpeningDocument::new(self.hash, &self.opening).text()
    }

    /// Writes a JSON file, completely or not at all.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_text(path.as_ref(), &self.to_json())?)
    }

    /// Verifies that the rows are in the tree with this root, of `rows` rows with `columns` words each. The caller must know
    /// these numbers from a trusted source, not from the opening: with other numbers the same bytes can be rows of another tree
    /// with this root.
    ///
    /// # Errors
    /// [`Error::Rejected`] if the rows do not lead to the root; [`Error::Mismatch`] for an opening of another shape or hash,
    /// [`Error::Malformed`] for a malformed one.
    pub fn verify(&self, rows: u64, columns: u64, root: &Digest) -> Result<()> {
        let failure = |error| Error::merkle(self.name.as_ref(), error);
        if root.hash != self.hash {
            let (expected, found) = (root.hash.name(), self.hash.name());
            return Err(failure(MerkleError::WrongHash { expected, found }));
        }
        let hash = self.hash.tree_hash();
        self.opening.check(current().level, hash, rows, columns, &[root.digest]).map_err(failure)
    }

    /// The hash.
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// The number of rows of the tree that the opening claims.
    pub fn rows(&self) -> u64 {
        self.opening.rows
    }

    /// The number of words of a row that the opening claims.
    pub fn columns(&self) -> u64 {
        self.opening.columns
    }

    /// The indices of the opened rows.
    pub fn indices(&self) -> &[u64] {
        &self.opening.indices
    }

    /// The number of digests that lead from the rows to the root.
    pub fn siblings(&self) -> usize {
        self.opening.siblings.len()
    }

    /// The words of the row with index [`Self::indices`]`[position]`.
    ///
    /// # Panics
    /// If the opening has too few values, which is possible only if [`Self::verify`] did not succeed; or if `position` is out
    /// of range.
    pub fn row(&self, position: usize) -> &[u64] {
        let columns = self.columns() as usize;
        &self.opening.values[position * columns..][..columns]
    }
}

impl fmt::Debug for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Opening of rows {:?} of {}", self.indices(), self.rows())
    }
}

/// The trees of Ethereum's SSZ, over chunks of 32 bytes padded with zeros up to a limit.
///
/// ```
/// use proofmill::merkle::ssz::SszTree;
///
/// # fn main() -> proofmill::Result<()> {
/// let mut tree = SszTree::new(vec![[1; 32], [2; 32], [3; 32]], 8)?;
/// let proof = tree.prove(&[8 + 1])?;
/// proof.verify(&tree.root())?;
/// tree.replace(&[(1, [4; 32])])?;
/// assert!(matches!(proof.verify(&tree.root()), Err(proofmill::Error::Rejected(_))));
/// # Ok(())
/// # }
/// ```
pub mod ssz {
    use crate::{Error, Result, machine::current};
    pub use proofmill_merkle::ssz::{Chunk, depth_of, mix_in_length, zero_root};
    use proofmill_sha256::Kernels;

    fn error(error: proofmill_merkle::MerkleError) -> Error {
        Error::merkle(None, error)
    }

    /// The root of these chunks, padded with zeros to `limit` chunks, or without a limit to the next power of two.
    ///
    /// # Errors
    /// [`Error::Malformed`] for more chunks than the limit.
    pub fn hash_tree_root(chunks: &[Chunk], limit: Option<u64>) -> Result<Chunk> {
        let kernels = Kernels::at(current().level);
        proofmill_merkle::ssz::hash_tree_root(kernels, chunks, limit).map_err(error)
    }

    /// A tree whose chunks can be changed and appended. It uses the machine on which it was created.
    #[derive(Debug)]
    pub struct SszTree(proofmill_merkle::ssz::SszTree);

    impl SszTree {
        /// The tree over these chunks, padded with zeros to `limit`.
        ///
        /// # Errors
        /// [`Error::Malformed`] for more chunks than the limit.
        pub fn new(chunks: Vec<Chunk>, limit: u64) -> Result<Self> {
            let kernels = Kernels::at(current().level);
            proofmill_merkle::ssz::SszTree::new(kernels, chunks, limit).map(Self).map_err(error)
        }

        /// The chunks.
        pub fn chunks(&self) -> &[Chunk] {
            self.0.chunks()
        }

        /// The root.
        pub fn root(&self) -> Chunk {
            self.0.root()
        }

        /// Replaces chunks, given with their indices. Returns the number of nodes that were hashed.
        ///
        /// # Errors
        /// [`Error::Malformed`] for an index without a chunk.
        pub fn replace(&mut self, changes: &[(usize, Chunk)]) -> Result<usize> {
            self.0.replace(changes).map_err(error)
        }

        /// Appends chunks.
        ///
        /// # Errors
        /// [`Error::Malformed`] for more chunks than the limit.
        pub fn extend(&mut self, chunks: &[Chunk]) -> Result<()> {
            self.0.extend(chunks).map_err(error)
        }

        /// Proves nodes by their generalized indices (1 is the root, the children of i are 2 i and 2 i + 1).
        ///
        /// # Errors
        /// [`Error::Malformed`] for indices without a node, and if one index is below another.
        pub fn prove(&self, indices: &[u64]) -> Result<SszProof> {
            self.0.prove(indices).map(SszProof).map_err(error)
        }
    }

    /// Nodes of a tree, with the helper nodes that authenticate them: a multiproof of the consensus specification.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct SszProof(pub proofmill_merkle::ssz::SszProof);

    impl SszProof {
        /// Verifies that the nodes are in the tree with this root.
        ///
        /// # Errors
        /// [`Error::Rejected`] if they do not lead to the root, [`Error::Malformed`] for a malformed proof.
        pub fn verify(&self, root: &Chunk) -> Result<()> {
            self.0.check(Kernels::at(current().level), root).map_err(error)
        }
    }
}
