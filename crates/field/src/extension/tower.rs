//! The tower above the quadratic extension: `Fq6 = Fq2[v] / (v^3 - xi)`, `Fq12 = Fq6[w] / (w^2 - v)`.
//!
//! Formulas: Devegili, O hEigeartaigh, Scott, Dahab, "Multiplication and squaring on pairing-friendly fields"
//! (eprint 2006/471): Karatsuba's method for products and the complex method for squares, both other than in [`sums`]; Granger,
//! Scott, "Faster squaring in the cyclotomic subgroup of sixth degree extensions" (eprint 2009/565).

use super::sums;
use crate::{
    algebra::{Algebra, Field, Invert, Quadratic},
    montgomery::{Fp, Prime},
};
use std::{
    marker::PhantomData,
    ops::{Add, Mul, Neg, Sub},
};

/// A base field whose tower is fixed by a sextic nonresidue xi of `Fq2`.
pub trait Tower: Prime {
    /// The product with xi.
    fn mul_by_xi<A: Algebra>(x: Quadratic<A>) -> Quadratic<A>;
}

/// `xi^((p^k - 1) / 6)` for k = 1, 2, 3, by which the k-th power of the Frobenius map multiplies w.
pub fn frobenius_coefficients<P: Tower>() -> [Quadratic<Fp<P>>; 3] {
    let gamma = P::mul_by_xi(Quadratic::ONE).pow_vartime(sixth_of_predecessor::<P>().as_ref());
    let norm = gamma * gamma.conjugate();
    [gamma, norm, norm * gamma]
}

/// `(p - 1) / 6` by long division; p = 1 mod 6.
fn sixth_of_predecessor<P: Prime>() -> P::Limbs {
    let mut quotient = P::MODULUS;
    let mut remainder = 0;
    for word in quotient.as_mut().iter_mut().rev() {
        let dividend = u128::from(remainder) << 64 | u128::from(*word);
        (*word, remainder) = ((dividend / 6) as u64, (dividend % 6) as u64);
    }
    quotient
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
    /// The element with these coefficients, the constant one first.
    #[inline(always)]
    pub const fn new(c: [Quadratic<A>; 3]) -> Self {
        Self { c, tower: PhantomData }
    }

    #[inline(always)]
    fn token(&self) -> A::Token {
        self.c[0].token()
    }

    #[inline(always)]
    fn zero(token: A::Token) -> Self {
        Self::new([Quadratic::zero(token); 3])
    }

    /// See [`Algebra::bounded`].
    #[inline(always)]
    fn bounded(self) -> Self {
        let [c0, c1, c2] = self.c;
        Self::new([c0.bounded(), c1.bounded(), c2.bounded()])
    }

    /// The product with v.
    #[inline(always)]
    fn mul_by_v(self) -> Self {
        let [c0, c1, c2] = self.c;
        Self::new([P::mul_by_xi(c2), c0, c1])
    }

    #[inline(always)]
    fn scale(self, factor: Quadratic<A>) -> Self {
        let [c0, c1, c2] = &self.c;
        Self::new(A::mul_quadratics(factor.token(), [[c0, &factor], [c1, &factor], [c2, &factor]]))
    }

    /// The sums of coefficients that Karatsuba's method multiplies.
    #[inline(always)]
    fn sums(&self) -> [Quadratic<A>; 3] {
        let [c0, c1, c2] = self.c;
        [c1 + c2, c0 + c1, c0 + c2]
    }

    /// The product, from Karatsuba's six products: those of the coefficients, then those of the sums.
    #[inline(always)]
    fn from_products(&[v0, v1, v2, s12, s01, s02]: &[Quadratic<A>; 6]) -> Self {
        Self::new([v0 + P::mul_by_xi(s12 - v1 - v2), s01 - v0 - v1 + P::mul_by_xi(v2), s02 - v0 - v2 + v1])
    }

    /// The product with `b0 + b1 v`, from the products `a0 b0, a1 b1` of coefficients, then `(a1 + a2) b1,
    /// (a0 + a1)(b0 + b1), (a0 + a2) b0`.
    #[inline(always)]
    fn from_sparse_products([v0, v1, s12, s01, s02]: [Quadratic<A>; 5]) -> Self {
        Self::new([v0 + P::mul_by_xi(s12 - v1), s01 - v0 - v1, s02 - v0 + v1])
    }

    /// `K` independent products.
    #[inline(always)]
    fn mul_all<const K: usize, const N: usize>(a: [&Self; K], b: [&Self; K]) -> [Self; K] {
        const { assert!(N == 6 * K) };
        let token = a[0].token();
        let mut results = [Self::zero(token); K];
        if A::SUMS_OF_PRODUCTS {
            for k in 0..K {
                results[k] = Self::new(sums::product(&a[k].c, &b[k].c, P::mul_by_xi));
            }
            return results;
        }
        let (mut sums_a, mut sums_b) = ([[Quadratic::zero(token); 3]; K], [[Quadratic::zero(token); 3]; K]);
        for k in 0..K {
            (sums_a[k], sums_b[k]) = (a[k].sums(), b[k].sums());
        }
        let mut factors = [[&a[0].c[0]; 2]; N];
        for k in 0..K {
            for i in 0..3 {
                factors[6 * k + i] = [&a[k].c[i], &b[k].c[i]];
                factors[6 * k + 3 + i] = [&sums_a[k][i], &sums_b[k][i]];
            }
        }
        let products = A::mul_quadratics(token, factors);
        for (result, products) in results.iter_mut().zip(products.as_chunks().0) {
            *result = Self::from_products(products);
        }
        results
    }
}

