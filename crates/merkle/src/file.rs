//! Trees in files: a header, the rows, all nodes. `docs/merkle.md` defines the layout.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{
    Hash, MerkleError, Opening, RowMajor,
    build::{split_layers, stream},
    leaves::{Leaves, check_row_count},
    opening::{check_indices, siblings},
    tree::layer_start,
};
use proofmill_cpu::Level;
use proofmill_files::FileBytes;
use proofmill_hash::{Digest, TreeHash};
use std::{
    io::{self, Seek, SeekFrom, Write},
    path::Path,
    sync::{Mutex, PoisonError},
};

/// The first bytes of a file.
const MAGIC: &[u8; 8] = b"pfmerkle";

/// The version of the layout that is written and read.
const VERSION: u32 = 1;

/// Bytes of the header.
const HEADER: usize = 64;

/// Bytes of a node.
const DIGEST: usize = 32;

/// Hashes rows, writes them and their tree to `output` from offset 0 on, and returns the root. Reads each row once. Memory is
/// two digests per 2^11 rows and a few megabytes per thread.
///
/// # Errors
/// [`MerkleError::NotCanonical`], [`MerkleError::Io`]; the output is then incomplete.
pub fn write_tree(
    level: Level,
    hash: &dyn TreeHash,
    rows: &RowMajor<'_>,
    output: impl Write + Seek + Send,
) -> Result<Digest, MerkleError> {
    let output = Placed(Mutex::new(output));
    let (count, columns) = (rows.rows(), rows.columns());
    let mut header = [0; HEADER];
    let fields: [(usize, &[u8]); 5] = [
        (0, MAGIC),
        (8, &VERSION.to_le_bytes()),
        (16, hash.name().as_bytes()),
        (32, &(count as u64).to_le_bytes()),
        (40, &(columns as u64).to_le_bytes()),
    ];
    for (offset, bytes) in fields {
        header.iter_mut().skip(offset).zip(bytes).for_each(|(to, from)| *to = *from);
    }
    output.write(0, &header)?;
    let row = 8 * columns;
    let nodes_at = HEADER + count * row;
    let write_nodes = |layer, first, nodes: &[Digest]| {
        let bytes: Vec<u8> = nodes.iter().flat_map(|node| node.to_bytes()).collect();
        output.write(nodes_at + DIGEST * (layer_start(count, layer) + first), &bytes)
    };
    let copied = Copied {
        rows,
        copy: |first, words: &[u64]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            output.write(HEADER + first * row, &bytes)
        },
    };
    let (height, mut upper) = stream(level, hash, &copied, write_nodes)?;
    for (layer, nodes) in (height..).zip(split_layers(&mut upper)) {
        write_nodes(layer, 0, nodes)?;
    }
    output.flush()?;
    Ok(upper.last().copied().unwrap_or_default())
}

/// An output that several threads write to, each at its own offsets.
struct Placed<W>(Mutex<W>);

impl<W: Write + Seek> Placed<W> {
    fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), MerkleError> {
        // If a thread panics here, the panic ends the whole operation.
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        output.seek(SeekFrom::Start(offset as u64))?;
        Ok(output.write_all(bytes)?)
    }

    fn flush(&self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// Rows that are also copied when they are hashed.
struct Copied<'a, C> {
    rows: &'a RowMajor<'a>,
    copy: C,
}

impl<C: Fn(usize, &[u64]) -> Result<(), MerkleError> + Sync> Leaves for Copied<'_, C> {
    fn rows(&self) -> usize {
        self.rows.rows()
    }

    fn columns(&self) -> usize {
        self.rows.columns()
    }

    fn hash(
        &self,
        level: Level,
        hash: &dyn TreeHash,
        first: usize,
        digests: &mut [Digest],
    ) -> Result<(), MerkleError> {
        self.rows.hash_and(level, hash, first, digests, &self.copy)
    }

    fn row(&self, index: usize) -> Vec<u64> {
        self.rows.row(index)
    }
}

/// A tree in a mapped file. Openings read only the parts that they need.
#[derive(Debug)]
pub struct TreeFile {
    bytes: FileBytes,
    hash: Hash,
    rows: usize,
    columns: usize,
}

impl TreeFile {
    /// Maps a file and checks its header and length.
    ///
    /// # Errors
    /// [`MerkleError::Io`], [`MerkleError::NotATree`], [`MerkleError::Header`], [`MerkleError::FileLength`],
    /// [`MerkleError::UnknownHash`].
    pub fn open(path: &Path) -> Result<Self, MerkleError> {
        Self::new(FileBytes::open(path)?)
    }

