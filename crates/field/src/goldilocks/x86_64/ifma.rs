//! Eight elements in limbs of 52 bits: AVX-512 IFMA.
//!
//! An element is `low mod 2^52 + 2^52 high`; the limbs' products are added for nothing, and since the high limb may be
//! wider than the 12 bits that an element needs, a product is reduced without a single carry that must be looked at.
//!
//! SAFETY, for every intrinsic here: values of these types are made by code that runs inside
//! `GoldilocksEngine::run` of a token that proves the features.

use super::Avx512Words;
use crate::{
    Algebra,
    goldilocks::{
        EPSILON, Factor, Gaussian, GoldilocksVector, MODULUS, Planes, Twiddle, Words, gaussian::PRODUCT_ZERO,
    },
};
use std::{
    arch::x86_64::*,
    ops::{Add, Mul, Neg, Sub},
};

/// Eight elements; the high limb is below 2^26, so that a product of two fits a limb.
#[derive(Clone, Copy, Debug)]
pub struct IfmaLanes {
    /// The bits above 52 mean nothing.
    low: __m512i,
    high: __m512i,
}

/// Bits of a limb.
const LIMB: u32 = 52;

/// p with a low limb so large that nothing subtracted from it goes below zero: products' top parts are below `2^53`, shifted
/// below `2^61`.
const ROOMY: [u64; 2] = [(1 << 61) - (1 << 32) + 1, (1 << 12) - (1 << 9)];

/// The same for operands whose high limbs are below `2^23`: the low limb of a fresh plane must leave room for sums.
const TIGHT: [u64; 2] = [(5 << LIMB) - (1 << 32) + 1, (1 << 12) - 5];

/// `acc + low 52 bits of a b`, of the low 52 bits of each.
#[inline(always)]
fn madd_low(acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: see the head.
    unsafe { _mm512_madd52lo_epu64(acc, a, b) }
}

/// `acc + bits 52..104 of a b`, of the low 52 bits of each.
#[inline(always)]
fn madd_high(acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: see the head.
    unsafe { _mm512_madd52hi_epu64(acc, a, b) }
}

#[inline(always)]
fn splat(word: u64) -> __m512i {
    Avx512Words::splat(word).0
}

#[inline(always)]
fn add(a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: see the head.
    unsafe { _mm512_add_epi64(a, b) }
}

#[inline(always)]
fn sub(a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: see the head.
    unsafe { _mm512_sub_epi64(a, b) }
}

#[inline(always)]
fn shl<const K: u32>(a: __m512i) -> __m512i {
    // SAFETY: see the head.
    unsafe { _mm512_slli_epi64::<K>(a) }
}

#[inline(always)]
fn shr<const K: u32>(a: __m512i) -> __m512i {
    // SAFETY: see the head.
    unsafe { _mm512_srli_epi64::<K>(a) }
}

#[inline(always)]
fn low_bits<const K: u32>(a: __m512i) -> __m512i {
    // SAFETY: see the head.
    unsafe { _mm512_and_si512(a, splat((1 << K) - 1)) }
}

impl IfmaLanes {
    /// Three limbs of a product, `offset` added.
    #[inline(always)]
    fn multiply(self, rhs: Self, offset: [u64; 2]) -> [__m512i; 3] {
        let (a, b) = (self, rhs);
        let low = madd_low(splat(offset[0]), a.low, b.low);
        let middle = madd_high(splat(offset[1]), a.low, b.low);
        let middle = madd_low(madd_low(middle, a.low, b.high), a.high, b.low);
        let top = madd_low(splat(0), a.high, b.high);
        [low, middle, madd_high(madd_high(top, a.low, b.high), a.high, b.low)]
    }

    /// The same of a square.
    #[inline(always)]
    fn multiply_by_itself(self, offset: [u64; 2]) -> [__m512i; 3] {
        let twice = add(self.high, self.high);
        let low = madd_low(splat(offset[0]), self.low, self.low);
        let middle = madd_high(splat(offset[1]), self.low, self.low);
        let top = madd_low(splat(0), self.high, self.high);
        [low, madd_low(middle, self.low, twice), madd_high(top, self.low, twice)]
    }