impl<P: Tower, A: Invert> Sextic<P, A> {
    fn invert_vartime(&self) -> Option<Self> {
        let [a0, a1, a2] = &self.c;
        let squares_and_products = [[a0, a0], [a1, a2], [a2, a2], [a0, a1], [a1, a1], [a0, a2]];
        let [s0, a12, s2, a01, s1, a02] = A::mul_quadratics(self.token(), squares_and_products);
        let (t0, t1, t2) = (s0 - P::mul_by_xi(a12), P::mul_by_xi(s2) - a01, s1 - a02);
        let [n0, n1, n2] = A::mul_quadratics(self.token(), [[a0, &t0], [a2, &t1], [a1, &t2]]);
        let norm = n0 + P::mul_by_xi(n1 + n2);
        norm.invert_vartime().map(|inverse| Self::new([t0, t1, t2]).scale(inverse))
    }
}

impl<P: Tower, A: Algebra> Add for Sextic<P, A> {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        let ([a0, a1, a2], [b0, b1, b2]) = (self.c, rhs.c);
        Self::new([a0 + b0, a1 + b1, a2 + b2])
    }
}

impl<P: Tower, A: Algebra> Sub for Sextic<P, A> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        let ([a0, a1, a2], [b0, b1, b2]) = (self.c, rhs.c);
        Self::new([a0 - b0, a1 - b1, a2 - b2])
    }
}

impl<P: Tower, A: Algebra> Neg for Sextic<P, A> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        let [c0, c1, c2] = self.c;
        Self::new([-c0, -c1, -c2])
    }
}

impl<P: Tower, A: Algebra> Mul for Sextic<P, A> {
    type Output = Self;
    /// Karatsuba: six products.
    #[inline(never)]
    fn mul(self, rhs: Self) -> Self {
        A::outlined(
            self.token(),
            #[inline(always)]
            || {
                let [product] = Self::mul_all::<1, 6>([&self], [&rhs]);
                product.bounded()
            },
        )
    }
}

impl<P: Tower, A: Algebra> Dodecic<P, A> {
    /// The neutral element of multiplication.
    #[inline(always)]
    pub fn one(token: A::Token) -> Self {
        let mut one = Self { c0: Sextic::zero(token), c1: Sextic::zero(token) };
        one.c0.c[0] = Quadratic::one(token);
        one
    }

    #[inline(always)]
    fn from_coefficients([c0, c1]: [[Quadratic<A>; 3]; 2]) -> Self {
        Self { c0: Sextic::new(c0), c1: Sextic::new(c1) }
    }

    /// The token that the element holds.
    #[inline(always)]
    pub fn token(&self) -> A::Token {
        self.c0.token()
    }

    /// See [`Algebra::bounded`].
    #[inline(always)]
    pub fn bounded(self) -> Self {
        Self { c0: self.c0.bounded(), c1: self.c1.bounded() }
    }

    /// `self * self`: two products in [`Sextic`].
    #[inline(never)]
    pub fn square(self) -> Self {
        A::outlined(
            self.token(),
            #[inline(always)]
            || {
                if A::SUMS_OF_PRODUCTS {
                    return Self::from_coefficients(sums::square(&self.c0.c, &self.c1.c, P::mul_by_xi));
                }
                let sums = [self.c0 + self.c1, self.c0 + self.c1.mul_by_v()];
                let [product, cross] = Sextic::mul_all::<2, 12>([&self.c0, &sums[0]], [&self.c1, &sums[1]]);
                let product = product.bounded();
                Self { c0: cross - product - product.mul_by_v(), c1: product + product }.bounded()
            },
        )
    }

    /// The image under the sixth power of the Frobenius map: the inverse of an element of norm 1.
    #[inline(always)]
    pub fn conjugate(self) -> Self {
        Self { c0: self.c0, c1: -self.c1 }
    }

