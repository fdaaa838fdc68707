//! Words of the kernels over Goldilocks, and the orders of rows in which libraries differ.
//!
//! Plonky3 and boojum use another root of unity than Proofmill and plonky2: theirs is the power `k` of ours. Their transform of the coefficients
//! `c[k i]` has the values of ours of `c[i]`, so their runners reorder the input, and the answers agree. Only the transform is timed.

use crate::{Bytes, Task};

/// The logarithm of 1753635133440165772, Plonky3's and boojum's root of order 2^32, to the base 7277203076849721926, which is Proofmill's.
const LOGARITHM: usize = 1_919_565_645;

/// Its inverse modulo 2^32.
const INVERSE: usize = 4_168_946_053;

/// The input: `width` words for each unit, little-endian.
///
/// # Errors
/// An input of another length.
pub fn words(task: &Task, width: usize) -> Result<Vec<u64>, String> {
    let mut input = Bytes::new(&task.input);
    let decode = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
    let words = input.take(width * task.size, 8, decode)?;
    input.end()?;
    Ok(words)
}

/// The encoding of an output.
pub fn encoded(words: impl IntoIterator<Item = u64>) -> Vec<u8> {
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// Rows of `width` words, the input of a transform by the other root: row `k i` as row i.
#[must_use]
pub fn for_other_root(words: &[u64], width: usize) -> Vec<u64> {
    reordered(words, width, |i, rows| i.wrapping_mul(LOGARITHM) % rows)
}

/// Rows of `width` words: the values at the powers of the other root as values at those of Proofmill's.
#[must_use]
pub fn from_other_root(words: &[u64], width: usize) -> Vec<u64> {
    reordered(words, width, |i, rows| i.wrapping_mul(INVERSE) % rows)
}

/// Rows of `width` words in bit-reversed order.
#[must_use]
pub fn bit_reversed(words: &[u64], width: usize) -> Vec<u64> {
    reordered(words, width, |i, rows| i.reverse_bits().unbounded_shr(rows.leading_zeros() + 1))
}

/// Rows of `width` words; `place(i, rows)` is the place of row i.
fn reordered(words: &[u64], width: usize, place: impl Fn(usize, usize) -> usize) -> Vec<u64> {
    let rows = words.len() / width;
    (0..rows).flat_map(|i| &words[place(i, rows) * width..][..width]).copied().collect()
}

/// The columns of rows of `width` words.
#[must_use]
pub fn columns(words: &[u64], width: usize) -> Vec<Vec<u64>> {
    (0..width).map(|column| words.iter().skip(column).step_by(width).copied().collect()).collect()
}

/// The rows of columns of the same length.
#[must_use]
pub fn rows(columns: &[Vec<u64>]) -> Vec<u64> {
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect()
}
