//! The numbers of a tile by this CPU's vectors.

use super::{
    LANES,
    tile::{Fit, Numbers, QUOTIENT_SHIFT, Tile},
};
use proofmill_field::goldilocks::U64s;

/// Computes the numbers of a tile without checks, for as many elements as a vector of 64-bit words has: kernels and their operands are
/// proven to fit by [`Ranges`](super::Ranges).
///
/// Numbers are the low halves of words; the high halves do not matter.
#[derive(Clone, Copy, Debug)]
pub struct CpuLanes<W: U64s> {
    token: W::Token,
}

impl<W: U64s> CpuLanes<W> {
    /// Numbers for CPUs with the token's instructions.
    #[inline(always)]
    pub fn new(token: W::Token) -> Self {
        Self { token }
    }
}

/// A sum S of products and of a carry. It holds S modulo 2^64, and the sum of the upper halves of all products but the last, so that
/// nothing waits for the last one.
///
/// The difference between `S / 2^32`, rounded down, and the latter sum is known modulo 2^32, and less than 2^31 in size. The last product
/// is at most 2^62, the carry at most 2^60, and each other product adds less than 1 to the difference.
#[derive(Clone, Copy, Debug)]
pub struct CpuAccumulator<W> {
    low: W,
    high: W,
    last: W,
}

impl<W: U64s> CpuAccumulator<W> {
    /// A carry that nothing is added to yet.
    #[inline(always)]
    fn of(carry: W) -> Self {
        let zero = W::splat(carry.token(), 0);
        Self { low: carry, high: zero, last: zero }
    }

    /// With a product, or its negative: of at most 2^62 in size.
    #[inline(always)]
    fn plus(self, product: W) -> Self {
        Self { low: self.low + product, high: self.high + self.last.shr_signed::<32>(), last: product }
    }

    /// `S / 2^32`, rounded down.
    #[inline(always)]
    fn upper(self) -> W {
        let least = self.high - W::splat(self.high.token(), 1 << 31);
        least + (self.low.high_half() - least).low_half()
    }
}

impl<W: U64s> Tile for CpuLanes<W> {
    type Word = W;
    type Vector = W;
    type Accumulator = CpuAccumulator<W>;

    #[inline(always)]
    fn constant(&mut self, number: i32) -> W {
        W::splat(self.token, number as u64)
    }

    #[inline(always)]
    fn resident(&mut self, number: i32) -> W {
        self.constant(number)
    }

    #[inline(always)]
    fn load(&mut self, word: &W) -> W {
        *word
    }

    #[inline(always)]
    fn store(&mut self, vector: W) -> W {
        vector
    }

    #[inline(always)]
    fn low(&mut self, sum: CpuAccumulator<W>, _: Fit) -> W {
        sum.low
    }

    #[inline(always)]
    fn carry(&mut self, sum: CpuAccumulator<W>) -> CpuAccumulator<W> {
        CpuAccumulator::of(sum.upper() + sum.low.low_half().shr::<31>())
    }

    #[inline(always)]
    fn quotient(&mut self, sum: CpuAccumulator<W>) -> W {
        const SHIFT: u32 = QUOTIENT_SHIFT - 32;
        (sum.upper() + W::splat(self.token, 1 << (SHIFT - 1))).shr_signed::<SHIFT>()
    }

    #[inline(always)]
    fn mul(&mut self, a: W, b: W) -> CpuAccumulator<W> {
        let zero = W::splat(self.token, 0);
        CpuAccumulator::of(zero).plus(a.mul_signed_halves(b))
    }

    #[inline(always)]
    fn mac(&mut self, sum: CpuAccumulator<W>, a: W, b: W) -> CpuAccumulator<W> {
        sum.plus(a.mul_signed_halves(b))
    }

    #[inline(always)]
    fn msc(&mut self, sum: CpuAccumulator<W>, a: W, b: W) -> CpuAccumulator<W> {
        let zero = W::splat(self.token, 0);
        sum.plus(zero - a.mul_signed_halves(b))
    }
}

impl<W: U64s> Numbers for CpuLanes<W> {
    const WIDTH: usize = W::WIDTH;

    #[inline(always)]
    fn read(&mut self, numbers: &[i32]) -> W {
        let mut words = [0; LANES];
        for (word, number) in words[..W::WIDTH].iter_mut().zip(numbers) {
            *word = *number as u64;
        }
        W::load(self.token, &words)
    }

    #[inline(always)]
    fn write(word: W, numbers: &mut [i32]) {
        let mut words = [0; LANES];
        word.store(&mut words);
        for (number, word) in numbers.iter_mut().zip(words) {
            *number = word as i32;
        }
    }
}
