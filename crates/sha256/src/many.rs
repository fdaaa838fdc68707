//! Many messages of one length.

use crate::Kernels;
use proofmill_run::parallel;

/// Messages in a task of the thread pool; up to two tasks' messages are hashed on the calling thread. 2^12 messages with their
/// digests take 384 KiB and stay in a core's second-level cache.
const PIECE: usize = 1 << 12;

/// Digests of messages of 64 bytes, such as the nodes of a binary Merkle tree: `digests[i]` is that of `pairs[i]`. More than
/// 8192 run on the ambient rayon pool.
///
/// # Panics
/// If the numbers of pairs and digests differ.
#[inline]
pub fn hash_pairs(kernels: Kernels, pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
    assert_eq!(pairs.len(), digests.len(), "a digest for each pair");
    if pairs.len() <= 2 * PIECE {
        kernels.pairs(pairs, digests);
    } else {
        share_pairs(kernels, pairs, digests);
    }
}

/// [`hash_pairs`] on the pool.
fn share_pairs(kernels: Kernels, pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
    let pieces = pairs.chunks(PIECE).zip(digests.chunks_mut(PIECE));
    parallel::for_each(pieces, |(pairs, digests)| kernels.pairs(pairs, digests));
}

/// Digests of messages of `length` bytes each, stored contiguously: `digests[i]` is that of `rows[i * length..(i + 1) *
/// length]`. Large inputs run on the ambient rayon pool.
///
/// # Panics
/// If `rows` does not have `length` bytes for each digest.
pub fn hash_rows(kernels: Kernels, rows: &[u8], length: usize, digests: &mut [[u8; 32]]) {
    assert_eq!(Some(rows.len()), length.checked_mul(digests.len()), "a digest for each row");
    if length == 64 {
        return hash_pairs(kernels, rows.as_chunks().0, digests);
    }
    let piece = (PIECE * 64).checked_div(length).unwrap_or(PIECE).clamp(16, PIECE);
    if length == 0 || digests.len() <= 2 * piece {
        kernels.rows(rows, length, digests);
    } else {
        let pieces = rows.chunks(piece * length).zip(digests.chunks_mut(piece));
        parallel::for_each(pieces, |(rows, digests)| kernels.rows(rows, length, digests));
    }
}
