//! Openings of committed columns at points of an extension, and the folding of FRI.
//!
//! Matrices are row-major, and any words stand for elements. Their rows are in bit-reversed order, so that the first rows are the rows of a
//! smaller coset. The element of row `i` is the shift times one root of unity for each bit of i that is set.

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

/// The number of rows that kernels work on at a time.
const BLOCK: usize = 256;

/// Extension elements of the rows of a block, one array per coefficient.
type Planes<const N: usize> = [[u64; BLOCK]; N];

/// Copies a column of at most [`BLOCK`] rows.
fn gather(words: &[u64], width: usize, column: usize) -> [u64; BLOCK] {
    let mut values = [0; BLOCK];
    values.iter_mut().zip(words[column..].iter().step_by(width)).for_each(|(to, word)| *to = *word);
    values
}

/// The first column of vector `index` of a row that has at least one vector of columns. The last vector overlaps the vector before it.
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