    /// `low + 2^52 middle + 2^104 top` with a high plane below 2^22, by `2^64 = 2^32 - 1` and `2^104 = -2^8`; `middle` is
    /// below 2^54, and `low` at least `2^8 top`.
    #[inline(always)]
    fn reduce([low, middle, top]: [__m512i; 3]) -> Planes<Avx512Words> {
        let Planes { low, high } = fold(low, middle);
        Planes { low: Avx512Words(sub(low.0, shl::<8>(top))), high }
    }

    /// Moves what is above the low limb into the high one.
    #[inline(always)]
    fn carried(Planes { low, high }: Planes<Avx512Words>) -> Self {
        Self { low: low.0, high: add(high.0, shr::<LIMB>(low.0)) }
    }
}

/// `low + 2^52 high` with a high plane of less than 2^22 for 2^54, by `2^64 = 2^32 - 1`.
#[inline(always)]
fn fold(low: __m512i, high: __m512i) -> Planes<Avx512Words> {
    let (above, epsilon) = (shr::<12>(high), splat(EPSILON));
    Planes {
        low: Avx512Words(madd_low(low, above, epsilon)),
        high: Avx512Words(madd_high(low_bits::<12>(high), above, epsilon)),
    }
}

impl Mul for IfmaLanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, rhs: Self) -> Self {
        Self::carried(Self::reduce(self.multiply(rhs, ROOMY)))
    }
}

impl Add for IfmaLanes {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        Self::from_planes(self.planes() + rhs.planes())
    }
}

impl Sub for IfmaLanes {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        self + -rhs
    }
}

impl Neg for IfmaLanes {
    /// `2^16 p - self`, whose low limb is at least 2^52 and whose high one is at least 2^26.
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        const MULTIPLE: [u64; 2] = [(1 << 53) + (1 << 16) - (1 << 48), (1 << 28) - 2];
        let Planes { low, high } = self.planes();
        let low = Avx512Words(sub(splat(MULTIPLE[0]), low.0));
        let high = Avx512Words(sub(splat(MULTIPLE[1]), high.0));
        Self::from_planes(Planes { low, high })
    }
}

impl Algebra for IfmaLanes {
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0)
    }

    #[inline(always)]
    fn one() -> Self {
        Self::splat(1)
    }

    #[inline(always)]
    fn square(self) -> Self {
        Self::carried(Self::reduce(self.multiply_by_itself(ROOMY)))
    }
}

impl GoldilocksVector for IfmaLanes {
    type Words = Avx512Words;

    const CHAINS: usize = 4;

    const SPLIT: u32 = LIMB;

    /// Nothing: planes are never negative.
    const OFFSET: [u64; 2] = [0; 2];

    #[inline(always)]
    fn from_words(words: Avx512Words) -> Self {
        Self { low: words.0, high: shr::<LIMB>(words.0) }
    }

    #[inline(always)]
    fn into_words(self) -> Avx512Words {
        // The high limb's bits above 12 are worth 2^64 each, that is 2^32 - 1.
        let low = Avx512Words(add(low_bits::<LIMB>(self.low), shl::<LIMB>(self.high)));
        let above = Avx512Words(shr::<12>(self.high));
        low.add_folded(above.mul_epsilon()).canonical()
    }

    /// Multiplies and adds at once. The middle limb is below `2^57.7`, which makes the high plane less than 2^26; the top one
    /// is below 2^29.
    #[inline(always)]
    fn dot<const N: usize>(a: [Self; N], b: [Self; N]) -> Self {
        const { assert!(N > 0 && N <= 16, "what planes take") };
        // Two chains for each limb: each sum waits for the one before.
        let (mut low, mut top) = (splat(ROOMY[0]), [splat(0); 2]);
        let mut middle = [splat(ROOMY[1]), splat(0)];
        for i in 0..N {
            let (a, b) = (a[i], b[i]);
            low = madd_low(low, a.low, b.low);
            middle[0] = madd_low(madd_high(middle[0], a.low, b.low), a.low, b.high);
            middle[1] = madd_low(middle[1], a.high, b.low);
            top[0] = madd_high(madd_low(top[0], a.high, b.high), a.low, b.high);
            top[1] = madd_high(top[1], a.high, b.low);
        }
        let (middle, top) = (add(middle[0], middle[1]), add(top[0], top[1]));
        Self::carried(Self::reduce([low, middle, top]))
    }

    #[inline(always)]
    fn planes(self) -> Planes<Avx512Words> {
        Planes { low: Avx512Words(low_bits::<LIMB>(self.low)), high: Avx512Words(self.high) }
    }

