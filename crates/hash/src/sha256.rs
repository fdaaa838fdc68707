//! Trees of SHA-256: a leaf is the hash of its row's words as little-endian bytes, a node that of its children's 64 bytes.

use crate::TreeHash;
use proofmill_simd::Level;
use sha2::Digest as _;

/// SHA-256 (FIPS 180-4) of the crate `sha2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sha256;

impl TreeHash for Sha256 {
    type Digest = [u8; 32];
    const NAME: &'static str = "sha256";
    const MODULUS: Option<u64> = None;

    fn hash_rows(_: Level, rows: &[u64], columns: usize, digests: &mut [[u8; 32]]) {
        assert_eq!(rows.len(), columns * digests.len(), "as many words as rows times columns");
        for (row, digest) in digests.iter_mut().enumerate() {
            *digest = of_words(rows[row * columns..][..columns].iter().copied());
        }
    }

    fn hash_columns(_: Level, columns: &[&[u64]], digests: &mut [[u8; 32]]) {
        assert!(
            columns.iter().all(|column| column.len() == digests.len()),
            "one word a digest in each column"
        );
        for (row, digest) in digests.iter_mut().enumerate() {
            *digest = of_words(columns.iter().map(|column| column[row]));
        }
    }

    fn hash_pairs(_: Level, children: &[[u8; 32]], parents: &mut [[u8; 32]]) {
        assert_eq!(children.len(), 2 * parents.len(), "two children a parent");
        for (pair, parent) in children.as_chunks::<2>().0.iter().zip(parents) {
            *parent = sha2::Sha256::digest(pair.as_flattened()).into();
        }
    }

    fn to_bytes(digest: &[u8; 32]) -> [u8; 32] {
        *digest
    }

    fn from_bytes(bytes: &[u8; 32]) -> Option<[u8; 32]> {
        Some(*bytes)
    }
}

fn of_words(words: impl Iterator<Item = u64>) -> [u8; 32] {
    let mut hash = sha2::Sha256::new();
    words.for_each(|word| hash.update(word.to_le_bytes()));
    hash.finalize().into()
}
