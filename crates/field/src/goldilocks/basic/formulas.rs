//! The functions' formulas, written once for words of any width.
//!
//! A formula has `I` input words and `O` result words, and may also take a byte, and coefficients, which are the same
//! for all lanes. A function whose name ends in `_8` takes coefficients below 2^8.

#![allow(clippy::needless_range_loop, reason = "iterators are not always inlined into a level")]

use crate::{
    Algebra,
    goldilocks::{
        GoldilocksEngine, GoldilocksLanes, GoldilocksVector, MODULUS, Planes, U64s, u64s::reduce_128,
    },
};

/// One of the ten functions, on vectors of words.
pub trait BasicFunction<const I: usize, const O: usize> {
    /// The function's name in the paper.
    const NAME: &'static str;

    /// Whether the function takes a byte.
    const TAKES_BYTE: bool = false;

    /// The number of coefficients.
    const COEFFICIENTS: usize = 0;

    /// Whether the coefficients are below 2^8.
    const SMALL_COEFFICIENTS: bool = false;

    /// The results, canonical.
    fn apply<E: GoldilocksEngine>(
        words: [E::U64s; I],
        byte: E::U64s,
        coefficient: impl Fn(usize) -> E::U64s,
    ) -> [E::U64s; O];
}

/// See [`add`](super::add).
#[derive(Clone, Copy, Debug)]
pub struct Add;

impl BasicFunction<2, 1> for Add {
    const NAME: &'static str = "add";

    /// `a - (p - b)`, plus p if that wrapped: if p - b, which is at least 1, is above a, then a + b is below p.
    #[inline(always)]
    fn apply<E: GoldilocksEngine>(
        [a, b]: [E::U64s; 2],
        _: E::U64s,
        _: impl Fn(usize) -> E::U64s,
    ) -> [E::U64s; 1] {
        [a.sub_folded(E::U64s::splat(b.token(), MODULUS) - b)]
    }
}

/// See [`sub`](super::sub).
#[derive(Clone, Copy, Debug)]
pub struct Sub;

impl BasicFunction<2, 1> for Sub {
    const NAME: &'static str = "sub";

    /// Folding adds p: `2^64 - (2^32 - 1)`.
    #[inline(always)]
    fn apply<E: GoldilocksEngine>(
        [a, b]: [E::U64s; 2],
        _: E::U64s,
        _: impl Fn(usize) -> E::U64s,
    ) -> [E::U64s; 1] {
        [a.sub_folded(b)]
    }
}

/// See [`reduce_128_64`](super::reduce_128_64).
#[derive(Clone, Copy, Debug)]
pub struct Reduce128;

impl BasicFunction<2, 1> for Reduce128 {
    const NAME: &'static str = "reduce_128_64";

    #[inline(always)]
    fn apply<E: GoldilocksEngine>(
        words: [E::U64s; 2],
        _: E::U64s,
        _: impl Fn(usize) -> E::U64s,
    ) -> [E::U64s; 1] {
        [reduce_128(words).canonical()]
    }
}

/// See [`square_128`](super::square_128).
#[derive(Clone, Copy, Debug)]
pub struct Square128;

impl BasicFunction<1, 1> for Square128 {
    const NAME: &'static str = "square_128";

    #[inline(always)]
    fn apply<E: GoldilocksEngine>(
        [a]: [E::U64s; 1],
        _: E::U64s,
        _: impl Fn(usize) -> E::U64s,
    ) -> [E::U64s; 1] {
        [E::Vector::from_words(a).square().into_words()]
    }
}

/// See [`mult_128`](super::mult_128).
#[derive(Clone, Copy, Debug)]
pub struct Mult128;

impl BasicFunction<2, 1> for Mult128 {
    const NAME: &'static str = "mult_128";

    #[inline(always)]
    fn apply<E: GoldilocksEngine>(
        [a, b]: [E::U64s; 2],
        _: E::U64s,
        _: impl Fn(usize) -> E::U64s,
    ) -> [E::U64s; 1] {
        [(E::Vector::from_words(a) * E::Vector::from_words(b)).into_words()]
    }
}

/// See [`mult_72`](super::mult_72).
#[derive(Clone, Copy, Debug)]
pub struct Mult72;

impl BasicFunction<1, 1> for Mult72 {
    const NAME: &'static str = "mult_72";
    const TAKES_BYTE: bool = true;

    #[inline(always)]
    fn apply<E: GoldilocksEngine>(
        [a]: [E::U64s; 1],
        byte: E::U64s,
        _: impl Fn(usize) -> E::U64s,
    ) -> [E::U64s; 1] {
        [a.mul_byte(byte).canonical()]
    }
}

