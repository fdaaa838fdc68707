//! One element of a prime field in Montgomery form.

use super::{
    Backend, Limbs, Prime,
    limbs::{is_below, sbb},
};
use crate::{
    algebra::{Algebra, Field, Invert, PrimeField, Quadratic, SquareRoot},
    error::FieldError,
};
use proofmill_cpu::Portable;
use proofmill_memory::Zeroed;
use rand::RngCore;
use std::{
    fmt,
    ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign},
    str::FromStr,
};

/// An element of the prime field `P`: canonical, in Montgomery form (`R = 2^(64 LEN)`), multiplied with the
/// instructions of `B`. In memory it is its limbs, least significant first, for every `B`.
///
/// Elements are constructed, decoded and drawn for the portable backend. [`with_backend`](Self::with_backend) and its slice
/// variants convert them to another backend; they take its token, which the elements hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Fp<P: Prime, B: Backend = Portable> {
    limbs: P::Limbs,
    backend: B,
}

// SAFETY: limbs are integers, and all-zero limbs are the element zero. `Portable` needs no proof.
unsafe impl<P: Prime<Limbs: Zeroed>> Zeroed for Fp<P> {}

impl<P: Prime> Fp<P> {
    /// The element with the given Montgomery limbs, which must be below the modulus; this is not checked. For
    /// generated constants.
    pub const fn constant(limbs: P::Limbs) -> Self {
        Self::from_limbs(Portable, limbs)
    }

    /// The smallest generator of the multiplicative group.
    pub const fn generator() -> Self {
        Self::constant(P::GENERATOR)
    }

    /// The element with the given Montgomery limbs; `None` if they are not below the modulus.
    pub fn from_montgomery(limbs: P::Limbs) -> Option<Self> {
        is_below(&limbs, &P::MODULUS).then_some(Self::constant(limbs))
    }

    /// The element of an integer below the modulus; `None` for larger integers.
    pub fn from_canonical(limbs: P::Limbs) -> Option<Self> {
        is_below(&limbs, &P::MODULUS).then(|| Self::to_form(&limbs))
    }

    /// Converts an integer below the modulus to Montgomery form.
    #[inline(always)]
    fn to_form(limbs: &P::Limbs) -> Self {
        Self::constant(Portable.mul_mont::<P>(limbs, &P::R2))
    }

    /// Decodes [`Self::BYTES`] little-endian bytes of an integer below the modulus.
    ///
    /// # Errors
    /// [`FieldError::NotCanonical`].
    ///
    /// # Panics
    /// If `bytes` does not have this length.
    pub fn from_bytes_le(bytes: &[u8]) -> Result<Self, FieldError> {
        Self::from_canonical(limbs_from_le(bytes)).ok_or(FieldError::NotCanonical(P::NAME))
    }

    /// Decodes [`Self::BYTES`] big-endian bytes of an integer below the modulus.
    ///
    /// # Errors
    /// [`FieldError::NotCanonical`].
    ///
    /// # Panics
    /// If `bytes` does not have this length.
    pub fn from_bytes_be(bytes: &[u8]) -> Result<Self, FieldError> {
        let mut reversed = bytes.to_vec();
        reversed.reverse();
        Self::from_bytes_le(&reversed)
    }

    /// The integer of [`Self::BYTES`] big-endian bytes, reduced modulo p: for hashes and challenges.
    ///
    /// # Panics
    /// If `bytes` does not have this length.
    pub fn from_bytes_be_reduced(bytes: &[u8]) -> Self {
        let mut reversed = bytes.to_vec();
        reversed.reverse();
        let mut limbs: P::Limbs = limbs_from_le(&reversed);
        while !is_below(&limbs, &P::MODULUS) {
            let mut borrow = false;
            for (limb, p) in limbs.as_mut().iter_mut().zip(P::MODULUS.as_ref()) {
                (*limb, borrow) = sbb(*limb, *p, borrow);
            }
        }
        Self::to_form(&limbs)
    }

    /// Decodes [`Self::BYTES`] little-endian bytes of Montgomery limbs, the format of snarkjs's binary files.
    ///
    /// # Errors
    /// [`FieldError::NotCanonical`].
    ///
    /// # Panics
    /// If `bytes` does not have this length.
    pub fn from_montgomery_le(bytes: &[u8]) -> Result<Self, FieldError> {
        Self::from_montgomery(limbs_from_le(bytes)).ok_or(FieldError::NotCanonical(P::NAME))
    }

