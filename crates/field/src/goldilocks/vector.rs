//! Vectors of elements, and the two planes on which linear maps act.

use super::{
    U64s,
    u64s::{reduce_128, reduce_128_montgomery},
};
use crate::algebra::{Algebra, Lanes};
use std::ops::{Add, Mul, Neg, Sub};

/// A vector of field elements; in memory, words. Operators and [`load`](Lanes::load) accept any representatives and return
/// representatives, canonical or not; only [`store`](Lanes::store) writes canonical ones.
pub trait GoldilocksVector: Lanes<u64> {
    /// The words that hold the elements.
    type U64s: U64s<Token = Self::Token>;

    /// The best number of interleaved chains of products: more chains hide more latency, but need more registers.
    const CHAINS: usize;

    /// The elements of any words.
    fn from_words(words: Self::U64s) -> Self;

    /// The canonical elements.
    fn into_words(self) -> Self::U64s;

    /// The sum of 1 to 16 products `a_i b_i` of elements made by [`from_words`](Self::from_words), reduced once.
    fn dot<const N: usize>(a: [Self; N], b: [Self; N]) -> Self;

    /// The elements as fresh planes.
    fn planes(self) -> Planes<Self::U64s>;

    /// The product as fresh planes, which is cheaper than reducing it first.
    fn product_planes(self, rhs: Self) -> Planes<Self::U64s>;

    /// The product times a constant s of the type, 1 or 2^-64, also of the next two functions; s^3 is 1, because
    /// `2^192 = 1` modulo p.
    #[inline(always)]
    fn mul_scaled(self, rhs: Self) -> Self {
        self * rhs
    }

    /// The square times s.
    #[inline(always)]
    fn square_scaled(self) -> Self {
        self.square()
    }

    /// The product times s as fresh planes.
    #[inline(always)]
    fn product_planes_scaled(self, rhs: Self) -> Planes<Self::U64s> {
        self.product_planes(rhs)
    }

    /// The weight of the high plane is `2^SPLIT`.
    const SPLIT: u32;

    /// A multiple of p as planes, which keeps planes non-negative in [`from_planes`](Self::from_planes).
    const OFFSET: [u64; 2];

    /// The elements of planes to which [`constant_planes`] were added exactly once.
    fn from_planes(planes: Planes<Self::U64s>) -> Self;

    /// The carry step that planes need between two linear maps.
    fn carry(planes: Planes<Self::U64s>) -> Planes<Self::U64s>;

    /// Converts planes that passed through at most one linear map to the planes of [`GoldilocksLanes`], which leave the most
    /// room above. The planes of products are fresh again.
    fn halves(planes: Planes<Self::U64s>) -> Planes<Self::U64s>;
}

/// Integers `low + 2^k high` that represent elements; k is [`SPLIT`](GoldilocksVector::SPLIT).
///
/// A linear map with integer coefficients acts on each plane alone. Fresh planes may pass through three maps
/// whose coefficients have row sums of at most 264, with [`carry`](GoldilocksVector::carry) between maps, before they must
/// be converted to elements. A sum of at most 264 fresh planes is such a map.
#[derive(Clone, Copy, Debug)]
pub struct Planes<W> {
    /// The low plane.
    pub low: W,
    /// The high plane.
    pub high: W,
}

impl<W: U64s> Add for Planes<W> {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        Self { low: self.low + rhs.low, high: self.high + rhs.high }
    }
}

impl<W: U64s> Sub for Planes<W> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        Self { low: self.low - rhs.low, high: self.high - rhs.high }
    }
}

impl<W: U64s> Planes<W> {
    /// One pair of words in every lane.
    #[inline(always)]
    pub fn splat(token: W::Token, [low, high]: [u64; 2]) -> Self {
        Self { low: W::splat(token, low), high: W::splat(token, high) }
    }
}

/// The planes of a constant, any word, for vectors `V`; those of 0 are needed by [`GoldilocksVector::from_planes`].
pub const fn constant_planes<V: GoldilocksVector>(word: u64) -> [u64; 2] {
    [(word & ((1 << V::SPLIT) - 1)) + V::OFFSET[0], (word >> V::SPLIT) + V::OFFSET[1]]
}

/// The product's 32-bit pieces.
#[inline(always)]
fn quarters<W: U64s>(a: W, b: W) -> [W; 4] {
    let [low, middle, high] = a.mul_parts(b);
    [low.low_half(), middle.low_half(), high.low_half(), high.shr::<32>()]
}

/// Elements as any words; their planes are the 32-bit halves.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct GoldilocksLanes<W>(pub(crate) W);

impl<W> GoldilocksLanes<W> {
    /// The elements of any words.
    #[inline(always)]
    pub const fn new(words: W) -> Self {
        Self(words)
    }

    /// The words, canonical or not.
    #[inline(always)]
    pub fn words(self) -> W {
        self.0
    }
}

impl<W: U64s> Add for GoldilocksLanes<W> {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        Self(self.0.add_folded(rhs.0.canonical()))
    }
}

impl<W: U64s> Sub for GoldilocksLanes<W> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        Self(self.0.sub_folded(rhs.0.canonical()))
    }
}

