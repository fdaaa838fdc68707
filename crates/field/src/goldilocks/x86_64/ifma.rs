//! Eight elements in limbs of 52 bits: AVX-512 IFMA.
//!
//! An element is `low mod 2^52 + 2^52 high`. The instructions add the limbs' products at no extra cost, and since the high
//! limb may be wider than the 12 bits that an element needs, the reduction of a product needs no carry propagation.

use super::U64x8;
use crate::{
    Algebra, Lanes,
    goldilocks::{
        EPSILON, Factor, Gaussian, GoldilocksVector, MODULUS, Planes, Twiddle, U64s, gaussian::PRODUCT_ZERO,
    },
};
use proofmill_cpu::Avx512Ifma;
use std::{
    arch::x86_64::{_mm512_madd52hi_epu64, _mm512_madd52lo_epu64},
    ops::{Add, Mul, Neg, Sub},
};

type U64x8Ifma = U64x8<Avx512Ifma>;

/// Eight elements; the high limb is below 2^26, so the product of two high limbs fits a limb.
#[derive(Clone, Copy, Debug)]
pub struct IfmaChain {
    /// The bits from 52 on are unspecified.
    low: U64x8Ifma,
    high: U64x8Ifma,
}

/// The bits of a limb.
const LIMB: u32 = 52;

/// p with a low limb so large that subtractions from it never become negative: the top parts of products are below `2^53`,
/// and shifted below `2^61`.
const ROOMY: [u64; 2] = [(1 << 61) - (1 << 32) + 1, (1 << 12) - (1 << 9)];

/// The same for operands with high limbs below `2^23`: the low limb of a fresh plane must leave room for sums.
const TIGHT: [u64; 2] = [(5 << LIMB) - (1 << 32) + 1, (1 << 12) - 5];

impl U64x8Ifma {
    /// `self + low 52 bits of a b`; only the low 52 bits of each factor are used.
    #[inline(always)]
    fn madd_low(self, a: Self, b: Self) -> Self {
        // SAFETY: the words hold an `Avx512Ifma`, which proves the instruction.
        Self { words: unsafe { _mm512_madd52lo_epu64(self.words, a.words, b.words) }, ..self }
    }

    /// `self + bits 52..104 of a b`; only the low 52 bits of each factor are used.
    #[inline(always)]
    fn madd_high(self, a: Self, b: Self) -> Self {
        // SAFETY: as above.
        Self { words: unsafe { _mm512_madd52hi_epu64(self.words, a.words, b.words) }, ..self }
    }

    #[inline(always)]
    fn low_bits<const K: u32>(self) -> Self {
        self & self.like((1 << K) - 1)
    }

    /// One word in every lane.
    #[inline(always)]
    fn like(self, word: u64) -> Self {
        Self::splat(self.token, word)
    }
}

impl IfmaChain {
    /// The three limbs of a product, plus `offset`.
    #[inline(always)]
    fn multiply(self, rhs: Self, offset: [u64; 2]) -> [U64x8Ifma; 3] {
        let (a, b) = (self, rhs);
        let low = a.low.like(offset[0]).madd_low(a.low, b.low);
        let middle = a.low.like(offset[1]).madd_high(a.low, b.low);
        let middle = middle.madd_low(a.low, b.high).madd_low(a.high, b.low);
        let top = a.low.like(0).madd_low(a.high, b.high);
        [low, middle, top.madd_high(a.low, b.high).madd_high(a.high, b.low)]
    }

    /// The three limbs of a square, plus the offset.
    #[inline(always)]
    fn multiply_by_itself(self, offset: [u64; 2]) -> [U64x8Ifma; 3] {
        let twice = self.high + self.high;
        let low = self.low.like(offset[0]).madd_low(self.low, self.low);
        let middle = self.low.like(offset[1]).madd_high(self.low, self.low);
        let top = self.low.like(0).madd_low(self.high, self.high);
        [low, middle.madd_low(self.low, twice), top.madd_high(self.low, twice)]
    }

    /// `low + 2^52 middle + 2^104 top` with a high plane below 2^22, by `2^64 = 2^32 - 1` and `2^104 = -2^8`; `middle` is
    /// below 2^54, and `low` at least `2^8 top`.
    #[inline(always)]
    fn reduce([low, middle, top]: [U64x8Ifma; 3]) -> Planes<U64x8Ifma> {
        let Planes { low, high } = fold(low, middle);
        Planes { low: low - top.shl::<8>(), high }
    }

    /// Carries the bits above the low limb into the high one.
    #[inline(always)]
    fn carried(Planes { low, high }: Planes<U64x8Ifma>) -> Self {
        Self { low, high: high + low.shr::<LIMB>() }
    }
}

