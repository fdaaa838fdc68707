//! Counting the terms of sums: tests run formulas for [`Engine::Single`](crate::Engine::Single) over this algebra.

use crate::algebra::{Algebra, Lanes};
use std::ops::{Add, Mul, Neg, Sub};

/// The number of terms of a sum, in place of its value. Products and [`reduced`](Algebra::reduced) sums are one term.
///
/// # Panics
/// Multiplications and `reduced` panic if an operand has more than `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms<const MOST: u64>(pub u64);

impl<const MOST: u64> Add for Terms<MOST> {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self(self.0 + rhs.0)
    }
}

impl<const MOST: u64> Sub for Terms<MOST> {
    type Output = Self;
    #[expect(clippy::suspicious_arithmetic_impl, reason = "a difference has the terms of both")]
    fn sub(self, rhs: Self) -> Self {
        self + rhs
    }
}

impl<const MOST: u64> Neg for Terms<MOST> {
    type Output = Self;
    fn neg(self) -> Self {
        self
    }
}

impl<const MOST: u64> Mul for Terms<MOST> {
    type Output = Self;
    fn mul(self, rhs: Self) -> Self {
        assert!(self.0.max(rhs.0) <= MOST, "{self:?} times {rhs:?}");
        Self(1)
    }
}

impl<const MOST: u64> Algebra for Terms<MOST> {
    type Token = ();
    const MOST_TERMS: u64 = MOST;

    fn token(&self) {}

    fn zero((): ()) -> Self {
        Self(0)
    }

    fn one((): ()) -> Self {
        Self(1)
    }

    fn reduced(self) -> Self {
        assert!(self.0 <= MOST, "{self:?}");
        Self(1)
    }
}

/// Every loaded element is one term.
impl<F, const MOST: u64> Lanes<F> for Terms<MOST> {
    const WIDTH: usize = 1;

    fn load((): (), _: &[F]) -> Self {
        Self(1)
    }

    /// # Panics
    /// See [`reduced`](Algebra::reduced).
    fn store(self, _: &mut [F]) {
        self.reduced();
    }

    fn broadcast((): (), _: F) -> Self {
        Self(1)
    }
}
