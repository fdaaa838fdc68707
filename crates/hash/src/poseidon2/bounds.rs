//! Proof that no plane overflows its word for any input: the permutation on intervals.

use super::{Instance, Parameters, Poseidon2, constants::planes_of, permutation::permute};
use proofmill_field::Lanes;
use proofmill_field::goldilocks::{GoldilocksLanes, MODULUS, U64s};
use std::ops::{Add, BitAnd, Sub};

const EPSILON: i128 = 0xffff_ffff;

/// An interval of integers that a word may represent; negative ones are in two's complement. `PRODUCTS` as in
/// [`U64s::PREFERS_PRODUCTS`].
#[derive(Clone, Copy, Debug)]
struct Interval<const PRODUCTS: bool> {
    least: i128,
    most: i128,
}

impl<const PRODUCTS: bool> Interval<PRODUCTS> {
    const ANY: Self = Self { least: 0, most: u64::MAX as i128 };

    /// Asserts that the interval fits a signed or an unsigned word.
    fn checked(least: i128, most: i128) -> Self {
        assert!(least >= -(1 << 63), "{least} is below a word");
        assert!(most < if least < 0 { 1 << 63 } else { 1 << 64 }, "{most} is above a word");
        Self { least, most }
    }

    fn to(most: i128) -> Self {
        Self { least: 0, most }
    }
}

impl<const PRODUCTS: bool> Add for Interval<PRODUCTS> {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self::checked(self.least + rhs.least, self.most + rhs.most)
    }
}

impl<const PRODUCTS: bool> Sub for Interval<PRODUCTS> {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self {
        Self::checked(self.least - rhs.most, self.most - rhs.least)
    }
}

impl<const PRODUCTS: bool> BitAnd for Interval<PRODUCTS> {
    type Output = Self;
    fn bitand(self, mask: Self) -> Self {
        Self::to(mask.most)
    }
}

impl<const PRODUCTS: bool> U64s for Interval<PRODUCTS> {
    type Token = ();

    const PREFERS_PRODUCTS: bool = PRODUCTS;

    const WIDTH: usize = 1;

    fn token(&self) {}

    fn load((): (), _: &[u64]) -> Self {
        Self::ANY
    }

    fn store(self, _: &mut [u64]) {
        assert!(self.least >= 0 && self.most < MODULUS.into(), "canonical");
    }

    fn splat((): (), word: u64) -> Self {
        Self { least: word.into(), most: word.into() }
    }

    /// Bits may be shifted out only if no bit below the 32nd is then used, or no bit above it matters.
    fn shl<const K: u32>(self) -> Self {
        let (least, most) = (self.least << K, self.most << K);
        if K > 16 {
            return Self::to((1 << 64) - (1 << K));
        }
        Self::checked(least, most)
    }

    fn shr<const K: u32>(self) -> Self {
        assert!(self.least >= 0, "{} is negative", self.least);
        Self { least: self.least >> K, most: self.most >> K }
    }

    fn shr_signed<const K: u32>(self) -> Self {
        assert!(self.least >= -(1 << 62) && self.most < 1 << 62, "{self:?} is too wide");
        Self { least: self.least >> K, most: self.most >> K }
    }

    fn mul_halves(self, rhs: Self) -> Self {
        let half = |word: Self| if word.least < 0 { EPSILON } else { word.most.min(EPSILON) };
        Self::to(half(self) * half(rhs))
    }

    fn add_folded(self, rhs: Self) -> Self {
        assert!(self.least >= 0 && rhs.least >= 0, "{self:?} and {rhs:?}");
        assert!(self.most.min(rhs.most) <= (1 << 64) - (1 << 32), "{self:?} and {rhs:?}");
        Self::ANY
    }

    fn sub_folded(self, rhs: Self) -> Self {
        assert!(self.least >= 0 && rhs.least >= 0 && rhs.most <= MODULUS.into(), "{self:?} and {rhs:?}");
        Self::ANY
    }

    fn canonical(self) -> Self {
        Self::to(i128::from(MODULUS) - 1)
    }

    /// Any low word; the high one is the largest for the largest factors, which must not be negative.
    fn mul_wide(self, rhs: Self) -> [Self; 2] {
        assert!(self.least >= 0 && rhs.least >= 0, "{self:?} and {rhs:?}");
        let high = (self.most.unsigned_abs() * rhs.most.unsigned_abs()) >> 64;
        [Self::ANY, Self::to(high as i128)]
    }

    fn square_wide(self) -> [Self; 2] {
        [Self::ANY; 2]
    }

    fn mul_parts(self, _: Self) -> [Self; 3] {
        [Self::ANY; 3]
    }
}

/// With any constants: planes are largest, or smallest, for the extreme words.
fn stays_within_words<const WIDTH: usize, const PRODUCTS: bool>()
where
    Poseidon2<WIDTH>: Parameters,
{
    for word in [0, u64::MAX] {
        let constants: Vec<_> = (0..Instance::<WIDTH>::CONSTANTS)
            .map(|index| planes_of::<GoldilocksLanes<Interval<PRODUCTS>>, WIDTH>(index, word))
            .collect();
        let mut state = [[GoldilocksLanes::new(Interval::<PRODUCTS>::ANY)]; WIDTH];
        permute::<Poseidon2<WIDTH>, GoldilocksLanes<Interval<PRODUCTS>>, WIDTH, 1>(&mut state, &constants);
        state.iter().for_each(|[element]| element.store(&mut []));
    }
}

#[test]
fn planes_stay_within_words() {
    stays_within_words::<8, false>();
    stays_within_words::<8, true>();
    stays_within_words::<12, false>();
    stays_within_words::<12, true>();
}