/// `low + 2^52 high` with a high plane below 2^22, from one below 2^54, by `2^64 = 2^32 - 1`.
#[inline(always)]
fn fold(low: U64x8Ifma, high: U64x8Ifma) -> Planes<U64x8Ifma> {
    let (above, epsilon) = (high.shr::<12>(), high.like(EPSILON));
    Planes { low: low.madd_low(above, epsilon), high: high.low_bits::<12>().madd_high(above, epsilon) }
}

impl Mul for IfmaChain {
    type Output = Self;
    #[inline(always)]
    fn mul(self, rhs: Self) -> Self {
        Self::carried(Self::reduce(self.multiply(rhs, ROOMY)))
    }
}

impl Add for IfmaChain {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        Self::from_planes(self.planes() + rhs.planes())
    }
}

impl Sub for IfmaChain {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        self + -rhs
    }
}

impl Neg for IfmaChain {
    /// `2^16 p - self`: the low limb of `2^16 p` is at least 2^52 and the high one at least 2^26.
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        const MULTIPLE: [u64; 2] = [(1 << 53) + (1 << 16) - (1 << 48), (1 << 28) - 2];
        let Planes { low, high } = self.planes();
        let (low, high) = (low.like(MULTIPLE[0]) - low, high.like(MULTIPLE[1]) - high);
        Self::from_planes(Planes { low, high })
    }
}

impl Algebra for IfmaChain {
    type Token = Avx512Ifma;

    #[inline(always)]
    fn token(&self) -> Avx512Ifma {
        self.low.token
    }

    #[inline(always)]
    fn zero(token: Avx512Ifma) -> Self {
        Self::broadcast(token, 0)
    }

    #[inline(always)]
    fn one(token: Avx512Ifma) -> Self {
        Self::broadcast(token, 1)
    }

    #[inline(always)]
    fn square(self) -> Self {
        Self::carried(Self::reduce(self.multiply_by_itself(ROOMY)))
    }
}

impl Lanes<u64> for IfmaChain {
    const WIDTH: usize = U64x8Ifma::WIDTH;

    #[inline(always)]
    fn load(token: Avx512Ifma, words: &[u64]) -> Self {
        Self::from_words(U64x8Ifma::load(token, words))
    }

    #[inline(always)]
    fn store(self, words: &mut [u64]) {
        self.into_words().store(words);
    }

    #[inline(always)]
    fn broadcast(token: Avx512Ifma, word: u64) -> Self {
        Self::from_words(U64x8Ifma::splat(token, word))
    }
}

impl GoldilocksVector for IfmaChain {
    type U64s = U64x8Ifma;

    const CHAINS: usize = 4;

    const SPLIT: u32 = LIMB;

    /// Zero: planes are never negative.
    const OFFSET: [u64; 2] = [0; 2];

    #[inline(always)]
    fn from_words(words: U64x8Ifma) -> Self {
        Self { low: words, high: words.shr::<LIMB>() }
    }

    #[inline(always)]
    fn into_words(self) -> U64x8Ifma {
        // The bits of the high limb from 12 on have weight 2^64 and more, and 2^64 is 2^32 - 1.
        let low = self.low.low_bits::<LIMB>() + self.high.shl::<LIMB>();
        let above = self.high.shr::<12>();
        low.add_folded(above.mul_epsilon()).canonical()
    }

    /// With fused multiply-adds. The middle limb is below `2^57.7`, so the high plane is below 2^26; the top limb
    /// is below 2^29.
    #[inline(always)]
    fn dot<const N: usize>(a: [Self; N], b: [Self; N]) -> Self {
        const { assert!(N > 0 && N <= 16, "what planes take") };
        // Two chains per limb, because each sum depends on the one before.
        let token = a[0].token();
        let zero = U64x8Ifma::splat(token, 0);
        let (mut low, mut top) = (U64x8Ifma::splat(token, ROOMY[0]), [zero; 2]);
        let mut middle = [U64x8Ifma::splat(token, ROOMY[1]), zero];
        for i in 0..N {
            let (a, b) = (a[i], b[i]);
            low = low.madd_low(a.low, b.low);
            middle[0] = middle[0].madd_high(a.low, b.low).madd_low(a.low, b.high);
            middle[1] = middle[1].madd_low(a.high, b.low);
            top[0] = top[0].madd_low(a.high, b.high).madd_high(a.low, b.high);
            top[1] = top[1].madd_high(a.high, b.low);
        }
        let (middle, top) = (middle[0] + middle[1], top[0] + top[1]);
        Self::carried(Self::reduce([low, middle, top]))
    }

    #[inline(always)]
    fn planes(self) -> Planes<U64x8Ifma> {
        Planes { low: self.low.low_bits::<LIMB>(), high: self.high }
    }

    /// For operands with high limbs below 2^23, as those of products: the low plane is below `2^54.7`, the high one
    /// below `2^21.7`.
    #[inline(always)]
    fn product_planes(self, rhs: Self) -> Planes<U64x8Ifma> {
        Self::reduce(self.multiply(rhs, TIGHT))
    }