    /// A uniform element, by rejection sampling.
    pub fn random(rng: &mut impl RngCore) -> Self {
        let top = u64::MAX >> (P::Limbs::LEN as u32 * 64 - P::BITS);
        loop {
            let mut limbs = P::Limbs::ZERO;
            limbs.as_mut().fill_with(|| rng.next_u64());
            if let Some(last) = limbs.as_mut().last_mut() {
                *last &= top;
            }
            if let Some(element) = Self::from_montgomery(limbs) {
                return element;
            }
        }
    }

    /// A root of unity of order `2^log_n`; `None` above the field's two-adicity.
    pub fn root_of_unity(log_n: u32) -> Option<Self> {
        let squarings = P::TWO_ADICITY.checked_sub(log_n)?;
        Some((0..squarings).fold(Self::constant(P::ROOT_OF_UNITY), |root, _| root.square()))
    }
}

impl<P: Prime, B: Backend> Fp<P, B> {
    /// Whether sums of products can share a reduction.
    const SPARE_BITS: bool = P::BITS + 2 <= 64 * P::Limbs::LEN as u32;

    /// The length of an encoding in bytes.
    pub const BYTES: usize = P::Limbs::LEN * 8;

    #[inline(always)]
    pub(crate) const fn from_limbs(backend: B, limbs: P::Limbs) -> Self {
        Self { limbs, backend }
    }

    /// The element with these Montgomery limbs for the same backend.
    #[inline(always)]
    pub(crate) fn with_limbs(self, limbs: P::Limbs) -> Self {
        Self { limbs, ..self }
    }

    /// The Montgomery limbs: `self * R mod p`, canonical.
    #[inline(always)]
    pub const fn to_montgomery(self) -> P::Limbs {
        self.limbs
    }

    /// Asserts that an element has its limbs' layout: it is `repr(C)`, the limbs come first, and the token has size zero.
    pub(super) const fn assert_layout() {
        assert!(size_of::<Self>() == size_of::<P::Limbs>() && align_of::<Self>() == align_of::<P::Limbs>());
    }

    #[inline(always)]
    fn limbs_of(x: &Quadratic<Self>) -> &[P::Limbs; 2] {
        const { Self::assert_layout() };
        // SAFETY: `Quadratic` is `repr(C)` and `Fp` has the layout of its limbs.
        unsafe { &*std::ptr::from_ref(x).cast() }
    }

    /// The integer in `0..p`.
    #[inline(always)]
    pub fn to_canonical(self) -> P::Limbs {
        let mut one = P::Limbs::ZERO;
        one.as_mut()[0] = 1;
        self.backend.mul_mont::<P>(&self.limbs, &one)
    }

    /// The canonical integer in [`Self::BYTES`] little-endian bytes.
    pub fn to_bytes_le(self) -> Vec<u8> {
        self.to_canonical().as_ref().iter().flat_map(|limb| limb.to_le_bytes()).collect()
    }

    /// The canonical integer in [`Self::BYTES`] big-endian bytes.
    pub fn to_bytes_be(self) -> Vec<u8> {
        self.to_canonical().as_ref().iter().rev().flat_map(|limb| limb.to_be_bytes()).collect()
    }

    /// The Montgomery limbs in [`Self::BYTES`] little-endian bytes, the format of snarkjs's binary files.
    pub fn to_montgomery_le(self) -> Vec<u8> {
        self.limbs.as_ref().iter().flat_map(|limb| limb.to_le_bytes()).collect()
    }

    /// The same element for another backend, given its token.
    #[inline(always)]
    pub const fn with_backend<C: Backend>(self, backend: C) -> Fp<P, C> {
        Fp::from_limbs(backend, self.limbs)
    }

    /// The same element for the portable backend.
    #[inline(always)]
    pub const fn portable(self) -> Fp<P> {
        self.with_backend(Portable)
    }

    /// The same slice for another backend, given its token.
    pub fn slice_with_backend<C: Backend>(_: C, elements: &[Self]) -> &[Fp<P, C>] {
        const {
            Self::assert_layout();
            Fp::<P, C>::assert_layout();
        }
        // SAFETY: `Fp` has the layout of its limbs for both backends; the argument is the token that the elements hold.
        unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), elements.len()) }
    }

    /// The same slice for another backend, given its token.
    pub fn slice_with_backend_mut<C: Backend>(_: C, elements: &mut [Self]) -> &mut [Fp<P, C>] {
        const {
            Self::assert_layout();
            Fp::<P, C>::assert_layout();
        }
        // SAFETY: as above, and the exclusive borrow is passed on.
        unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), elements.len()) }
    }
}

