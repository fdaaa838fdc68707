//! The numbers of a tile by this CPU's vectors.

use super::{
    LANES,
    kernels::Word,
    tile::{Fit, Tile},
};

/// Computes what the tile would, without checks: kernels and their operands are proven to fit by [`Ranges`](super::Ranges).
///
/// Plain loops over lanes, which the compiler turns into the vectors of the level that the caller enables.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lanes;

/// A sum S of products: S modulo 2^64, and the sum of the products' upper halves, which tells the rest of it: the carries that
/// are missing are as many as the products at most, and known modulo 2^32.
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    low: [i64; LANES],
    high: [i64; LANES],
}

impl Sum {
    #[inline(always)]
    fn of(mut number: impl FnMut(usize) -> i64) -> Self {
        let mut sum = Self { low: [0; LANES], high: [0; LANES] };
        for i in 0..LANES {
            let number = number(i);
            sum.low[i] = number;
            sum.high[i] = number >> 32;
        }
        sum
    }

    /// `S / 2^32`, rounded down.
    #[inline(always)]
    fn upper(&self, lane: usize) -> i64 {
        let carries = ((self.low[lane] as u64 >> 32) as u32).wrapping_sub(self.high[lane] as u32);
        self.high[lane] + i64::from(carries)
    }
}

impl Tile for Lanes {
    type Word = Word;
    type Vector = [i32; LANES];
    type Accumulator = Sum;

    #[inline(always)]
    fn constant(&mut self, number: i32) -> Self::Vector {
        [number; LANES]
    }

    #[inline(always)]
    fn load(&mut self, word: &Word) -> Self::Vector {
        word.0
    }

    #[inline(always)]
    fn store(&mut self, vector: Self::Vector) -> Word {
        Word(vector)
    }

    #[inline(always)]
    fn ups(&mut self, vector: Self::Vector, shift: u32) -> Sum {
        let mut sum = Sum::of(|i| i64::from(vector[i]) << shift);
        for i in 0..LANES {
            sum.high[i] = i64::from(vector[i]) << shift >> 32;
        }
        sum
    }

    #[inline(always)]
    fn carry(&mut self, sum: Sum) -> Sum {
        Sum::of(|i| sum.upper(i) + i64::from(sum.low[i] as u32 >> 31))
    }

    #[inline(always)]
    fn srs(&mut self, sum: Sum, shift: u32, _: Fit) -> Self::Vector {
        let mut vector = [0; LANES];
        for i in 0..LANES {
            vector[i] = match shift {
                0 => sum.low[i] as i32,
                // The halves of a shift above 32 are seen in the upper part.
                33.. => ((sum.upper(i) + (1 << (shift - 33))) >> (shift - 32)) as i32,
                _ => unreachable!("kernels shift by more than 32 bits or not at all"),
            };
        }
        vector
    }

    #[inline(always)]
    fn mul(&mut self, a: Self::Vector, b: Self::Vector) -> Sum {
        Sum::of(|i| i64::from(a[i]) * i64::from(b[i]))
    }

    #[inline(always)]
    fn mac(&mut self, mut sum: Sum, a: Self::Vector, b: Self::Vector) -> Sum {
        for i in 0..LANES {
            let product = i64::from(a[i]) * i64::from(b[i]);
            sum.low[i] = sum.low[i].wrapping_add(product);
            sum.high[i] += product >> 32;
        }
        sum
    }

    #[inline(always)]
    fn msc(&mut self, mut sum: Sum, a: Self::Vector, b: Self::Vector) -> Sum {
        for i in 0..LANES {
            let product = -(i64::from(a[i]) * i64::from(b[i]));
            sum.low[i] = sum.low[i].wrapping_add(product);
            sum.high[i] += product >> 32;
        }
        sum
    }
}