    /// A tree in the bytes of a file.
    ///
    /// # Errors
    /// As [`open`](Self::open), without [`MerkleError::Io`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, MerkleError> {
        Self::new(FileBytes::Owned(bytes))
    }

    fn new(bytes: FileBytes) -> Result<Self, MerkleError> {
        let all = &*bytes;
        if all.first_chunk() != Some(MAGIC) {
            return Err(MerkleError::NotATree);
        }
        let found = all.len() as u64;
        let Some(header) = all.first_chunk::<HEADER>() else {
            let problem = format!("expected a header of {HEADER} bytes, found {found}");
            return Err(MerkleError::Header { offset: found, problem });
        };
        let refuse = |offset, problem| Err(MerkleError::Header { offset, problem });
        let [_, version, name, name_end, rows, columns, rest @ ..] = words(header);
        if version != u64::from(VERSION) {
            return refuse(8, format!("expected version {VERSION}, found {version}"));
        }
        let name: Vec<u8> = [name, name_end].iter().flat_map(|word| word.to_le_bytes()).collect();
        let end = name.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let hash = String::from_utf8_lossy(name.get(..end).unwrap_or_default()).parse()?;
        if let Err(error) = check_row_count(rows) {
            return refuse(32, error.to_string());
        }
        if columns == 0 {
            return refuse(40, MerkleError::NoColumns.to_string());
        }
        if rest != [0; 2] {
            return refuse(48, format!("expected zeros, found {rest:?}"));
        }
        let (count, width) = (u128::from(rows), u128::from(columns));
        // A product of two 64-bit numbers does not overflow; the sum may, so it is checked.
        let length = (count * width)
            .checked_mul(8)
            .and_then(|bytes| bytes.checked_add(HEADER as u128 + DIGEST as u128 * (2 * count - 1)))
            .unwrap_or(u128::MAX);
        if length != u128::from(found) {
            return Err(MerkleError::FileLength { expected: length, found, rows, columns });
        }
        // No truncation: both are at most the file's length.
        Ok(Self { rows: rows as usize, columns: columns as usize, hash, bytes })
    }

    /// The tree's hash.
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of words of a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The root.
    ///
    /// # Errors
    /// [`MerkleError::Damaged`].
    pub fn root(&self) -> Result<Digest, MerkleError> {
        self.node(self.rows.ilog2(), 0)
    }

    /// Opens the rows of ascending indices, after checking that they lead to the root.
    ///
    /// # Errors
    /// [`MerkleError::NoIndices`], [`MerkleError::IndexRange`], [`MerkleError::DuplicateIndex`],
    /// [`MerkleError::UnsortedIndices`], and [`MerkleError::Damaged`] if the file's rows and nodes are inconsistent.
    pub fn open_rows(&self, level: Level, indices: &[u64]) -> Result<Opening, MerkleError> {
        let root = self.root()?;
        let (rows, columns) = (self.rows as u64, self.columns as u64);
        let layers = check_indices(indices, rows, 1)?;
        let mut values = Vec::new();
        for index in indices {
            values.extend(self.row(*index as usize)?);
        }
        let siblings = siblings(indices, layers, |layer, index| self.node(layer, index as usize))?;
        let opening = Opening { rows, columns, indices: indices.to_vec(), values, siblings };
        match opening.check(level, self.hash.tree_hash(), rows, columns, &[root]) {
            Ok(()) => Ok(opening),
            Err(MerkleError::Rejected) => {
                let problem = "these rows and the nodes above them do not hash to the file's root".to_owned();
                Err(MerkleError::Damaged { problem })
            }
            Err(error) => Err(MerkleError::Damaged { problem: error.to_string() }),
        }
    }

    fn row(&self, index: usize) -> Result<Vec<u64>, MerkleError> {
        let row = 8 * self.columns;
        let bytes = self.part(HEADER + index * row, row)?;
        Ok(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }

    fn part(&self, offset: usize, length: usize) -> Result<&[u8], MerkleError> {
        // The file's length was checked, so no input leads out of bounds.
        let bytes = offset.checked_add(length).and_then(|end| self.bytes.get(offset..end));
        bytes
            .ok_or_else(|| MerkleError::Damaged { problem: format!("offset {offset}: the file ends before") })
    }

    fn node(&self, layer: u32, index: usize) -> Result<Digest, MerkleError> {
        let nodes_at = HEADER + 8 * self.columns * self.rows;
        let offset = nodes_at + DIGEST * (layer_start(self.rows, layer) + index);
        let bytes = self.part(offset, DIGEST)?;
        let digest = bytes.first_chunk().and_then(|bytes| self.hash.tree_hash().digest(bytes));
        digest.ok_or_else(|| MerkleError::Damaged {
            problem: format!(
                "offset {offset}: no digest of {}: an element is not below the modulus",
                self.hash
            ),
        })
    }
}

/// The header's little-endian words.
fn words(header: &[u8; HEADER]) -> [u64; HEADER / 8] {
    let mut words = [0; HEADER / 8];
    for (word, bytes) in words.iter_mut().zip(header.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}
