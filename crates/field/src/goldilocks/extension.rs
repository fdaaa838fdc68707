//! The extensions from which STARKs take their challenges: degree 2 modulo `x^2 - 7`, degree 3 modulo `x^3 - x - 1`.
//!
//! Both polynomials are irreducible: 7 generates the multiplicative group and so is not a square, and `x^3 - x - 1` is the
//! choice of Polygon's libraries. The formulas follow from the polynomials. A product of coefficients costs as much as three
//! to four sums here, so Karatsuba's method is faster in degree 3 but not in degree 2.

#![allow(clippy::needless_range_loop, reason = "iterators are not always inlined into a level")]

use super::Goldilocks;
use crate::{Algebra, Field, Invert};
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// `c_0 + c_1 x + ..`: `N` coefficients, constant first, which are scalars or lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Extension<A, const N: usize>(pub [A; N]);

impl<A, const N: usize> Extension<A, N> {
    /// The coefficients of all elements, one element's after the other's.
    pub fn coefficients(elements: &[Self]) -> &[A] {
        // SAFETY: `Extension` is `repr(transparent)` over the array.
        unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), N * elements.len()) }
    }
}

/// The field of p^2 elements, modulo `x^2 - 7` (plonky2, Plonky3, boojum).
pub type QuadraticExtension<A = Goldilocks> = Extension<A, 2>;

/// The field of p^3 elements, modulo `x^3 - x - 1` (Polygon's zkEVM).
pub type CubicExtension<A = Goldilocks> = Extension<A, 3>;

/// Seven times an element.
#[inline(always)]
fn times_seven<A: Algebra>(element: A) -> A {
    element.double().double().double() - element
}

impl<A: Algebra, const N: usize> Extension<A, N> {
    /// An element of the base field.
    #[inline(always)]
    pub fn from_base(constant: A) -> Self {
        let mut coefficients = [A::zero(constant.token()); N];
        coefficients[0] = constant;
        Self(coefficients)
    }

    /// The product with an element of the base field.
    #[inline(always)]
    pub fn scale(self, factor: A) -> Self {
        let mut product = self.0;
        for i in 0..N {
            product[i] = product[i] * factor;
        }
        Self(product)
    }
}

impl<A: Algebra, const N: usize> Add for Extension<A, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        let mut sum = self.0;
        for i in 0..N {
            sum[i] = sum[i] + rhs.0[i];
        }
        Self(sum)
    }
}

impl<A: Algebra, const N: usize> Sub for Extension<A, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        let mut difference = self.0;
        for i in 0..N {
            difference[i] = difference[i] - rhs.0[i];
        }
        Self(difference)
    }
}

impl<A: Algebra, const N: usize> Neg for Extension<A, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        let mut opposite = self.0;
        for i in 0..N {
            opposite[i] = -opposite[i];
        }
        Self(opposite)
    }
}

impl<A: Algebra> Mul for QuadraticExtension<A> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, rhs: Self) -> Self {
        let ([a0, a1], [b0, b1]) = (self.0, rhs.0);
        Self([a0 * b0 + times_seven(a1 * b1), a0 * b1 + a1 * b0])
    }
}

impl<A: Algebra> Mul for CubicExtension<A> {
    type Output = Self;
    /// From the product's coefficients `d_0 .. d_4`: `d_0 + d_3`, `d_1 + d_3 + d_4`, `d_2 + d_4`, since `x^4 = x^2 + x`;
    /// each `d` except the first and last uses a product of sums.
    #[inline(always)]
    fn mul(self, rhs: Self) -> Self {
        let ([a0, a1, a2], [b0, b1, b2]) = (self.0, rhs.0);
        let (v0, v1, v2) = (a0 * b0, a1 * b1, a2 * b2);
        let cross = |v, a, b, c, d| (a + b) * (c + d) - v;
        let d1 = cross(v0 + v1, a0, a1, b0, b1);
        let d2_and_d4 = cross(v0 - v1, a0, a2, b0, b2);
        let d3_and_d4 = cross(v1, a1, a2, b1, b2);
        Self([v0 + (d3_and_d4 - v2), d1 + d3_and_d4, d2_and_d4])
    }
}

impl<A: Algebra> Algebra for QuadraticExtension<A> {
    type Token = A::Token;

    #[inline(always)]
    fn token(&self) -> A::Token {
        self.0[0].token()
    }

    #[inline(always)]
    fn zero(token: A::Token) -> Self {
        Self::from_base(A::zero(token))
    }

    #[inline(always)]
    fn one(token: A::Token) -> Self {
        Self::from_base(A::one(token))
    }

    #[inline(always)]
    fn square(self) -> Self {
        let [c0, c1] = self.0;
        Self([c0.square() + times_seven(c1.square()), (c0 * c1).double()])
    }
}

