//! `A[u] / (u^2 + 1)` over scalars or lanes.

use super::{Algebra, Field, Invert, SquareRoot};
use proofmill_memory::Zeroed;
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// `c0 + c1 u` with `u^2 = -1`: the quadratic extension of BN254 and BLS12-381.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Quadratic<A> {
    /// The constant coefficient.
    pub c0: A,
    /// The coefficient of u.
    pub c1: A,
}

// SAFETY: the fields are two elements, whose type promises it.
unsafe impl<A: Zeroed> Zeroed for Quadratic<A> {}

impl<A: Algebra> Quadratic<A> {
    /// `c0 + c1 u`.
    #[inline(always)]
    pub const fn new(c0: A, c1: A) -> Self {
        Self { c0, c1 }
    }

    /// `c0 - c1 u`, the Frobenius image.
    #[inline(always)]
    pub fn conjugate(self) -> Self {
        Self::new(self.c0, -self.c1)
    }

    /// The product with an element of the base.
    #[inline(always)]
    pub fn scale(self, factor: A) -> Self {
        let [c0, c1] = A::mul_pair([self.c0, self.c1], [factor; 2]);
        Self::new(c0, c1)
    }

    /// [`karatsuba`](Algebra::karatsuba) as a function.
    #[inline(always)]
    pub(crate) fn called_product(&self, rhs: &Self) -> Self {
        A::outlined(
            self.token(),
            #[inline(always)]
            || A::karatsuba(self, rhs),
        )
    }

    /// `(c0 + c1)(c0 - c1) + 2 c0 c1 u`: two products.
    #[inline(always)]
    pub(crate) fn complex_square(a: &Self) -> Self {
        let [c0, c1] =
            A::mul_pair([a.c0.add_lazy(a.c1), a.c0.add_factor(a.c0)], [a.c0.sub_factor(a.c1), a.c1]);
        Self::new(c0, c1)
    }

    /// [`complex_square`](Self::complex_square) as a function.
    #[inline(always)]
    pub(crate) fn called_square(&self) -> Self {
        A::outlined(
            self.token(),
            #[inline(always)]
            || Self::complex_square(self),
        )
    }

    /// `c0^2 + c1^2`, the product with the conjugate.
    #[inline(always)]
    pub fn norm(self) -> A {
        let [square0, square1] = A::square_pair([self.c0, self.c1]);
        square0 + square1
    }
}

impl<A: Algebra> Add for Quadratic<A> {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        Self::new(self.c0 + rhs.c0, self.c1 + rhs.c1)
    }
}

impl<A: Algebra> Sub for Quadratic<A> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        Self::new(self.c0 - rhs.c0, self.c1 - rhs.c1)
    }
}

impl<A: Algebra> Neg for Quadratic<A> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.c0, -self.c1)
    }
}

impl<A: Algebra> Mul for Quadratic<A> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, rhs: Self) -> Self {
        A::mul_quadratic(&self, &rhs)
    }
}

impl<A: Algebra> Algebra for Quadratic<A> {
    type Token = A::Token;
    const MOST_TERMS: u64 = A::MOST_TERMS;

    #[inline(always)]
    fn token(&self) -> A::Token {
        self.c0.token()
    }

    #[inline(always)]
    fn zero(token: A::Token) -> Self {
        Self::new(A::zero(token), A::zero(token))
    }

    #[inline(always)]
    fn one(token: A::Token) -> Self {
        Self::new(A::one(token), A::zero(token))
    }

    #[inline(always)]
    fn square(self) -> Self {
        A::square_quadratic(&self)
    }

    #[inline(always)]
    fn reduced(self) -> Self {
        Self::new(self.c0.reduced(), self.c1.reduced())
    }

    #[inline(always)]
    fn outlined<R>(token: A::Token, formula: impl FnOnce() -> R) -> R {
        A::outlined(token, formula)
    }

    #[inline(always)]
    fn products<const N: usize, const S: usize>(
        token: A::Token,
        factors: [[&Self; 2]; N],
        squares: [&Self; S],
    ) -> ([Self; N], [Self; S]) {
        let (products, squares, []) = A::quadratics(token, factors, squares, []);
        (products, squares)
    }

    #[inline(always)]
    fn add_lazy(self, rhs: Self) -> Self {
        Self::new(self.c0.add_lazy(rhs.c0), self.c1.add_lazy(rhs.c1))
    }

    #[inline(always)]
    fn sub_lazy(self, rhs: Self) -> Self {
        Self::new(self.c0.sub_lazy(rhs.c0), self.c1.sub_lazy(rhs.c1))
    }
}

impl<F: Field> AddAssign for Quadratic<F> {
    #[inline(always)]
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

impl<F: Field> SubAssign for Quadratic<F> {
    #[inline(always)]
    fn sub_assign(&mut self, rhs: Self) {
        *self = *self - rhs;
    }
}

impl<F: Field> MulAssign for Quadratic<F> {
    #[inline(always)]
    fn mul_assign(&mut self, rhs: Self) {
        *self = *self * rhs;
    }
}

impl<F: Field> Field for Quadratic<F> {
    const ZERO: Self = Self { c0: F::ZERO, c1: F::ZERO };
    const ONE: Self = Self { c0: F::ONE, c1: F::ZERO };
}

impl<A: Invert> Invert for Quadratic<A> {
    fn invert_vartime(&self) -> Option<Self> {
        self.norm().invert_vartime().map(|inverse| self.conjugate().scale(inverse))
    }
}

impl<F: SquareRoot> SquareRoot for Quadratic<F> {
    /// The complex method (Scott, "Implementing cryptographic pairings", 2007): with n a root of the norm,
    /// `x^2 = (c0 + n)/2` or `(c0 - n)/2` and `y = c1/(2x)` give `(x + y u)^2 = c0 + c1 u`. The product of the two
    /// candidates is `-c1^2/4`, so if the first is not a square, then x is `c1/(2r)` and y is r, where r is a root of
    /// the negated first candidate.
    fn sqrt_vartime(&self) -> Option<Self> {
        if self.c1.is_zero() {
            let real = self.c0.sqrt_vartime().map(|root| Self::new(root, F::ZERO));
            return real.or_else(|| (-self.c0).sqrt_vartime().map(|root| Self::new(F::ZERO, root)));
        }
        let half = F::ONE.double().invert_vartime()?;
        let candidate = (self.c0 + self.norm().sqrt_vartime()?) * half;
        let other = |root: F| root.invert_vartime().map(|inverse| self.c1 * half * inverse);
        match candidate.sqrt_vartime() {
            Some(root) => other(root).map(|other| Self::new(root, other)),
            None => {
                (-candidate).sqrt_vartime().and_then(|root| other(root).map(|other| Self::new(other, root)))
            }
        }
    }
}
