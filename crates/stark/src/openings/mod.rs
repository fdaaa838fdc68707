//! Openings of committed columns at points of an extension, and the folding of FRI.
//!
//! Matrices are row-major and hold any words as elements; their rows are in bit-reversed order, so that the first rows are those
//! of a smaller coset, and the element of row `i` is the product of one root of unity for each bit of i that is set.

pub(crate) mod claims;
mod coset;
mod evaluate;
mod fold;
pub(crate) mod fri;
mod quotients;
mod sums;

pub use coset::Coset;
pub use evaluate::{Opened, evaluate, weighted_sums};
pub use fold::fold;
pub use quotients::{Claim, Claimed, combine, quotients};

use proofmill_field::goldilocks::{Goldilocks, GoldilocksEngine, U64s};

/// The rows that kernels work on at a time.
const BLOCK: usize = 256;

/// Extension elements of the rows of a block, one array per coefficient.
type Planes<const N: usize> = [[u64; BLOCK]; N];

/// Copies a column of at most [`BLOCK`] rows.
fn gather(words: &[u64], width: usize, column: usize) -> [u64; BLOCK] {
    let mut values = [0; BLOCK];
    values.iter_mut().zip(words[column..].iter().step_by(width)).for_each(|(to, word)| *to = *word);
    values
}

/// The first column of vector `index` of a row of at least one vector: the last one overlaps the one before.
#[inline(always)]
fn vector_start<E: GoldilocksEngine>(index: usize, width: usize) -> usize {
    (index * E::U64s::WIDTH).min(width - E::U64s::WIDTH)
}

/// The sum of canonical words.
#[inline(always)]
fn total(words: &[u64]) -> Goldilocks {
    let mut sum = Goldilocks::default();
    for word in words {
        sum += Goldilocks::new(*word);
    }
    sum
}