/// See [`spmv_4x12`](super::spmv_4x12).
#[derive(Clone, Copy, Debug)]
pub struct Spmv;

impl BasicFunction<12, 4> for Spmv {
    const NAME: &'static str = "spmv_4x12";
    const COEFFICIENTS: usize = 12;

    #[inline(always)]
    fn apply<E: GoldilocksEngine>(
        a: [E::U64s; 12],
        _: E::U64s,
        coefficient: impl Fn(usize) -> E::U64s,
    ) -> [E::U64s; 4] {
        let mut results = [a[0]; 4];
        for i in 0..4 {
            let b = [coefficient(i), coefficient(4 + i), coefficient(8 + i)];
            results[i] = dot::<E, 3>([a[i], a[4 + i], a[8 + i]], b);
        }
        results
    }
}

/// See [`spmv_4x12_8`](super::spmv_4x12_8).
#[derive(Clone, Copy, Debug)]
pub struct Spmv8;

impl BasicFunction<12, 4> for Spmv8 {
    const NAME: &'static str = "spmv_4x12_8";
    const COEFFICIENTS: usize = 12;
    const SMALL_COEFFICIENTS: bool = true;

    #[inline(always)]
    fn apply<E: GoldilocksEngine>(
        a: [E::U64s; 12],
        _: E::U64s,
        coefficient: impl Fn(usize) -> E::U64s,
    ) -> [E::U64s; 4] {
        let mut results = [a[0]; 4];
        for i in 0..4 {
            let b = [coefficient(i), coefficient(4 + i), coefficient(8 + i)];
            results[i] = small_dot::<E, 3>([a[i], a[4 + i], a[8 + i]], b);
        }
        results
    }
}

/// See [`mmult_4x12`](super::mmult_4x12).
#[derive(Clone, Copy, Debug)]
pub struct Mmult;

impl BasicFunction<12, 4> for Mmult {
    const NAME: &'static str = "mmult_4x12";
    const COEFFICIENTS: usize = 48;

    #[inline(always)]
    fn apply<E: GoldilocksEngine>(
        a: [E::U64s; 12],
        _: E::U64s,
        coefficient: impl Fn(usize) -> E::U64s,
    ) -> [E::U64s; 4] {
        let mut results = [a[0]; 4];
        for i in 0..4 {
            results[i] = dot::<E, 12>(a, row(i, &coefficient));
        }
        results
    }
}

/// See [`mmult_4x12_8`](super::mmult_4x12_8).
#[derive(Clone, Copy, Debug)]
pub struct Mmult8;

impl BasicFunction<12, 4> for Mmult8 {
    const NAME: &'static str = "mmult_4x12_8";
    const COEFFICIENTS: usize = 48;
    const SMALL_COEFFICIENTS: bool = true;

    #[inline(always)]
    fn apply<E: GoldilocksEngine>(
        a: [E::U64s; 12],
        _: E::U64s,
        coefficient: impl Fn(usize) -> E::U64s,
    ) -> [E::U64s; 4] {
        let mut results = [a[0]; 4];
        for i in 0..4 {
            results[i] = small_dot::<E, 12>(a, row(i, &coefficient));
        }
        results
    }
}

/// Row `i` of a matrix with twelve columns.
#[inline(always)]
fn row<W: U64s>(i: usize, coefficient: &impl Fn(usize) -> W) -> [W; 12] {
    let mut row = [coefficient(12 * i); 12];
    for k in 1..12 {
        row[k] = coefficient(12 * i + k);
    }
    row
}

/// The sum of products.
#[inline(always)]
fn dot<E: GoldilocksEngine, const N: usize>(a: [E::U64s; N], b: [E::U64s; N]) -> E::U64s {
    let zero = E::Chain::zero(a[0].token());
    let (mut x, mut y) = ([zero; N], [zero; N]);
    for i in 0..N {
        (x[i], y[i]) = (E::Chain::from_words(a[i]), E::Chain::from_words(b[i]));
    }
    E::Chain::dot(x, y).into_words()
}

/// The sum of products with words below 2^8, at most 2^8 of them: both planes stay below 2^48.
#[inline(always)]
fn small_dot<E: GoldilocksEngine, const N: usize>(a: [E::U64s; N], b: [E::U64s; N]) -> E::U64s {
    let mut high = a[0].high_half().mul_halves(b[0]);
    let mut low = a[0].mul_halves(b[0]);
    for i in 1..N {
        high = high.add_product_of_halves(a[i].high_half(), b[i]);
        low = low.add_product_of_halves(a[i], b[i]);
    }
    GoldilocksLanes::from_planes(Planes { low, high }).into_words()
}
