//! The tower above the quadratic extension: `Fq6 = Fq2[v] / (v^3 - xi)`, `Fq12 = Fq6[w] / (w^2 - v)`.
//!
//! Formulas: Devegili, O hEigeartaigh, Scott, Dahab, "Multiplication and squaring on pairing-friendly fields"
//! (eprint 2006/471): Karatsuba for products, CH-SQR2 for the cubic square, the complex method for the quadratic one; Granger,
//! Scott, "Faster squaring in the cyclotomic subgroup of sixth degree extensions" (eprint 2009/565).

use crate::{Algebra, Field, Quadratic, prime::Prime};
use std::{
    marker::PhantomData,
    ops::{Add, Mul, Neg, Sub},
};

/// A base field whose tower is fixed by a sextic nonresidue xi of `Fq2`.
pub trait Tower: Prime {
    /// The product with xi.
    fn mul_by_xi<A: Algebra>(x: Quadratic<A>) -> Quadratic<A>;
}

/// `c0 + c1 v + c2 v^2` over `Quadratic<A>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sextic<P, A> {
    /// The coefficients, the constant one first.
    pub c: [Quadratic<A>; 3],
    tower: PhantomData<P>,
}

/// `c0 + c1 w` over [`Sextic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dodecic<P, A> {
    /// The constant coefficient.
    pub c0: Sextic<P, A>,
    /// The coefficient of w.
    pub c1: Sextic<P, A>,
}

impl<P: Tower, A: Algebra> Sextic<P, A> {
    /// From the coefficients, the constant one first.
    #[inline(always)]
    pub const fn new(c: [Quadratic<A>; 3]) -> Self {
        Self { c, tower: PhantomData }
    }

    fn zero() -> Self {
        Self::new([Quadratic::zero(); 3])
    }

    /// The product with v.
    fn mul_by_v(self) -> Self {
        let [c0, c1, c2] = self.c;
        Self::new([P::mul_by_xi(c2), c0, c1])
    }

    fn scale(self, factor: Quadratic<A>) -> Self {
        let [c0, c1, c2] = self.c;
        Self::new([c0 * factor, c1 * factor, c2 * factor])
    }

    /// The product with `b0 + b1 v`: five products.
    fn mul_sparse(self, b0: Quadratic<A>, b1: Quadratic<A>) -> Self {
        let [a0, a1, a2] = self.c;
        let (v0, v1) = (a0 * b0, a1 * b1);
        Self::new([
            v0 + P::mul_by_xi((a1 + a2) * b1 - v1),
            (a0 + a1) * (b0 + b1) - v0 - v1,
            (a0 + a2) * b0 - v0 + v1,
        ])
    }

    fn square(self) -> Self {
        let [a0, a1, a2] = self.c;
        let s0 = a0.square();
        let s1 = (a0 * a1).double();
        let s2 = (a0 - a1 + a2).square();
        let s3 = (a1 * a2).double();
        let s4 = a2.square();
        Self::new([s0 + P::mul_by_xi(s3), s1 + P::mul_by_xi(s4), s1 + s2 + s3 - s0 - s4])
    }
}

impl<P: Tower, A: Field> Sextic<P, A> {
    fn invert(&self) -> Option<Self> {
        let [a0, a1, a2] = self.c;
        let t0 = a0.square() - P::mul_by_xi(a1 * a2);
        let t1 = P::mul_by_xi(a2.square()) - a0 * a1;
        let t2 = a1.square() - a0 * a2;
        let norm = a0 * t0 + P::mul_by_xi(a2 * t1 + a1 * t2);
        norm.invert().map(|inverse| Self::new([t0, t1, t2]).scale(inverse))
    }
}

impl<P: Tower, A: Algebra> Add for Sextic<P, A> {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self::new(std::array::from_fn(|i| self.c[i] + rhs.c[i]))
    }
}

impl<P: Tower, A: Algebra> Sub for Sextic<P, A> {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self {
        Self::new(std::array::from_fn(|i| self.c[i] - rhs.c[i]))
    }
}

impl<P: Tower, A: Algebra> Neg for Sextic<P, A> {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(self.c.map(Neg::neg))
    }
}

