//! From bit-reversed order to natural order.

use super::tile::{self, Part};
use crate::reverse_bits::reverse_bits;
use proofmill_field::goldilocks::GoldilocksEngine;
use proofmill_memory::Lines;
use proofmill_run::parallel;

/// Swaps every row of `width` words with the row at the bit-reversed index; the number of rows is a power of two.
///
/// Rows of one word are moved in squares with the lanes as side, so that each cache line is read and
/// written whole (Carter, Gatlin, "Towards an optimal bit-reversal permutation program", 1998).
pub(crate) fn reverse_rows<E: GoldilocksEngine>(engine: E, words: &mut [u64], width: usize) {
    let log_len = (words.len() / width).trailing_zeros();
    let log_lanes = tile::lanes(engine).trailing_zeros();
    let part = Part::new(words);
    if width == 1 && log_lanes > 0 && 2 * log_lanes <= log_len {
        return reverse_squares(engine, part, log_len, log_lanes);
    }
    // In squares of rows, because of the TLB.
    let log_square = (log_len / 2).min(4);
    let log_middles = log_len - 2 * log_square;
    let swap_square = |middle: usize| {
        let reversed = reverse_bits(middle, log_middles);
        // The smaller of both middles swaps the rows of both.
        if middle > reversed {
            return;
        }
        for high in 0..1usize << log_square {
            for low in 0..1usize << log_square {
                let i = (high << (log_len - log_square)) | (middle << log_square) | low;
                let j = reverse_bits(i, log_len);
                // A palindromic middle visits both rows of a pair: the smaller index swaps them.
                if middle < reversed || i < j {
                    let (a, b) = (part.rows(i * width, 1).start, part.rows(j * width, 1).start);
                    // SAFETY: both rows are within the words, and no other index swaps them.
                    unsafe { std::ptr::swap_nonoverlapping(a, b, width) };
                }
            }
        }
    };
    parallel::for_each(parallel::ranges(1 << log_middles, 1 << 4), |middles| middles.for_each(swap_square));
}

/// With `i = high n/lanes + middle lanes + low`: the words with the same middle are a square, which is exchanged with that
/// of the reversed middle and transposed, with rows and columns in bit-reversed order.
fn reverse_squares<E: GoldilocksEngine>(engine: E, part: Part<'_>, log_len: u32, log_lanes: u32) {
    let lanes = 1usize << log_lanes;
    let log_middles = log_len - 2 * log_lanes;
    let stride = 1usize << (log_len - log_lanes);
    parallel::for_each(parallel::ranges(1 << log_middles, 1 << 8), |middles| {
        let mut squares = Lines::zeroed(2 * lanes * lanes);
        for middle in middles {
            let reversed = reverse_bits(middle, log_middles);
            if middle <= reversed {
                let [a, b] = [middle, reversed].map(|middle| part.rows(middle << log_lanes, stride));
                // SAFETY: the rows are within the words, and no other task uses them.
                unsafe { tile::exchange_reversed(engine, a, b, &mut squares) };
            }
        }
    });
}
