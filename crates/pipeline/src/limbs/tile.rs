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

    /// The quotient `q` of `top` by the real number whose reciprocal is `reciprocal / 2^shift`, and `top - q modulus_top`.
    fn remainder(
        &mut self,
        top: Self::Vector,
        reciprocal: Self::Vector,
        shift: u32,
        modulus_top: Self::Vector,
    ) -> (Self::Vector, Self::Accumulator) {
        remainder(self, top, reciprocal, shift, modulus_top)
    }
}

/// The instructions of [`Tile::remainder`].
#[inline(always)]
pub(super) fn remainder<T: Tile + ?Sized>(
    tile: &mut T,
    top: T::Vector,
    reciprocal: T::Vector,
    shift: u32,
    modulus_top: T::Vector,
) -> (T::Vector, T::Accumulator) {
    let product = tile.mul(top, reciprocal);
    let quotient = tile.srs(product, shift, Fit::Whole);
    let wide = tile.ups(top, 0);
    (quotient, tile.msc(wide, quotient, modulus_top))
}
