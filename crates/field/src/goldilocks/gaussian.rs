//! Elements as Gaussian integers: `re + i im` with `i = 2^48`, since `2^96 = -1` modulo p.
//!
//! Sums need no carries, a factor i is free, and other powers of two cost shifts: suited to transforms by roots of unity of
//! small order. Zero is also `2^16 + i (2^32 - 1)`, whose multiples keep words non-negative.

use super::{GoldilocksLanes, U64s};
use std::ops::{Add, Sub};

/// The bits of a part of an element in its smallest form.
const PART: u32 = 48;

/// A mask of the bits of a part.
const PART_MASK: u64 = (1 << PART) - 1;

/// `2^log (2^16 + i (2^32 - 1)) (1 - i)`, which is zero, with both parts about `2^(log + 32)`.
const fn zero(log: u32) -> [u64; 2] {
    [((1 << 32) + (1 << 16) - 1) << log, ((1 << 32) - (1 << 16) - 1) << log]
}

/// Elements in lanes; the parts are signed.
#[derive(Clone, Copy, Debug)]
pub struct Gaussian<W> {
    /// The real part.
    pub re: W,
    /// The imaginary part.
    pub im: W,
}

impl<W: U64s> Add for Gaussian<W> {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        Self { re: self.re + rhs.re, im: self.im + rhs.im }
    }
}

impl<W: U64s> Sub for Gaussian<W> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        Self { re: self.re - rhs.re, im: self.im - rhs.im }
    }
}

impl<W: U64s> Gaussian<W> {
    /// One element in every lane.
    #[inline(always)]
    fn splat(token: W::Token, [re, im]: [u64; 2]) -> Self {
        Self { re: W::splat(token, re), im: W::splat(token, im) }
    }

    /// The elements of any words; the parts are below 2^48 and 2^16.
    #[inline(always)]
    pub fn new(words: W) -> Self {
        Self { re: words & W::splat(words.token(), PART_MASK), im: words.shr::<PART>() }
    }

    /// `self + i^turns rhs`.
    #[inline(always)]
    pub fn add_turned(self, rhs: Self, turns: u32) -> Self {
        match turns % 4 {
            0 => self + rhs,
            1 => Self { re: self.re - rhs.im, im: self.im + rhs.re },
            2 => self - rhs,
            _ => Self { re: self.re + rhs.im, im: self.im - rhs.re },
        }
    }

    /// `i^turns self`.
    #[inline(always)]
    pub fn turned(self, turns: u32) -> Self {
        match turns % 4 {
            0 => self,
            turns => Self::splat(self.re.token(), [0, 0]).add_turned(self, turns),
        }
    }

    /// `self 2^(3 exponent)`, the product with a power of the root of order 64, for a constant exponent and non-negative
    /// parts; the parts of the result are below 2^49 in absolute value.
    #[inline(always)]
    pub fn mul_root_of_64(self, exponent: usize) -> Self {
        let product = match exponent % 16 {
            1 => self.mul_power_of_two::<3>(),
            2 => self.mul_power_of_two::<6>(),
            3 => self.mul_power_of_two::<9>(),
            4 => self.mul_power_of_two::<12>(),
            5 => self.mul_power_of_two::<15>(),
            6 => self.mul_power_of_two::<18>(),
            7 => self.mul_power_of_two::<21>(),
            8 => self.mul_power_of_two::<24>(),
            9 => self.mul_power_of_two::<27>(),
            10 => self.mul_power_of_two::<30>(),
            11 => self.mul_power_of_two::<33>(),
            12 => self.mul_power_of_two::<36>(),
            13 => self.mul_power_of_two::<39>(),
            14 => self.mul_power_of_two::<42>(),
            15 => self.mul_power_of_two::<45>(),
            _ => self.reduced(),
        };
        product.turned((exponent / 16) as u32)
    }

    /// `self 2^K` for `0 < K < 48`; the parts are below `2^48` plus a part of `self` divided by `2^(48 - K)`, in absolute
    /// value.
    #[inline(always)]
    pub fn mul_power_of_two<const K: u32>(self) -> Self {
        let (re_low, re_high) = split::<W, K>(self.re);
        let (im_low, im_high) = split::<W, K>(self.im);
        Self { re: re_low - im_high, im: im_low + re_high }
    }

    /// The same elements with non-negative parts, if the parts of `self` are above `-2^57`.
    #[inline(always)]
    pub fn lifted(self) -> Self {
        self + Self::splat(self.re.token(), zero(25))
    }

    /// The same elements with parts below `2^48` and `2^48 + 2^15`, from non-negative parts below 2^63. The real part
    /// must be at least 2^15.
    #[inline(always)]
    pub fn reduced(self) -> Self {
        let mask = W::splat(self.re.token(), PART_MASK);
        let re = self.re - self.im.shr::<PART>();
        Self { re: re & mask, im: (self.im & mask) + re.shr::<PART>() }
    }