impl<A: Algebra> Algebra for CubicExtension<A> {
    type Token = A::Token;

    #[inline(always)]
    fn token(&self) -> A::Token {
        self.0[0].token()
    }

    #[inline(always)]
    fn zero(token: A::Token) -> Self {
        Self::from_base(A::zero(token))
    }

    #[inline(always)]
    fn one(token: A::Token) -> Self {
        Self::from_base(A::one(token))
    }

    /// As in a product; the doubled cross products are sums.
    #[inline(always)]
    fn square(self) -> Self {
        let [c0, c1, c2] = self.0;
        let (twice0, v2) = (c0.double(), c2.square());
        let d3 = (c1 * c2).double();
        Self([c0.square() + d3, twice0 * c1 + (d3 + v2), twice0 * c2 + c1.square() + v2])
    }
}

impl<F: Field, const N: usize> Default for Extension<F, N> {
    fn default() -> Self {
        Self([F::ZERO; N])
    }
}

impl<F: Field, const N: usize> AddAssign for Extension<F, N> {
    #[inline(always)]
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

impl<F: Field, const N: usize> SubAssign for Extension<F, N> {
    #[inline(always)]
    fn sub_assign(&mut self, rhs: Self) {
        *self = *self - rhs;
    }
}

impl<F: Field, const N: usize> MulAssign for Extension<F, N>
where
    Self: Mul<Output = Self>,
{
    #[inline(always)]
    fn mul_assign(&mut self, rhs: Self) {
        *self = *self * rhs;
    }
}

/// An extension of degree `N` whose inversion is a formula over scalars and lanes, except for one inversion in the base
/// field.
pub trait ExtensionField<const N: usize>: Field {
    /// The product of the element's other conjugates, and the norm, the product of all conjugates: `1 / x = conjugates /
    /// norm`.
    fn conjugates_and_norm<A: Algebra>(x: Extension<A, N>) -> (Extension<A, N>, A);

    /// The product, of scalars or lanes.
    fn product<A: Algebra>(x: Extension<A, N>, y: Extension<A, N>) -> Extension<A, N>;
}

impl<F: Field> ExtensionField<2> for QuadraticExtension<F> {
    /// The conjugate, and `c_0^2 - 7 c_1^2`.
    #[inline(always)]
    fn conjugates_and_norm<A: Algebra>(x: Extension<A, 2>) -> (Extension<A, 2>, A) {
        let [c0, c1] = x.0;
        (Extension([c0, -c1]), c0.square() - times_seven(c1.square()))
    }

    #[inline(always)]
    fn product<A: Algebra>(x: Extension<A, 2>, y: Extension<A, 2>) -> Extension<A, 2> {
        x * y
    }
}

impl<F: Field> ExtensionField<3> for CubicExtension<F> {
    /// By Cramer's rule. Multiplication by the element is the matrix with rows `(c_0, c_2, c_1)`, `(c_1, c_0 + c_2, c_1 +
    /// c_2)` and `(c_2, c_1, c_0 + c_2)`: the cofactors of the first row, and the determinant.
    #[inline(always)]
    fn conjugates_and_norm<A: Algebra>(x: Extension<A, 3>) -> (Extension<A, 3>, A) {
        let [c0, c1, c2] = x.0;
        let (even, odd) = (c0 + c2, c1 + c2);
        let (k0, k1, k2) = (even.square() - c1 * odd, c2 * odd - c1 * even, c1.square() - c2 * even);
        (Extension([k0, k1, k2]), c0 * k0 + c2 * k1 + c1 * k2)
    }

    #[inline(always)]
    fn product<A: Algebra>(x: Extension<A, 3>, y: Extension<A, 3>) -> Extension<A, 3> {
        x * y
    }
}

impl<F: Field> Field for QuadraticExtension<F> {
    const ZERO: Self = Self([F::ZERO; 2]);
    const ONE: Self = Self([F::ONE, F::ZERO]);
}

impl<F: Field> Invert for QuadraticExtension<F> {
    fn invert_vartime(&self) -> Option<Self> {
        let (conjugates, norm) = Self::conjugates_and_norm(*self);
        norm.invert_vartime().map(|inverse| conjugates.scale(inverse))
    }
}

impl<F: Field> Field for CubicExtension<F> {
    const ZERO: Self = Self([F::ZERO; 3]);
    const ONE: Self = Self([F::ONE, F::ZERO, F::ZERO]);
}

impl<F: Field> Invert for CubicExtension<F> {
    fn invert_vartime(&self) -> Option<Self> {
        let (conjugates, norm) = Self::conjugates_and_norm(*self);
        norm.invert_vartime().map(|inverse| conjugates.scale(inverse))
    }
}
