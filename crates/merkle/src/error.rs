//! Errors of rows, openings and tree files.

use proofmill_run::{Classified, ErrorKind};
use std::io;

/// Why a tree cannot be built or opened, or why an opening is not accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MerkleError {
    /// The number of rows is not a power of two.
    #[error(
        "expected a power of two of rows, found {0}: add rows (of zeros, say) up to the next power of two"
    )]
    RowCount(u64),
    /// A row has no words.
    #[error("expected at least one column, found none")]
    NoColumns,
    /// The number of words or bytes is not a multiple of a row's.
    #[error("expected whole rows of {row} {unit}, found {found} {unit}, which leaves {} over: check the number of columns", found % row)]
    RowSize {
        /// Units in a row.
        row: u64,
        /// The number found.
        found: u64,
        /// The unit: words or bytes.
        unit: &'static str,
    },
    /// Columns of different lengths.
    #[error("column {column}: expected {expected} words as in column 0, found {found}")]
    ColumnLength {
        /// The column, counted from 0.
        column: usize,
        /// The length of column 0.
        expected: usize,
        /// The length of this column.
        found: usize,
    },
    /// A word is not the canonical form of a field element.
    #[error("row {row}, column {column} (counted from 0): expected a value below {modulus}, found {value}")]
    NotCanonical {
        /// The row, counted from 0.
        row: u64,
        /// The column, counted from 0.
        column: u64,
        /// The word.
        value: u64,
        /// The modulus, below which it must be.
        modulus: u64,
    },
    /// An opening without indices.
    #[error("expected at least one index, found none")]
    NoIndices,
    /// No row has this index.
    #[error("index {index} is out of range: the tree has rows 0 to {}", rows - 1)]
    IndexRange {
        /// The index.
        index: u64,
        /// The tree's rows.
        rows: u64,
    },
    /// An index occurs twice.
    #[error("index {0} occurs twice: give each once")]
    DuplicateIndex(u64),
    /// Indices are not in ascending order.
    #[error("index {index} comes after {before}: give indices in ascending order")]
    UnsortedIndices {
        /// The index.
        index: u64,
        /// The one before it.
        before: u64,
    },
    /// More chunks than the tree may have.
    #[error("expected at most {limit} chunks, the limit, found {found}")]
    TooManyChunks {
        /// The limit.
        limit: u64,
        /// The number found.
        found: u64,
    },
    /// No chunk has this index.
    #[error("index {index} is out of range: the tree has {chunks} chunks")]
    ChunkRange {
        /// The index.
        index: u64,
        /// The tree's chunks.
        chunks: u64,
    },
    /// No node has this generalized index.
    #[error("generalized index {index} is out of range: expected 1 to 2^{} - 1", depth + 1)]
    GeneralizedIndex {
        /// The index.
        index: u64,
        /// The tree's depth.
        depth: u32,
    },
    /// A node is above another one of the proof, from which it can be computed.
    #[error("generalized index {index} is below {above}: prove one of the two")]
    NestedIndices {
        /// The index.
        index: u64,
        /// That of a node on its path.
        above: u64,
    },
    /// The number of words is not rows times columns.
    #[error("expected {expected} values for the indices, found {found}")]
    ValueCount {
        /// Rows times columns.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// The number of digests is not what the paths need.
    #[error("expected {expected} siblings on the way to the root, found {found}")]
    SiblingCount {
        /// The number that the indices need.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// The number of digests of a cap is not a power of two or exceeds the rows.
    #[error("expected a cap of a power of two of digests, at most {rows}, found {found}")]
    CapSize {
        /// The tree's rows.
        rows: u64,
        /// The number of digests.
        found: u64,
    },
    /// The opening's shape is not that of the tree.
    #[error("expected an opening of {expected} {what}, found one of {found}")]
    Shape {
        /// Rows or columns.
        what: &'static str,
        /// The number given by the caller.
        expected: u64,
        /// The number in the opening.
        found: u64,
    },
    /// Well-formed but wrong: the rows and siblings do not hash to the root.
    #[error("the opened rows are not in the tree of this root")]
    Rejected,
    /// The file does not begin with a tree's magic.
    #[error(
        "not a tree: it does not begin with the bytes \"pfmerkle\": make one with `proofmill merkle build`"
    )]
    NotATree,
    /// The file's header is invalid.
    #[error("offset {offset}: {problem}: the tree is damaged, build it again")]
    Header {
        /// Bytes from the beginning of the file.
        offset: u64,
        /// What was expected and found.
        problem: String,
    },
    /// The file's length is not what its header requires.
    #[error(
        "expected {expected} bytes for {rows} rows of {columns} columns, found {found}: the tree is damaged, build it again"
    )]
    FileLength {
        /// The length by the header, in bytes.
        expected: u128,
        /// The length of the file, in bytes.
        found: u64,
        /// The header's rows.
        rows: u64,
        /// The header's columns.
        columns: u64,
    },
    /// A requested part of the file is not a digest or element, or is inconsistent with the rest.
    #[error("{problem}: the tree is damaged, build it again")]
    Damaged {
        /// The problem and its position.
        problem: String,
    },
    /// The tree or opening uses another hash.
    #[error("expected hash {expected}, found {found}")]
    WrongHash {
        /// The requested hash.
        expected: &'static str,
        /// The hash of the tree or opening.
        found: &'static str,
    },
    /// No hash has this name.
    #[error("unknown hash `{found}`, expected one of {known}")]
    UnknownHash {
        /// The name.
        found: String,
        /// The known names.
        known: String,
    },
    /// Not a digest in hexadecimal.
    #[error("{place}: {problem}")]
    Digest {
        /// The position of the digest.
        place: String,
        /// What was expected and found.
        problem: String,
    },
    /// Not JSON, or JSON of another shape.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// JSON of the right shape with an invalid value.
    #[error("{key}: {problem}")]
    JsonValue {
        /// Path to the value.
        key: String,
        /// What was expected and found.
        problem: String,
    },
    /// An operating system error.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl Classified for MerkleError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Rejected => ErrorKind::Rejected,
            Self::Io(_) => ErrorKind::Io,
            Self::Shape { .. } | Self::WrongHash { .. } => ErrorKind::Mismatch,
            Self::RowCount(_)
            | Self::NoColumns
            | Self::RowSize { .. }
            | Self::ColumnLength { .. }
            | Self::NotCanonical { .. }
            | Self::NoIndices
            | Self::IndexRange { .. }
            | Self::DuplicateIndex(_)
            | Self::UnsortedIndices { .. }
            | Self::TooManyChunks { .. }
            | Self::ChunkRange { .. }
            | Self::GeneralizedIndex { .. }
            | Self::NestedIndices { .. }
            | Self::ValueCount { .. }
            | Self::SiblingCount { .. }
            | Self::CapSize { .. }
            | Self::NotATree
            | Self::Header { .. }
            | Self::FileLength { .. }
            | Self::Damaged { .. }
            | Self::UnknownHash { .. }
            | Self::Digest { .. }
            | Self::Json(_)
            | Self::JsonValue { .. } => ErrorKind::Malformed,
        }
    }
}