    /// For operands whose high limbs are below 2^23, which products are: the low plane is below `2^54.7`, the high one
    /// below `2^21.7`.
    #[inline(always)]
    fn product_planes(self, rhs: Self) -> Planes<Avx512Words> {
        Self::reduce(self.multiply(rhs, TIGHT))
    }

    /// For a low plane below `2^64 - 2^52` and a high one below 2^54.
    #[inline(always)]
    fn from_planes(planes: Planes<Avx512Words>) -> Self {
        Self::carried(fold(planes.low.0, planes.high.0))
    }

    #[inline(always)]
    fn carry(Planes { low, high }: Planes<Avx512Words>) -> Planes<Avx512Words> {
        Planes {
            low: Avx512Words(low_bits::<LIMB>(low.0)),
            high: Avx512Words(add(high.0, shr::<LIMB>(low.0))),
        }
    }

    /// For any low plane, and a high one below 2^43; what of it is above 64 bits comes down by `2^64 = 2^32 - 1`.
    #[inline(always)]
    fn halves(Planes { low, high }: Planes<Avx512Words>) -> Planes<Avx512Words> {
        let high = low.shr::<32>() + high.shl::<{ LIMB - 32 }>();
        let above = high.shr::<32>();
        Planes { low: low.low_half() - above, high: high.low_half() + above }
    }
}

/// Sixteen times the parts of a factor, below 2^52: the high half of a 52-bit product by them is what is above 2^48.
#[derive(Clone, Copy, Debug)]
pub struct IfmaFactor {
    re: __m512i,
    im: __m512i,
}

impl IfmaFactor {
    /// `x self` for x with parts below 2^49; low halves are sixteen times what they stand for.
    #[inline(always)]
    fn multiply(self, x: Gaussian<Avx512Words>) -> Gaussian<Avx512Words> {
        let (a, b, zero) = ([x.re.0, x.im.0], [self.re, self.im], splat(0));
        let re_low = sub(madd_low(splat(PRODUCT_ZERO[0] << 4), a[0], b[0]), madd_low(zero, a[1], b[1]));
        let re_high = madd_high(madd_high(zero, a[0], b[1]), a[1], b[0]);
        let im_low = madd_low(madd_low(zero, a[0], b[1]), a[1], b[0]);
        let im_high = sub(madd_high(splat(PRODUCT_ZERO[1]), a[0], b[0]), madd_high(zero, a[1], b[1]));
        Gaussian {
            re: Avx512Words(sub(shr::<4>(re_low), re_high)),
            im: Avx512Words(add(shr::<4>(im_low), im_high)),
        }
    }
}

impl Factor<Avx512Words> for IfmaFactor {
    /// Reduced.
    type Power = Gaussian<Avx512Words>;

    const APART: bool = true;

    const PREFERS_SHIFTS: bool = false;

    #[inline(always)]
    fn new(words: Avx512Words) -> Self {
        let parts = Gaussian::new(words);
        Self { re: shl::<4>(parts.re.0), im: shl::<4>(parts.im.0) }
    }

    #[inline(always)]
    fn splat(twiddle: &Twiddle) -> Self {
        Self { re: splat(twiddle.parts[0]), im: splat(twiddle.parts[1]) }
    }

    #[inline(always)]
    fn times(self, x: Gaussian<Avx512Words>) -> Gaussian<Avx512Words> {
        self.multiply(x.reduced())
    }

    #[inline(always)]
    fn times_words(self, words: Avx512Words) -> Gaussian<Avx512Words> {
        self.multiply(Gaussian::new(words))
    }

    #[inline(always)]
    fn power(words: Avx512Words) -> Gaussian<Avx512Words> {
        Gaussian::new(words)
    }

    #[inline(always)]
    fn raise(self, power: Gaussian<Avx512Words>) -> Gaussian<Avx512Words> {
        self.multiply(power).reduced()
    }

    #[inline(always)]
    fn scale(power: Gaussian<Avx512Words>, words: Avx512Words) -> Gaussian<Avx512Words> {
        Self::new(words).multiply(power)
    }
}

const _: () = {
    // Both offsets stand for p.
    assert!(ROOMY[0] as u128 + ((ROOMY[1] as u128) << LIMB) == MODULUS as u128);
    assert!(TIGHT[0] as u128 + ((TIGHT[1] as u128) << LIMB) == MODULUS as u128);
};