    /// For a low plane below `2^64 - 2^52` and a high one below 2^54.
    #[inline(always)]
    fn from_planes(planes: Planes<U64x8Ifma>) -> Self {
        Self::carried(fold(planes.low, planes.high))
    }

    #[inline(always)]
    fn carry(Planes { low, high }: Planes<U64x8Ifma>) -> Planes<U64x8Ifma> {
        Planes { low: low.low_bits::<LIMB>(), high: high + low.shr::<LIMB>() }
    }

    /// For any low plane, and a high one below 2^43; its bits above 64 are reduced by `2^64 = 2^32 - 1`.
    #[inline(always)]
    fn halves(Planes { low, high }: Planes<U64x8Ifma>) -> Planes<U64x8Ifma> {
        let high = low.shr::<32>() + high.shl::<{ LIMB - 32 }>();
        let above = high.shr::<32>();
        Planes { low: low.low_half() - above, high: high.low_half() + above }
    }
}

/// Sixteen times the parts of a factor, below 2^52: the high half of a 52-bit product with them is the product from 2^48 on.
#[derive(Clone, Copy, Debug)]
pub struct IfmaFactor {
    re: U64x8Ifma,
    im: U64x8Ifma,
    /// `16 (2^48 - 1) - im`.
    minus_im: U64x8Ifma,
}

impl IfmaFactor {
    #[inline(always)]
    fn of_parts(re: U64x8Ifma, im: U64x8Ifma) -> Self {
        Self { re, im, minus_im: im.like(((1 << 48) - 1) << 4) - im }
    }

    /// `x self` for x with parts below 2^49 and 2^50; the low halves are sixteen times their value.
    ///
    /// The real part is at least the offset's less 2^17, and below 2^51: the high half that is subtracted is no more than `x.im`, which is
    /// added. The imaginary part is at least the offset's less 2^19, and below 2^50 if `x.re` is below 2^48.
    #[inline(always)]
    fn multiply(self, x: Gaussian<U64x8Ifma>) -> Gaussian<U64x8Ifma> {
        let ([offset_re, offset_im], zero) = (PRODUCT_ZERO, self.re.like(0));
        // The product with `minus_im` is `(i - 1) x.im` too large.
        let high = zero.like(offset_im) - x.im;
        let low_re =
            zero.like((offset_re + offset_im) << 4).madd_low(x.re, self.re).madd_low(x.im, self.minus_im);
        let high_im = high.madd_high(x.re, self.re).madd_high(x.im, self.minus_im);
        let low_im = zero.madd_low(x.re, self.im).madd_low(x.im, self.re);
        let high_re = high.madd_high(x.re, self.im).madd_high(x.im, self.re);
        Gaussian { re: low_re.shr::<4>() - high_re, im: low_im.shr::<4>() + high_im }
    }
}

impl Factor<U64x8Ifma> for IfmaFactor {
    /// An element with parts below 2^48 and 2^50.
    type Power = Gaussian<U64x8Ifma>;

    const APART: bool = true;

    const PREFERS_SHIFTS: bool = false;

    #[inline(always)]
    fn new(words: U64x8Ifma) -> Self {
        let parts = Gaussian::new(words);
        Self::of_parts(parts.re.shl::<4>(), parts.im.shl::<4>())
    }

    #[inline(always)]
    fn splat(token: Avx512Ifma, twiddle: &Twiddle) -> Self {
        Self::of_parts(U64x8Ifma::splat(token, twiddle.parts[0]), U64x8Ifma::splat(token, twiddle.parts[1]))
    }

    #[inline(always)]
    fn times(self, x: Gaussian<U64x8Ifma>) -> Gaussian<U64x8Ifma> {
        self.multiply(x.reduced())
    }

    #[inline(always)]
    fn times_words(self, words: U64x8Ifma) -> Gaussian<U64x8Ifma> {
        self.multiply(Gaussian::new(words))
    }

    #[inline(always)]
    fn power(words: U64x8Ifma) -> Gaussian<U64x8Ifma> {
        Gaussian::new(words)
    }

    #[inline(always)]
    fn raise(self, power: Gaussian<U64x8Ifma>) -> Gaussian<U64x8Ifma> {
        let Gaussian { re, im } = self.multiply(power);
        Gaussian { re: re.low_bits::<48>(), im: im + re.shr::<48>() }
    }

    #[inline(always)]
    fn scale(power: Gaussian<U64x8Ifma>, words: U64x8Ifma) -> Gaussian<U64x8Ifma> {
        Self::new(words).multiply(power)
    }
}

const _: () = {
    // Both offsets are equal to p.
    assert!(ROOMY[0] as u128 + ((ROOMY[1] as u128) << LIMB) == MODULUS as u128);
    assert!(TIGHT[0] as u128 + ((TIGHT[1] as u128) << LIMB) == MODULUS as u128);
};