impl<W: U64s> Mul for GoldilocksLanes<W> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, rhs: Self) -> Self {
        Self(reduce_128(self.0.mul_wide(rhs.0)))
    }
}

impl<W: U64s> Neg for GoldilocksLanes<W> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(W::splat(self.0.token(), super::MODULUS) - self.0.canonical())
    }
}

impl<W: U64s> Algebra for GoldilocksLanes<W> {
    type Token = W::Token;

    #[inline(always)]
    fn token(&self) -> W::Token {
        self.0.token()
    }

    #[inline(always)]
    fn zero(token: W::Token) -> Self {
        Self(W::splat(token, 0))
    }

    #[inline(always)]
    fn one(token: W::Token) -> Self {
        Self(W::splat(token, 1))
    }

    #[inline(always)]
    fn square(self) -> Self {
        Self(reduce_128(self.0.square_wide()))
    }
}

impl<W: U64s> Lanes<u64> for GoldilocksLanes<W> {
    const WIDTH: usize = W::WIDTH;

    #[inline(always)]
    fn load(token: W::Token, words: &[u64]) -> Self {
        Self(W::load(token, words))
    }

    #[inline(always)]
    fn store(self, words: &mut [u64]) {
        self.0.canonical().store(words);
    }

    #[inline(always)]
    fn broadcast(token: W::Token, word: u64) -> Self {
        Self(W::splat(token, word))
    }
}

impl<W: U64s> GoldilocksVector for GoldilocksLanes<W> {
    type U64s = W;

    const CHAINS: usize = W::CHAINS;

    const SPLIT: u32 = 32;

    /// `2^27 p`, with both words above `2^58.9`: fresh planes are within `2^33`, and after three maps within `2^57.2`.
    const OFFSET: [u64; 2] = [(1 << 61) - (1 << 59) + (1 << 27), (1 << 59) - (1 << 29)];

    #[inline(always)]
    fn from_words(words: W) -> Self {
        Self(words)
    }

    #[inline(always)]
    fn into_words(self) -> W {
        self.0.canonical()
    }

    /// Adds the terms of weight 2^0, 2^32, 2^64 and 2^96 separately: below `2^36` each.
    #[inline(always)]
    fn dot<const N: usize>(a: [Self; N], b: [Self; N]) -> Self {
        const { assert!(N > 0 && N <= 16, "what planes take") };
        let mut sums = quarters(a[0].0, b[0].0);
        for i in 1..N {
            let parts = quarters(a[i].0, b[i].0);
            for k in 0..4 {
                sums[k] = sums[k] + parts[k];
            }
        }
        let planes = Planes { low: sums[0] - sums[2] - sums[3], high: sums[1] + sums[2] };
        Self::from_planes(planes + Planes::splat(a[0].token(), constant_planes::<Self>(0)))
    }

    #[inline(always)]
    fn planes(self) -> Planes<W> {
        Planes { low: self.0.low_half(), high: self.0.shr::<32>() }
    }

    /// For the product `p0 + 2^32 p1 + 2^64 h0 + 2^96 h1`: low plane `p0 - h0 - h1`, high plane `p1 + h0`.
    #[inline(always)]
    fn product_planes(self, rhs: Self) -> Planes<W> {
        let [low, middle, high] = self.0.mul_parts(rhs.0);
        let high_low = high.low_half();
        Planes { low: low.low_half() - high_low - high.shr::<32>(), high: middle.low_half() + high_low }
    }

    #[inline(always)]
    fn mul_scaled(self, rhs: Self) -> Self {
        if W::PREFERS_PRODUCTS { Self(reduce_128_montgomery(self.0.mul_wide(rhs.0))) } else { self * rhs }
    }

    #[inline(always)]
    fn square_scaled(self) -> Self {
        if W::PREFERS_PRODUCTS { Self(reduce_128_montgomery(self.0.square_wide())) } else { self.square() }
    }

    /// For the product `p0 + 2^32 p1 + 2^64 h0 + 2^96 h1` and s = 2^-64 = -2^32: low plane `p1 + h0`, high plane
    /// `h1 - p1 - p0`.
    #[inline(always)]
    fn product_planes_scaled(self, rhs: Self) -> Planes<W> {
        if !W::PREFERS_PRODUCTS {
            return self.product_planes(rhs);
        }
        let [low, high] = self.0.mul_wide(rhs.0);
        let low_high = low.shr::<32>();
        Planes { low: low_high + high.low_half(), high: high.shr::<32>() - low_high - low.low_half() }
    }

    /// For the high plane `l + 2^32 h`: `low + 2^32 l + (2^32 - 1) h`. The low plane is below `2^60.8`, the high one and
    /// the last term are below `2^59.4`, so the sum of the first and the last term is below 2^62, and one fold is enough.
    #[inline(always)]
    fn from_planes(Planes { low, high }: Planes<W>) -> Self {
        let small = low + high.shr::<32>().mul_epsilon();
        Self(high.shl::<32>().add_folded(small))
    }

    #[inline(always)]
    fn carry(planes: Planes<W>) -> Planes<W> {
        planes
    }

    #[inline(always)]
    fn halves(planes: Planes<W>) -> Planes<W> {
        planes
    }
}