impl<P: Tower, A: Algebra> Mul for Sextic<P, A> {
    type Output = Self;
    /// Karatsuba: six products.
    fn mul(self, rhs: Self) -> Self {
        let ([a0, a1, a2], [b0, b1, b2]) = (self.c, rhs.c);
        let (v0, v1, v2) = (a0 * b0, a1 * b1, a2 * b2);
        Self::new([
            v0 + P::mul_by_xi((a1 + a2) * (b1 + b2) - v1 - v2),
            (a0 + a1) * (b0 + b1) - v0 - v1 + P::mul_by_xi(v2),
            (a0 + a2) * (b0 + b2) - v0 - v2 + v1,
        ])
    }
}

impl<P: Tower, A: Algebra> Dodecic<P, A> {
    /// The neutral element of multiplication.
    pub fn one() -> Self {
        let mut one = Self { c0: Sextic::zero(), c1: Sextic::zero() };
        one.c0.c[0] = Quadratic::one();
        one
    }

    /// `self * self`: two products in [`Sextic`].
    pub fn square(self) -> Self {
        let product = self.c0 * self.c1;
        let c0 = (self.c0 + self.c1) * (self.c0 + self.c1.mul_by_v()) - product - product.mul_by_v();
        Self { c0, c1: product + product }
    }

    /// The image under the Frobenius map's sixth power: the inverse of an element of norm 1.
    pub fn conjugate(self) -> Self {
        Self { c0: self.c0, c1: -self.c1 }
    }

    /// The product with `b0 + (b3 + b4 v) w`, the shape of a line through points of a D-type twist.
    pub fn mul_by_line(self, [b0, b3, b4]: [Quadratic<A>; 3]) -> Self {
        let v0 = self.c0.scale(b0);
        let v1 = self.c1.mul_sparse(b3, b4);
        let cross = (self.c0 + self.c1).mul_sparse(b0 + b3, b4);
        Self { c0: v0 + v1.mul_by_v(), c1: cross - v0 - v1 }
    }

    /// The square of an element of the cyclotomic subgroup (Granger, Scott): nine squares in `Fq2`.
    pub fn cyclotomic_square(self) -> Self {
        let ([x0, x4, x3], [x2, x1, x5]) = (self.c0.c, self.c1.c);
        let square = |a: Quadratic<A>, b: Quadratic<A>| {
            let (aa, bb) = (a.square(), b.square());
            (P::mul_by_xi(bb) + aa, (a + b).square() - aa - bb)
        };
        let ((t0, t1), (t2, t3), (t4, t5)) = (square(x0, x1), square(x2, x3), square(x4, x5));
        let t5 = P::mul_by_xi(t5);
        let less = |t: Quadratic<A>, x: Quadratic<A>| (t - x).double() + t;
        let more = |t: Quadratic<A>, x: Quadratic<A>| (t + x).double() + t;
        Self {
            c0: Sextic::new([less(t0, x0), less(t2, x4), less(t4, x3)]),
            c1: Sextic::new([more(t5, x2), more(t1, x1), more(t3, x5)]),
        }
    }

    /// The image under the Frobenius map's `power`-th power, given `gamma = xi^((p^power - 1) / 6)`.
    pub fn frobenius(self, power: u32, gamma: Quadratic<A>) -> Self {
        let mut image = self;
        let mut factor = Quadratic::one();
        // Powers of w in turn: w^(2 i) = v^i.
        for i in 0..3 {
            for c in [&mut image.c0.c[i], &mut image.c1.c[i]] {
                *c = if power % 2 == 1 { c.conjugate() } else { *c } * factor;
                factor = factor * gamma;
            }
        }
        image
    }
}

impl<P: Tower, A: Field> Dodecic<P, A> {
    /// The multiplicative inverse; `None` for zero.
    pub fn invert(&self) -> Option<Self> {
        let norm = self.c0.square() - self.c1.square().mul_by_v();
        norm.invert().map(|inverse| Self { c0: self.c0 * inverse, c1: -(self.c1 * inverse) })
    }
}

impl<P: Tower, A: Algebra> Mul for Dodecic<P, A> {
    type Output = Self;
    /// Karatsuba: three products in [`Sextic`].
    fn mul(self, rhs: Self) -> Self {
        let (v0, v1) = (self.c0 * rhs.c0, self.c1 * rhs.c1);
        let cross = (self.c0 + self.c1) * (rhs.c0 + rhs.c1);
        Self { c0: v0 + v1.mul_by_v(), c1: cross - v0 - v1 }
    }
}
