//! SHA-256 trees: a leaf is the hash of its row's words as little-endian bytes, a node that of its children's 64 bytes.

use crate::{Digest, TreeHash};
use proofmill_cpu::Level;
use proofmill_sha256::Kernels;

/// SHA-256 (FIPS 180-4), with the fastest kernels of a level: [`Kernels::at`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sha256;

/// The rows converted to bytes at a time: a few per lane, and little enough data for the first-level cache.
const TILE: usize = 64;

impl TreeHash for Sha256 {
    fn name(&self) -> &'static str {
        "sha256"
    }

    fn hash_rows(&self, level: Level, rows: &[u64], columns: usize, digests: &mut [Digest]) {
        assert_eq!(rows.len(), columns * digests.len(), "as many words as rows times columns");
        hash(level, columns, digests, |row, column| rows[row * columns + column]);
    }

    fn hash_columns(&self, level: Level, columns: &[&[u64]], digests: &mut [Digest]) {
        assert!(
            columns.iter().all(|column| column.len() == digests.len()),
            "one word a digest in each column"
        );
        hash(level, columns.len(), digests, |row, column| columns[column][row]);
    }

    fn hash_pairs(&self, level: Level, children: &[Digest], parents: &mut [Digest]) {
        assert_eq!(children.len(), 2 * parents.len(), "two children a parent");
        let children = Digest::as_bytes(children).as_flattened();
        Kernels::at(level).pairs(children.as_chunks().0, Digest::as_bytes_mut(parents));
    }
}

/// Hashes rows of words, tile by tile.
fn hash(level: Level, columns: usize, digests: &mut [Digest], word: impl Fn(usize, usize) -> u64) {
    let kernels = Kernels::at(level);
    let length = 8 * columns;
    let mut bytes = vec![0; length * TILE.min(digests.len())];
    for (tile, digests) in digests.chunks_mut(TILE).enumerate() {
        let bytes = &mut bytes[..length * digests.len()];
        for (row, bytes) in (tile * TILE..).zip(bytes.chunks_exact_mut(length.max(1))) {
            for (column, bytes) in bytes.as_chunks_mut().0.iter_mut().enumerate() {
                *bytes = word(row, column).to_le_bytes();
            }
        }
        kernels.rows(bytes, length, Digest::as_bytes_mut(digests));
    }
}
