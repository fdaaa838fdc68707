//! What a tile's processor can do: the instructions that kernels are made of.

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
/// [`Lanes`](super::Lanes) computes them by this CPU's vectors, [`Ranges`](super::Ranges) proves that they fit.
///
/// Names of operations are those of the AI Engine's intrinsics: `ups` shifts up into an accumulator, `srs` shifts down, rounds
/// and narrows to a vector.
pub trait Tile {
    /// A vector in memory.
    type Word: Copy;
    /// A vector in a register.
    type Vector: Copy;
    /// A register of sums.
    type Accumulator: Copy;

    /// The same number in all lanes. Constants stay in registers.
    fn constant(&mut self, number: i32) -> Self::Vector;

    /// Loads a vector.
    fn load(&mut self, word: &Self::Word) -> Self::Vector;

    /// Stores a vector.
    fn store(&mut self, vector: Self::Vector) -> Self::Word;

    /// `vector 2^shift`.
    fn ups(&mut self, vector: Self::Vector, shift: u32) -> Self::Accumulator;

    /// `accumulator / 2^32`, halves rounded up, by way of numbers of 64 bits.
    fn carry(&mut self, accumulator: Self::Accumulator) -> Self::Accumulator;

    /// `accumulator / 2^shift`, halves rounded up.
    fn srs(&mut self, accumulator: Self::Accumulator, shift: u32, fit: Fit) -> Self::Vector;

    /// `a b`.
    fn mul(&mut self, a: Self::Vector, b: Self::Vector) -> Self::Accumulator;

    /// `accumulator + a b`.
    fn mac(&mut self, accumulator: Self::Accumulator, a: Self::Vector, b: Self::Vector) -> Self::Accumulator;

    /// `accumulator - a b`.
    fn msc(&mut self, accumulator: Self::Accumulator, a: Self::Vector, b: Self::Vector) -> Self::Accumulator;

    /// The quotient of `top` by the real number whose reciprocal is `reciprocal / 2^shift`.
    fn quotient(&mut self, top: Self::Vector, reciprocal: Self::Vector, shift: u32) -> Self::Vector {
        let product = self.mul(top, reciprocal);
        self.srs(product, shift, Fit::Whole)
    }

    /// `accumulator + top - quotient modulus_top`, where the quotient is that of `top` by `reciprocal / 2^shift`.
    fn remainder(
        &mut self,
        accumulator: Self::Accumulator,
        top: Self::Vector,
        quotient: Self::Vector,
        constants: &Divisor<Self::Vector>,
    ) -> Self::Accumulator {
        let sum = self.mac(accumulator, top, constants.one);
        self.msc(sum, quotient, constants.modulus_top)
    }
}

/// What [`Tile::remainder`] divides by.
#[derive(Clone, Copy, Debug)]
pub struct Divisor<V> {
    /// The highest limb of the modulus.
    pub modulus_top: V,
    /// `2^shift / p_top`, where p_top is the modulus divided by the weight of its highest limb.
    pub reciprocal: V,
    /// Bits of the reciprocal's fraction.
    pub shift: u32,
    /// 1.
    pub one: V,
}
