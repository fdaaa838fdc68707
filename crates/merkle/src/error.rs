//! What can be wrong with rows, openings and tree files.

use std::io;

/// Why a tree cannot be built or opened, or an opening not be accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MerkleError {
    /// Trees here are complete.
    #[error(
        "expected a power of two of rows, found {0}: add rows (of zeros, say) up to the next power of two"
    )]
    RowCount(u64),
    /// A row has no words.
    #[error("expected at least one column, found none")]
    NoColumns,
    /// The words or bytes are not whole rows.
    #[error("expected whole rows of {row} {unit}, found {found} {unit}, which leaves {} over: check the number of columns", found % row)]
    RowSize {
        /// How many units a row has.
        row: u64,
        /// How many there are.
        found: u64,
        /// Words or bytes.
        unit: &'static str,
    },
    /// Columns of different lengths.
    #[error("column {column}: expected {expected} words as in column 0, found {found}")]
    ColumnLength {
        /// The column, counted from 0.
        column: usize,
        /// The length of column 0.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// A word is no element of the field.
    #[error("row {row}, column {column} (counted from 0): expected a value below {modulus}, found {value}")]
    NotCanonical {
        /// The row, counted from 0.
        row: u64,
        /// The column, counted from 0.
        column: u64,
        /// The word.
        value: u64,
        /// What it must be below.
        modulus: u64,
    },
    /// An opening of nothing.
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
    /// An index is there twice.
    #[error("index {0} is there twice: give each once")]
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
        /// How many there are.
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
    /// What is above another node follows from it.
    #[error("generalized index {index} is below {above}: show one of the two")]
    NestedIndices {
        /// The index.
        index: u64,
        /// That of a node on its path.
        above: u64,
    },
    /// As many words as rows times columns must be there.
    #[error("expected {expected} values for the indices that are shown, found {found}")]
    ValueCount {
        /// Rows times columns.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// The paths need another number of digests.
    #[error("expected {expected} siblings on the way to the root, found {found}")]
    SiblingCount {
        /// How many the indices need.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// A cap is a layer: it has a power of two of digests, no more than there are rows.
    #[error("expected a cap of a power of two of digests, at most {rows}, found {found}")]
    CapSize {
        /// The tree's rows.
        rows: u64,
        /// How many digests there are.
        found: u64,
    },
    /// The opening has another shape than the tree is known to have.
    #[error("expected an opening of {expected} {what}, found one of {found}")]
    Shape {
        /// Rows or columns.
        what: &'static str,
        /// What the caller knows.
        expected: u64,
        /// What the opening says.
        found: u64,
    },
    /// Well-formed, and wrong: the rows and siblings do not hash to the root.
    #[error("the opened rows are not in the tree of this root")]
    Rejected,
    /// The file does not begin as a tree does.
    #[error(
        "not a tree: it does not begin with the bytes \"pfmerkle\": make one with `proofmill merkle build`"
    )]
    NotATree,
    /// The file's header cannot be.
    #[error("offset {offset}: {problem}: the tree is damaged, build it again")]
    Header {
        /// Bytes from the beginning of the file.
        offset: u64,
        /// What was expected and found.
        problem: String,
    },
    /// The file has not the length that its header says.
    #[error(
        "expected {expected} bytes for {rows} rows of {columns} columns, found {found}: the tree is damaged, build it again"
    )]
    FileLength {
        /// By the header.
        expected: u128,
        /// The file's.
        found: u64,
        /// The header's rows.
        rows: u64,
        /// The header's columns.
        columns: u64,
    },
    /// Something of the file that was asked for is no digest, no element, or does not fit the rest.
    #[error("{problem}: the tree is damaged, build it again")]
    Damaged {
        /// What is wrong and where.
        problem: String,
    },
    /// The tree or opening is of another hash.
    #[error("expected hash {expected}, found {found}")]
    WrongHash {
        /// What was asked for.
        expected: &'static str,
        /// What it says.
        found: &'static str,
    },
    /// No hash has this name.
    #[error("unknown hash `{found}`, expected one of {known}")]
    UnknownHash {
        /// The name.
        found: String,
        /// The names there are.
        known: String,
    },
    /// Not a digest in hexadecimal.
    #[error("{place}: {problem}")]
    Digest {
        /// Which one.
        place: String,
        /// What was expected and found.
        problem: String,
    },
    /// Not JSON, or JSON of another shape.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// JSON of the right shape with a value that cannot be.
    #[error("{key}: {problem}")]
    JsonValue {
        /// Path to the value.
        key: String,
        /// What was expected and found.
        problem: String,
    },
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
}
