//! Single elements.

use super::{EPSILON, MODULUS};
use crate::{Algebra, Field, FieldError, Invert, PrimeField};
use proofmill_cpu::Portable;
use proofmill_memory::Zeroed;
use rand::RngCore;
use std::{
    fmt,
    ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign},
};

/// An element of the field of p = 2^64 - 2^32 + 1, canonical: the integer below p in one word.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Goldilocks(u64);

// SAFETY: all-zero bytes are the element zero.
unsafe impl Zeroed for Goldilocks {}

impl Goldilocks {
    /// The length of an encoding in bytes.
    pub const BYTES: usize = 8;

    /// The largest s with `2^s | p - 1`.
    pub const TWO_ADICITY: u32 = 32;

    /// The smallest generator of the multiplicative group.
    pub const GENERATOR: Self = Self(7);

    /// The root of unity of order 2^32 of Polygon's library. Its `2^29`th power is `2^24`, the root of order 8, so the roots
    /// of order up to 64 are powers of two.
    pub const ROOT_OF_UNITY: Self = Self(7_277_203_076_849_721_926);

    /// The element of an integer below p; `None` for larger integers.
    #[inline(always)]
    pub const fn from_canonical(word: u64) -> Option<Self> {
        if word < MODULUS { Some(Self(word)) } else { None }
    }

    /// The element of any word, reduced modulo p.
    #[inline(always)]
    pub const fn new(word: u64) -> Self {
        Self(if word < MODULUS { word } else { word - MODULUS })
    }

    /// The integer below p.
    #[inline(always)]
    pub const fn to_canonical(self) -> u64 {
        self.0
    }

    /// The integers below p.
    #[inline(always)]
    pub fn as_words(elements: &[Self]) -> &[u64] {
        // SAFETY: `Goldilocks` is `repr(transparent)` over the word.
        unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), elements.len()) }
    }

    /// The words, mutable.
    ///
    /// # Safety
    /// Only integers below p may be written into them.
    #[inline(always)]
    pub unsafe fn as_words_mut(elements: &mut [Self]) -> &mut [u64] {
        // SAFETY: `Goldilocks` is `repr(transparent)` over the word.
        unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), elements.len()) }
    }

    /// Casts words to elements if all are below p.
    ///
    /// # Errors
    /// The index of the first word that is not below p.
    pub fn from_words(words: &[u64]) -> Result<&[Self], usize> {
        match words.iter().position(|word| *word >= MODULUS) {
            Some(index) => Err(index),
            // SAFETY: `Goldilocks` is `repr(transparent)` over the word, and each is below p.
            None => Ok(unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len()) }),
        }
    }

    /// `low + 2^64 high`, modulo p.
    #[inline(always)]
    pub const fn reduce(product: u128) -> Self {
        let (low, high) = (product as u64, (product >> 64) as u64);
        let (difference, borrow) = low.overflowing_sub(high >> 32);
        let difference = if borrow { difference.wrapping_sub(EPSILON) } else { difference };
        let (sum, carry) = difference.overflowing_add((high & EPSILON) * EPSILON);
        Self::new(if carry { sum.wrapping_add(EPSILON) } else { sum })
    }

    /// The root of unity of order `2^log_order`: [`ROOT_OF_UNITY`](Self::ROOT_OF_UNITY) to a power of two; `None` above the
    /// field's two-adicity.
    pub fn root_of_unity(log_order: u32) -> Option<Self> {
        let squarings = Self::TWO_ADICITY.checked_sub(log_order)?;
        Some((0..squarings).fold(Self::ROOT_OF_UNITY, |root, _| root.square()))
    }

    /// A uniform element.
    pub fn random(rng: &mut impl RngCore) -> Self {
        loop {
            if let Some(element) = Self::from_canonical(rng.next_u64()) {
                return element;
            }
        }
    }

    /// Decodes 8 little-endian bytes of an integer below p.
    ///
    /// # Errors
    /// [`FieldError::NotCanonical`].
    pub fn from_bytes_le(bytes: [u8; Self::BYTES]) -> Result<Self, FieldError> {
        Self::from_canonical(u64::from_le_bytes(bytes)).ok_or(FieldError::NotCanonical("Goldilocks"))
    }

    /// The 8 little-endian bytes of the integer below p.
    pub const fn to_bytes_le(self) -> [u8; Self::BYTES] {
        self.0.to_le_bytes()
    }
}

impl From<u32> for Goldilocks {
    fn from(integer: u32) -> Self {
        Self(integer.into())
    }
}

impl fmt::Debug for Goldilocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Goldilocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Add for Goldilocks {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        let (sum, carry) = self.0.overflowing_add(rhs.0);
        let (reduced, borrow) = sum.overflowing_sub(MODULUS);
        Self(if borrow && !carry { sum } else { reduced })
    }
}

impl Sub for Goldilocks {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        let (difference, borrow) = self.0.overflowing_sub(rhs.0);
        Self(if borrow { difference.wrapping_add(MODULUS) } else { difference })
    }
}

impl Mul for Goldilocks {
    type Output = Self;
    #[inline(always)]
    fn mul(self, rhs: Self) -> Self {
        Self::reduce(u128::from(self.0) * u128::from(rhs.0))
    }
}

impl Neg for Goldilocks {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::ZERO - self
    }
}

impl AddAssign for Goldilocks {
    #[inline(always)]
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

impl SubAssign for Goldilocks {
    #[inline(always)]
    fn sub_assign(&mut self, rhs: Self) {
        *self = *self - rhs;
    }
}

impl MulAssign for Goldilocks {
    #[inline(always)]
    fn mul_assign(&mut self, rhs: Self) {
        *self = *self * rhs;
    }
}

impl Algebra for Goldilocks {
    type Token = Portable;

    #[inline(always)]
    fn token(&self) -> Portable {
        Portable
    }

    #[inline(always)]
    fn zero(_: Portable) -> Self {
        Self::ZERO
    }

    #[inline(always)]
    fn one(_: Portable) -> Self {
        Self::ONE
    }

    #[inline(always)]
    fn square(self) -> Self {
        self * self
    }
}

impl Field for Goldilocks {
    const ZERO: Self = Self(0);
    const ONE: Self = Self(1);
}

impl Invert for Goldilocks {
    /// Fermat's `x^(p - 2)`, with `p - 2 = 0xfffffffe_ffffffff`: 63 squares and 9 products.
    fn invert_vartime(&self) -> Option<Self> {
        if self.is_zero() {
            return None;
        }
        let power = |x: Self, squarings: u32| (0..squarings).fold(x, |x, _| x.square());
        // x^(2^k - 1) with doubling k.
        let ones1 = *self;
        let ones2 = power(ones1, 1) * ones1;
        let ones3 = power(ones2, 1) * ones1;
        let ones6 = power(ones3, 3) * ones3;
        let ones12 = power(ones6, 6) * ones6;
        let ones24 = power(ones12, 12) * ones12;
        let ones30 = power(ones24, 6) * ones6;
        let ones31 = power(ones30, 1) * ones1;
        // 31 ones, a zero, 32 ones.
        Some(power(ones31, 33) * (power(ones31, 1) * ones1))
    }
}

impl PrimeField for Goldilocks {
    type Words = [u64; 1];
    const BITS: u32 = 64;

    fn to_words(&self) -> [u64; 1] {
        [self.0]
    }
}
