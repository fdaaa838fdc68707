//! Eight elements side by side.

use crate::{Algebra, Backend, Fp, Prime};
use std::ops::{Add, Mul, Neg, Sub};

/// How many elements every packed type holds.
pub const LANES: usize = 8;

/// [`LANES`] elements of the field `P`, one operation on all at once.
///
/// Operators take and give reduced values. `add_lazy` and `sub_lazy` may be nested twice (the sum of two
/// differences, say) before the result must go into a multiplication; their operands are reduced otherwise.
pub trait Packed<P: Prime>: Algebra {
    /// The elements as they are.
    fn load(elements: &[Fp<P>; LANES]) -> Self;

    /// Writes canonical elements.
    fn store(self, elements: &mut [Fp<P>; LANES]);

    /// One element in every lane.
    fn broadcast(element: Fp<P>) -> Self;
}

/// Lanes of a level without vector instructions: eight scalar elements, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct ScalarLanes<P: Prime, B: Backend>([Fp<P, B>; LANES]);

impl<P: Prime, B: Backend> ScalarLanes<P, B> {
    #[inline(always)]
    fn zip(self, rhs: Self, f: impl Fn(Fp<P, B>, Fp<P, B>) -> Fp<P, B>) -> Self {
        let mut lanes = self.0;
        for (a, b) in lanes.iter_mut().zip(rhs.0) {
            *a = f(*a, b);
        }
        Self(lanes)
    }
}

impl<P: Prime, B: Backend> Add for ScalarLanes<P, B> {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        self.zip(rhs, |a, b| a + b)
    }
}

impl<P: Prime, B: Backend> Sub for ScalarLanes<P, B> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        self.zip(rhs, |a, b| a - b)
    }
}

impl<P: Prime, B: Backend> Mul for ScalarLanes<P, B> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, rhs: Self) -> Self {
        self.zip(rhs, |a, b| a * b)
    }
}

impl<P: Prime, B: Backend> Neg for ScalarLanes<P, B> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.zip(self, |a, _| -a)
    }
}

impl<P: Prime, B: Backend> Algebra for ScalarLanes<P, B> {
    #[inline(always)]
    fn zero() -> Self {
        Self([Fp::zero(); LANES])
    }

    #[inline(always)]
    fn one() -> Self {
        Self([Fp::one(); LANES])
    }

    #[inline(always)]
    fn square(self) -> Self {
        self.zip(self, |a, _| a.square())
    }
}

impl<P: Prime, B: Backend> Packed<P> for ScalarLanes<P, B> {
    #[inline(always)]
    fn load(elements: &[Fp<P>; LANES]) -> Self {
        Self(elements.map(Fp::rebrand))
    }

    #[inline(always)]
    fn store(self, elements: &mut [Fp<P>; LANES]) {
        *elements = self.0.map(Fp::rebrand);
    }

    #[inline(always)]
    fn broadcast(element: Fp<P>) -> Self {
        Self([element.rebrand(); LANES])
    }
}