fn limbs_from_le<L: Limbs>(bytes: &[u8]) -> L {
    assert_eq!(bytes.len(), L::LEN * 8, "length of a field element's encoding");
    let mut limbs = L::ZERO;
    for (limb, bytes) in limbs.as_mut().iter_mut().zip(bytes.as_chunks().0) {
        *limb = u64::from_le_bytes(*bytes);
    }
    limbs
}

impl<P: Prime, B: Backend> Algebra for Fp<P, B> {
    type Token = B;

    #[inline(always)]
    fn token(&self) -> B {
        self.backend
    }

    #[inline(always)]
    fn zero(backend: B) -> Self {
        Self::from_limbs(backend, P::Limbs::ZERO)
    }

    #[inline(always)]
    fn one(backend: B) -> Self {
        Self::from_limbs(backend, P::R)
    }

    #[inline(always)]
    fn square(self) -> Self {
        self.with_limbs(self.backend.square_mont::<P>(&self.limbs))
    }

    #[inline(always)]
    fn square_repeatedly<const K: usize>(mut elements: [Self; K], count: u32) -> [Self; K] {
        for _ in 0..count {
            for x in &mut elements {
                x.limbs = x.backend.square_lazily::<P>(&x.limbs);
            }
        }
        elements.map(
            #[inline(always)]
            |x| x.with_limbs(x.limbs.sub_mod(&P::MODULUS, &P::MODULUS)),
        )
    }

    #[inline(always)]
    fn add_factor(self, rhs: Self) -> Self {
        if !Self::SPARE_BITS {
            return self + rhs;
        }
        self.with_limbs(self.backend.add_lazily::<P>(&self.limbs, &rhs.limbs))
    }

    #[inline(always)]
    fn sub_factor(self, rhs: Self) -> Self {
        if !Self::SPARE_BITS {
            return self - rhs;
        }
        self.with_limbs(self.backend.sub_lazily::<P>(&self.limbs, &rhs.limbs))
    }

    const SUMS_OF_PRODUCTS: bool = B::SUMS_OF_PRODUCTS && Self::SPARE_BITS;

    #[inline(always)]
    fn mul_quadratic(a: &Quadratic<Self>, b: &Quadratic<Self>) -> Quadratic<Self> {
        if Self::SPARE_BITS { Self::sum_of_quadratics([[a, b]]) } else { Self::karatsuba(a, b) }
    }

    /// A separate function: operands are passed by reference, which saves copies, and the code of towers stays small.
    #[inline(never)]
    fn sum_of_quadratics<const K: usize>(factors: [[&Quadratic<Self>; 2]; K]) -> Quadratic<Self> {
        let backend = factors[0][0].c0.backend;
        let mut limbs = [[Self::limbs_of(factors[0][0]); 2]; K];
        for (limbs, [a, b]) in limbs.iter_mut().zip(factors) {
            *limbs = [Self::limbs_of(a), Self::limbs_of(b)];
        }
        let [c0, c1] = backend.sum_of_quadratics::<P, K>(limbs).map(|limbs| Self::from_limbs(backend, limbs));
        Quadratic::new(c0, c1)
    }
}

impl<P: Prime, B: Backend> Invert for Fp<P, B> {
    fn invert_vartime(&self) -> Option<Self> {
        // From x R to x^-1 R: the scale is R^2.
        self.limbs.divide_vartime(&P::R2, &P::MODULUS, P::INV).map(|limbs| self.with_limbs(limbs))
    }
}

impl<P: Prime> Field for Fp<P> {
    const ZERO: Self = Self::constant(P::Limbs::ZERO);
    const ONE: Self = Self::constant(P::R);
}

impl<P: Prime> SquareRoot for Fp<P> {
    /// Tonelli and Shanks; for p = 3 mod 4 this is the power (p + 1)/4 and a check. With `p - 1 = 2^s t`:
    /// `root^2 = self * rest` is an invariant, and the order of `rest`, a power of two, decreases to 1.
    fn sqrt_vartime(&self) -> Option<Self> {
        if self.is_zero() {
            return Some(Self::ZERO);
        }
        // (t - 1)/2 = (p - 1) >> (s + 1).
        let power = self.pow_vartime(shift_right(P::MODULUS, P::TWO_ADICITY + 1).as_ref());
        let mut root = *self * power;
        let mut rest = root * power;
        let mut generator = Self::constant(P::ROOT_OF_UNITY);
        let mut order = P::TWO_ADICITY;
        while rest != Self::ONE {
            let mut square = rest;
            let mut rest_order = 0;
            while square != Self::ONE {
                square = square.square();
                rest_order += 1;
            }
            // Only the rest of a non-square has the full order 2^s.
            let squarings = order.checked_sub(rest_order + 1)?;
            let factor = (0..squarings).fold(generator, |factor, _| factor.square());
            generator = factor.square();
            root *= factor;
            rest *= generator;
            order = rest_order;
        }
        Some(root)
    }
}

