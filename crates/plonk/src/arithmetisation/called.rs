//! Elements whose operations are not inlined.

use crate::{Cells, Column};
use proofmill_field::Algebra;
use std::ops::{Add, Mul, Neg, Sub};

/// An element whose sums, differences, products and squares are function calls. Formulas have dozens and are
/// compiled for every level; inlined, each product of lanes would take up to a kilobyte of code. A call costs
/// a few nanoseconds for eight lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called<A>(pub(crate) A);

impl<A: Algebra> Add for Called<A> {
    type Output = Self;

    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        Self(A::outlined(
            self.token(),
            #[inline(always)]
            || self.0 + rhs.0,
        ))
    }
}

impl<A: Algebra> Sub for Called<A> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        Self(A::outlined(
            self.token(),
            #[inline(always)]
            || self.0 - rhs.0,
        ))
    }
}

impl<A: Algebra> Neg for Called<A> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl<A: Algebra> Mul for Called<A> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, rhs: Self) -> Self {
        Self(A::outlined(
            self.token(),
            #[inline(always)]
            || self.0 * rhs.0,
        ))
    }
}

impl<A: Algebra> Algebra for Called<A> {
    type Token = A::Token;

    #[inline(always)]
    fn token(&self) -> A::Token {
        self.0.token()
    }

    #[inline(always)]
    fn zero(token: A::Token) -> Self {
        Self(A::zero(token))
    }

    #[inline(always)]
    fn one(token: A::Token) -> Self {
        Self(A::one(token))
    }

    #[inline(always)]
    fn square(self) -> Self {
        Self(A::outlined(
            self.token(),
            #[inline(always)]
            || self.0.square(),
        ))
    }

    #[inline(always)]
    fn add_lazy(self, rhs: Self) -> Self {
        Self(self.0.add_lazy(rhs.0))
    }

    #[inline(always)]
    fn sub_lazy(self, rhs: Self) -> Self {
        Self(self.0.sub_lazy(rhs.0))
    }
}

/// Cells behind a reference, so that formulas on single values are compiled once.
pub(crate) struct Borrowed<'a, A>(pub(crate) &'a dyn Cells<A>);

impl<A: Algebra> Cells<Called<A>> for Borrowed<'_, A> {
    fn here(&self, column: Column) -> Called<A> {
        Called(self.0.here(column))
    }

    fn after(&self, column: Column) -> Called<A> {
        Called(self.0.after(column))
    }
}
