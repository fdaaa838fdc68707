//! `A[u] / (u^2 + 1)` over scalars or lanes.

use crate::{Algebra, Field};
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
        Self::new(self.c0 * factor, self.c1 * factor)
    }

    /// `c0^2 + c1^2`, the product with the conjugate.
    #[inline(always)]
    pub fn norm(self) -> A {
        self.c0.square() + self.c1.square()
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
    /// Karatsuba: three products.
    #[inline(always)]
    fn mul(self, rhs: Self) -> Self {
        let [v0, v1] = A::mul_pair([self.c0, self.c1], [rhs.c0, rhs.c1]);
        let cross = self.c0.add_lazy(self.c1) * rhs.c0.add_lazy(rhs.c1);
        Self::new(v0 - v1, cross - v0 - v1)
    }
}

impl<A: Algebra> Algebra for Quadratic<A> {
    #[inline(always)]
    fn zero() -> Self {
        Self::new(A::zero(), A::zero())
    }

    #[inline(always)]
    fn one() -> Self {
        Self::new(A::one(), A::zero())
    }

    /// `(c0 + c1)(c0 - c1) + 2 c0 c1 u`: two products.
    #[inline(always)]
    fn square(self) -> Self {
        let [c0, cross] =
            A::mul_pair([self.c0.add_lazy(self.c1), self.c0], [self.c0.sub_lazy(self.c1), self.c1]);
        Self::new(c0, cross.double())
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

    fn invert(&self) -> Option<Self> {
        self.norm().invert().map(|inverse| self.conjugate().scale(inverse))
    }
}