    /// The product with `b0 + (b3 + b4 v) w`, the shape of a line through points of a D-type twist: 13 products.
    #[inline(never)]
    pub fn mul_by_line(self, line: [Quadratic<A>; 3]) -> Self {
        A::outlined(
            self.token(),
            #[inline(always)]
            || {
                if A::SUMS_OF_PRODUCTS {
                    let (a, b) = (&self.c0.c, &self.c1.c);
                    return Self::from_coefficients(sums::product_with_line(a, b, &line, P::mul_by_xi));
                }
                let [b0, b3, b4] = line;
                let sum = self.c0 + self.c1;
                let ([a0, a1, a2], [a3, a4, _]) = (&self.c0.c, &self.c1.c);
                let ([t45, t34, t35], [s12, s01, s02]) = (&self.c1.sums(), &sum.sums());
                let (b34, b03) = (&(b3 + b4), &(b0 + b3));
                let products = A::mul_quadratics(
                    self.token(),
                    [
                        [a0, &b0],
                        [a1, &b0],
                        [a2, &b0],
                        [a3, &b3],
                        [a4, &b4],
                        [t45, &b4],
                        [t34, b34],
                        [t35, &b3],
                        [&sum.c[0], b03],
                        [&sum.c[1], &b4],
                        [s12, &b4],
                        [s01, &(*b03 + b4)],
                        [s02, b03],
                    ],
                );
                let [v0, v1, v2, u0, u1, u2, u3, u4, w0, w1, w2, w3, w4] = products;
                let (v, u) = (Sextic::new([v0, v1, v2]), Sextic::from_sparse_products([u0, u1, u2, u3, u4]));
                let cross = Sextic::from_sparse_products([w0, w1, w2, w3, w4]);
                Self { c0: v + u.mul_by_v(), c1: cross - v - u }.bounded()
            },
        )
    }

    /// The product with `b0 + b1 v + b4 v w`, the shape of a line through points of an M-type twist: 13 products.
    #[inline(never)]
    pub fn mul_by_line_m(self, line: [Quadratic<A>; 3]) -> Self {
        A::outlined(
            self.token(),
            #[inline(always)]
            || {
                if A::SUMS_OF_PRODUCTS {
                    let (a, b) = (&self.c0.c, &self.c1.c);
                    return Self::from_coefficients(sums::product_with_line_m(a, b, &line, P::mul_by_xi));
                }
                let [b0, b1, b4] = line;
                let sum = self.c0 + self.c1;
                let ([a0, a1, _], [a3, a4, a5]) = (&self.c0.c, &self.c1.c);
                let ([t12, t01, t02], [s12, s01, s02]) = (&self.c0.sums(), &sum.sums());
                let (b01, b14) = (&(b0 + b1), &(b1 + b4));
                let products = A::mul_quadratics(
                    self.token(),
                    [
                        [a3, &b4],
                        [a4, &b4],
                        [a5, &b4],
                        [a0, &b0],
                        [a1, &b1],
                        [t12, &b1],
                        [t01, b01],
                        [t02, &b0],
                        [&sum.c[0], &b0],
                        [&sum.c[1], b14],
                        [s12, b14],
                        [s01, &(b0 + *b14)],
                        [s02, &b0],
                    ],
                );
                let [v0, v1, v2, u0, u1, u2, u3, u4, w0, w1, w2, w3, w4] = products;
                let u = Sextic::from_sparse_products([u0, u1, u2, u3, u4]);
                let v = Sextic::new([v0, v1, v2]).mul_by_v();
                let cross = Sextic::from_sparse_products([w0, w1, w2, w3, w4]);
                Self { c0: u + v.mul_by_v(), c1: cross - u - v }.bounded()
            },
        )
    }

    /// The square of an element of the cyclotomic subgroup (Granger, Scott): nine squares in `Fq2`.
    #[inline(never)]
    pub fn cyclotomic_square(self) -> Self {
        A::outlined(
            self.token(),
            #[inline(always)]
            || {
                let ([x0, x4, x3], [x2, x1, x5]) = (&self.c0.c, &self.c1.c);
                let [[t0, t1], [t2, t3], [t4, t5]] =
                    quartic_squares::<P, A, 3, 9>(self.token(), [[x0, x1], [x2, x3], [x4, x5]]);
                let t5 = P::mul_by_xi(t5);
                Self {
                    c0: Sextic::new([tripled(t0, t0 - *x0), tripled(t2, t2 - *x4), tripled(t4, t4 - *x3)]),
                    c1: Sextic::new([tripled(t5, t5 + *x2), tripled(t1, t1 + *x1), tripled(t3, t3 + *x5)]),
                }
            },
        )
    }

