//! The instructions of a tile's processor, of which kernels are made.

/// Whether a number that is narrowed to 32 bits has to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It fits: the result is the number.
    Whole,
    /// The result is congruent to it modulo 2^32.
    Wraps,
}

/// A vector processor with multiply-accumulate: eight lanes of signed 32-bit numbers, accumulators of 80 bits.
///
/// A kernel is written once over this trait. [`Exact`](super::Exact) computes its numbers and checks that all fit,
/// [`CpuLanes`](super::CpuLanes) computes them by this CPU's vectors, [`Ranges`](super::Ranges) proves that they fit.
///
/// On an AI Engine, [`low`](Self::low), [`quotient`](Self::quotient) and the first half of [`carry`](Self::carry) are its `srs`, which shifts,
/// rounds and narrows.
pub trait Tile {
    /// A vector in memory.
    type Word: Copy;
    /// A vector in a register.
    type Vector: Copy;
    /// A register of sums.
    type Accumulator: Copy;

    /// The same number in all lanes. Constants stay in registers.
    fn constant(&mut self, number: i32) -> Self::Vector;

    /// A word of memory that has the same number in all lanes, and is there from the beginning.
    fn resident(&mut self, number: i32) -> Self::Word;

    /// Loads a vector.
    fn load(&mut self, word: &Self::Word) -> Self::Vector;

    /// Stores a vector.
    fn store(&mut self, vector: Self::Vector) -> Self::Word;

    /// The lowest 32 bits as a signed number.
    fn low(&mut self, accumulator: Self::Accumulator, fit: Fit) -> Self::Vector;

    /// `accumulator / 2^32`, halves rounded up: with [`low`](Self::low), all of the number. By way of numbers of 64 bits.
    fn carry(&mut self, accumulator: Self::Accumulator) -> Self::Accumulator;

    /// `accumulator / 2^QUOTIENT_SHIFT`, halves rounded up, of a product.
    fn quotient(&mut self, accumulator: Self::Accumulator) -> Self::Vector;

    /// `a b`.
    fn mul(&mut self, a: Self::Vector, b: Self::Vector) -> Self::Accumulator;

    /// `accumulator + a b`.
    fn mac(&mut self, accumulator: Self::Accumulator, a: Self::Vector, b: Self::Vector) -> Self::Accumulator;

    /// `accumulator - a b`.
    fn msc(&mut self, accumulator: Self::Accumulator, a: Self::Vector, b: Self::Vector) -> Self::Accumulator;

    /// `accumulator + top - quotient modulus_top`, where the quotient is that of `top reciprocal`.
    fn remainder(
        &mut self,
        accumulator: Self::Accumulator,
        top: Self::Vector,
        quotient: Self::Vector,
        divisor: &Divisor<Self::Vector>,
    ) -> Self::Accumulator {
        let sum = self.mac(accumulator, top, divisor.one);
        self.msc(sum, quotient, divisor.modulus_top)
    }
}

/// The quotient of an element by the modulus is its highest limb times [`Divisor::reciprocal`], divided by 2 to this power.
pub const QUOTIENT_SHIFT: u32 = 60;

/// The divisor of [`Tile::remainder`].
#[derive(Clone, Copy, Debug)]
pub struct Divisor<V> {
    /// The highest limb of the modulus.
    pub modulus_top: V,
    /// `2^QUOTIENT_SHIFT / p_top`, where p_top is the modulus divided by the weight of its highest limb.
    pub reciprocal: V,
    /// 1.
    pub one: V,
}

/// A tile that computes numbers.
pub trait Numbers: Tile {
    /// How many lanes a word has: at most [`LANES`](super::LANES), which it divides.
    const WIDTH: usize;

    /// A word of the first `WIDTH` numbers.
    fn read(&mut self, numbers: &[i32]) -> Self::Word;

    /// Writes a word to `WIDTH` numbers.
    fn write(word: Self::Word, numbers: &mut [i32]);
}