    /// Words that represent the elements, canonical or not, from non-negative parts below 2^63. The real part must be at
    /// least 2^15.
    #[inline(always)]
    pub fn words(self) -> W {
        // By 2^96 = -1.
        let re = self.re - self.im.shr::<PART>();
        self.im.shl::<PART>().add_folded(re).add_folded(self.im.shr::<16>().mul_epsilon())
    }
}

/// `low` and `high` of `x = low + 2^(48 - K) high`; low is returned times `2^K`.
#[inline(always)]
fn split<W: U64s, const K: u32>(x: W) -> (W, W) {
    match K {
        3 => (x.shl::<19>().shr::<16>(), x.shr_signed::<45>()),
        6 => (x.shl::<22>().shr::<16>(), x.shr_signed::<42>()),
        9 => (x.shl::<25>().shr::<16>(), x.shr_signed::<39>()),
        12 => (x.shl::<28>().shr::<16>(), x.shr_signed::<36>()),
        15 => (x.shl::<31>().shr::<16>(), x.shr_signed::<33>()),
        18 => (x.shl::<34>().shr::<16>(), x.shr_signed::<30>()),
        21 => (x.shl::<37>().shr::<16>(), x.shr_signed::<27>()),
        24 => (x.shl::<40>().shr::<16>(), x.shr_signed::<24>()),
        27 => (x.shl::<43>().shr::<16>(), x.shr_signed::<21>()),
        30 => (x.shl::<46>().shr::<16>(), x.shr_signed::<18>()),
        33 => (x.shl::<49>().shr::<16>(), x.shr_signed::<15>()),
        36 => (x.shl::<52>().shr::<16>(), x.shr_signed::<12>()),
        39 => (x.shl::<55>().shr::<16>(), x.shr_signed::<9>()),
        42 => (x.shl::<58>().shr::<16>(), x.shr_signed::<6>()),
        45 => (x.shl::<61>().shr::<16>(), x.shr_signed::<3>()),
        _ => unreachable!("no power of a root of order 64"),
    }
}

/// One factor for all lanes, in the forms that the levels use.
///
/// In memory the word is the first of three, where the assembly reads it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Twiddle {
    word: u64,
    /// The element's parts, times 16.
    pub(crate) parts: [u64; 2],
}

impl Twiddle {
    /// A word that represents the element, canonical or not.
    pub const fn word(self) -> u64 {
        self.word
    }

    /// A factor of any word.
    pub const fn new(word: u64) -> Self {
        Self { word, parts: [(word & PART_MASK) << 4, word >> PART << 4] }
    }
}

/// The factors by which a level multiplies elements in Gaussian form.
pub trait Factor<W: U64s>: Copy + Send + Sync {
    /// A factor for repeated multiplications by other factors.
    type Power: Copy + Send + Sync;

    /// Whether products are faster in a separate loop than among other code, because they need many registers.
    const APART: bool;

    /// Whether [`Gaussian::mul_root_of_64`] is faster than a product.
    const PREFERS_SHIFTS: bool;

    /// Factors of any words.
    fn new(words: W) -> Self;

    /// One factor in every lane.
    fn splat(token: W::Token, twiddle: &Twiddle) -> Self;

    /// `x self`, where x is a result of [`lifted`](Gaussian::lifted); the parts of the product are non-negative and below
    /// 2^51.
    fn times(self, x: Gaussian<W>) -> Gaussian<W>;

    /// `words self`, for any words; the bounds of the result are those of [`times`](Self::times).
    fn times_words(self, words: W) -> Gaussian<W>;

    /// Powers from any words.
    fn power(words: W) -> Self::Power;

    /// `power self`.
    fn raise(self, power: Self::Power) -> Self::Power;

    /// `words power`, for any words; the bounds of the result are those of [`times`](Self::times).
    fn scale(power: Self::Power, words: W) -> Gaussian<W>;
}

impl<W: U64s> Factor<W> for GoldilocksLanes<W> {
    type Power = Self;

    const APART: bool = false;

    const PREFERS_SHIFTS: bool = W::WIDTH > 1;

    #[inline(always)]
    fn new(words: W) -> Self {
        Self(words)
    }

    #[inline(always)]
    fn splat(token: W::Token, twiddle: &Twiddle) -> Self {
        Self(W::splat(token, twiddle.word))
    }

    #[inline(always)]
    fn times(self, x: Gaussian<W>) -> Gaussian<W> {
        Gaussian::new((Self(x.words()) * self).0)
    }

    #[inline(always)]
    fn times_words(self, words: W) -> Gaussian<W> {
        Gaussian::new((Self(words) * self).0)
    }

    #[inline(always)]
    fn power(words: W) -> Self {
        Self(words)
    }

    #[inline(always)]
    fn raise(self, power: Self) -> Self {
        power * self
    }

    #[inline(always)]
    fn scale(power: Self, words: W) -> Gaussian<W> {
        Gaussian::new((Self(words) * power).0)
    }
}

/// The offset that keeps both parts of a product of 52-bit limbs non-negative: about 2^33.
#[cfg(target_arch = "x86_64")]
pub(crate) const PRODUCT_ZERO: [u64; 2] = zero(1);