/// `limbs / 2^bits` rounded down, for `bits` below 64.
fn shift_right<L: Limbs>(mut limbs: L, bits: u32) -> L {
    let mut above = 0;
    for limb in limbs.as_mut().iter_mut().rev() {
        let wide = u128::from(above) << 64 | u128::from(*limb);
        above = *limb;
        *limb = (wide >> bits) as u64;
    }
    limbs
}

impl<P: Prime> PrimeField for Fp<P> {
    type Words = P::Limbs;
    const BITS: u32 = P::BITS;

    fn to_words(&self) -> P::Limbs {
        self.to_canonical()
    }
}

impl<P: Prime> Default for Fp<P> {
    fn default() -> Self {
        Self::ZERO
    }
}

/// Zero is the default: `zeroize` wipes elements and vectors of elements.
impl<P: Prime> zeroize::DefaultIsZeroes for Fp<P> {}

impl<P: Prime, B: Backend> Add for Fp<P, B> {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        self.with_limbs(self.backend.add_mod::<P>(&self.limbs, &rhs.limbs))
    }
}

impl<P: Prime, B: Backend> Sub for Fp<P, B> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        self.with_limbs(self.backend.sub_mod::<P>(&self.limbs, &rhs.limbs))
    }
}

impl<P: Prime, B: Backend> Mul for Fp<P, B> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, rhs: Self) -> Self {
        self.with_limbs(self.backend.mul_mont::<P>(&self.limbs, &rhs.limbs))
    }
}

impl<P: Prime, B: Backend> Neg for Fp<P, B> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.with_limbs(P::Limbs::ZERO) - self
    }
}

impl<P: Prime, B: Backend> AddAssign for Fp<P, B> {
    #[inline(always)]
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

impl<P: Prime, B: Backend> SubAssign for Fp<P, B> {
    #[inline(always)]
    fn sub_assign(&mut self, rhs: Self) {
        *self = *self - rhs;
    }
}

impl<P: Prime, B: Backend> MulAssign for Fp<P, B> {
    #[inline(always)]
    fn mul_assign(&mut self, rhs: Self) {
        *self = *self * rhs;
    }
}

impl<P: Prime> From<u64> for Fp<P> {
    fn from(value: u64) -> Self {
        let mut limbs = P::Limbs::ZERO;
        limbs.as_mut()[0] = value;
        Self::to_form(&limbs)
    }
}

/// Decimal, as field elements are written in snarkjs's JSON.
impl<P: Prime, B: Backend> fmt::Display for Fp<P, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const CHUNK: u64 = 10_000_000_000_000_000_000;
        let mut limbs = self.to_canonical();
        let mut chunks = Vec::new();
        loop {
            let mut remainder = 0;
            for limb in limbs.as_mut().iter_mut().rev() {
                let wide = u128::from(remainder) << 64 | u128::from(*limb);
                *limb = (wide / u128::from(CHUNK)) as u64;
                remainder = (wide % u128::from(CHUNK)) as u64;
            }
            chunks.push(remainder);
            if limbs == P::Limbs::ZERO {
                break;
            }
        }
        let mut digits = String::new();
        for (i, chunk) in chunks.iter().rev().enumerate() {
            digits += &if i == 0 { chunk.to_string() } else { format!("{chunk:019}") };
        }
        f.pad_integral(true, "", &digits)
    }
}

impl<P: Prime, B: Backend> fmt::Debug for Fp<P, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Decimal digits of an integer below the modulus only.
impl<P: Prime> FromStr for Fp<P> {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(FieldError::NotDecimal(P::NAME));
        }
        let mut limbs = P::Limbs::ZERO;
        for digit in text.bytes() {
            let mut carry = u64::from(digit - b'0');
            for limb in limbs.as_mut() {
                let wide = u128::from(*limb) * 10 + u128::from(carry);
                *limb = wide as u64;
                carry = (wide >> 64) as u64;
            }
            if carry != 0 {
                return Err(FieldError::NotCanonical(P::NAME));
            }
        }
        Self::from_canonical(limbs).ok_or(FieldError::NotCanonical(P::NAME))
    }
}