    /// The image under the given power of the Frobenius map, from `gamma = xi^((p^power - 1) / 6)`.
    #[inline(never)]
    pub fn frobenius(self, power: u32, gamma: Quadratic<A>) -> Self {
        A::outlined(
            self.token(),
            #[inline(always)]
            || {
                let mut conjugate = self;
                if power % 2 == 1 {
                    for i in 0..3 {
                        conjugate.c0.c[i] = self.c0.c[i].conjugate();
                        conjugate.c1.c[i] = self.c1.c[i].conjugate();
                    }
                }
                // The coefficient of w^(2 i + j) is that of v^i in c_j.
                let ([x0, x2, x4], [x1, x3, x5]) = (&conjugate.c0.c, &conjugate.c1.c);
                let g2 = gamma.square();
                let token = self.token();
                let ([x1, x2, g3], [g4], []) =
                    A::quadratics(token, [[x1, &gamma], [x2, &g2], [&g2, &gamma]], [&g2], []);
                let [x3, x4, t5] = A::mul_quadratics(token, [[x3, &g3], [x4, &g4], [x5, &gamma]]);
                let x5 = t5 * g4;
                Self { c0: Sextic::new([*x0, x2, x4]), c1: Sextic::new([x1, x3, x5]) }.bounded()
            },
        )
    }
}

/// `[a^2 + xi b^2, 2 a b]` for each `[a, b]`: the squares of `a + b s` with `s^2 = xi`. S is 3N.
#[inline(always)]
pub fn quartic_squares<P: Tower, A: Algebra, const N: usize, const S: usize>(
    token: A::Token,
    elements: [[&Quadratic<A>; 2]; N],
) -> [[Quadratic<A>; 2]; N] {
    const { assert!(S == 3 * N) };
    let mut results = [[Quadratic::zero(token); 2]; N];
    if A::SUMS_OF_PRODUCTS {
        for (result, [a, b]) in results.iter_mut().zip(elements) {
            *result = [
                A::sum_of_quadratics([[a, a], [b, &P::mul_by_xi(*b)]]),
                A::sum_of_quadratics([[&a.double(), b]]),
            ];
        }
        return results;
    }
    let mut sums = [Quadratic::zero(token); N];
    for (sum, [a, b]) in sums.iter_mut().zip(elements) {
        *sum = *a + *b;
    }
    let mut roots = [elements[0][0]; S];
    for k in 0..N {
        let [a, b] = elements[k];
        (roots[3 * k], roots[3 * k + 1], roots[3 * k + 2]) = (a, b, &sums[k]);
    }
    let ([], squares, []) = A::quadratics(token, [], roots, []);
    for (result, [aa, bb, ab]) in results.iter_mut().zip(squares.as_chunks().0) {
        *result = [P::mul_by_xi(*bb) + *aa, *ab - *aa - *bb];
    }
    results
}

/// `t + 2 other`, for `other = t +- x`.
#[inline(always)]
fn tripled<A: Algebra>(t: Quadratic<A>, other: Quadratic<A>) -> Quadratic<A> {
    (other.double() + t).reduced()
}

impl<P: Tower> Dodecic<P, Fp<P>> {
    /// The neutral element of multiplication.
    pub const ONE: Self = Self {
        c0: Sextic::new([Quadratic::ONE, Quadratic::ZERO, Quadratic::ZERO]),
        c1: Sextic::new([Quadratic::ZERO; 3]),
    };
}

impl<P: Tower, A: Invert> Dodecic<P, A> {
    /// The multiplicative inverse; `None` for zero.
    pub fn invert_vartime(&self) -> Option<Self> {
        let norm = self.c0 * self.c0 - (self.c1 * self.c1).mul_by_v();
        norm.invert_vartime().map(|inverse| Self { c0: self.c0 * inverse, c1: -(self.c1 * inverse) })
    }
}

impl<P: Tower, A: Algebra> Mul for Dodecic<P, A> {
    type Output = Self;
    /// Karatsuba: three products in [`Sextic`].
    #[inline(never)]
    fn mul(self, rhs: Self) -> Self {
        A::outlined(
            self.token(),
            #[inline(always)]
            || {
                let sums = [self.c0 + self.c1, rhs.c0 + rhs.c1];
                let [v0, v1, cross] =
                    Sextic::mul_all::<3, 18>([&self.c0, &self.c1, &sums[0]], [&rhs.c0, &rhs.c1, &sums[1]]);
                Self { c0: v0 + v1.mul_by_v(), c1: cross.bounded() - v0 - v1 }.bounded()
            },
        )
    }
}
