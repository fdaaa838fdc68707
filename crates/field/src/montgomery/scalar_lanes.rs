//! Vectors of levels without vector instructions: one scalar element, or eight that are computed one after another.

use super::{Backend, Fp, Limbs, Prime, Scale, Vector};
use crate::algebra::{Algebra, LANES, Lanes, Quadratic, Select};
use std::{
    array,
    hint::black_box,
    ops::{Add, Mul, Neg, Sub},
};

/// [`Vector`] of one element.
impl<P: Prime, B: Backend> Lanes<Fp<P>> for Fp<P, B> {
    const WIDTH: usize = 1;
    const CHEAP_INVERSION: bool = true;

    #[inline(always)]
    fn load(backend: B, elements: &[Fp<P>]) -> Self {
        elements[0].with_backend(backend)
    }

    #[inline(always)]
    fn store(self, elements: &mut [Fp<P>]) {
        elements[0] = self.portable();
    }

    #[inline(always)]
    fn broadcast(backend: B, element: Fp<P>) -> Self {
        element.with_backend(backend)
    }
}

impl<P: Prime, B: Backend> Select for Fp<P, B> {
    #[inline(always)]
    fn select(mask: u8, chosen: Self, other: Self) -> Self {
        // With a mask whose two values are hidden from the compiler, which would otherwise branch; masks may be secret.
        let mask = black_box(u64::from(mask & 1).wrapping_neg());
        let (mut limbs, chosen) = (other.to_montgomery(), chosen.to_montgomery());
        for (limb, chosen) in limbs.as_mut().iter_mut().zip(chosen.as_ref()) {
            *limb ^= (*limb ^ chosen) & mask;
        }
        other.with_limbs(limbs)
    }
}

impl<P: Prime, B: Backend> Vector<Fp<P>> for Fp<P, B> {
    #[inline(always)]
    fn gather<'a>(backend: B, element: impl Fn(usize) -> &'a P::Limbs) -> Self {
        Self::from_limbs(backend, *element(0))
    }

    #[inline(always)]
    fn scatter<R>(self, rows: &mut [R], element: impl Fn(&mut R) -> &mut P::Limbs) {
        *element(&mut rows[0]) = self.to_montgomery();
    }

    #[inline(always)]
    fn store_scaled(self, elements: &mut [Fp<P>]) {
        self.store(elements);
    }

    #[inline(always)]
    fn zero_lanes(self) -> u8 {
        u8::from(self.to_montgomery() == P::Limbs::ZERO)
    }
}

/// Lanes of a level without vector instructions: eight scalar elements, computed one after another.
#[derive(Clone, Copy, Debug)]
pub struct ScalarLanes<P: Prime, B: Backend>([Fp<P, B>; LANES]);

/// Separate functions: inlined into a formula, eight copies of every product would exceed the
/// instruction cache.
impl<P: Prime, B: Backend> ScalarLanes<P, B> {
    #[inline(always)]
    fn zip(a: &Self, b: &Self, f: impl Fn(Fp<P, B>, Fp<P, B>) -> Fp<P, B>) -> Self {
        Self(array::from_fn(|i| f(a.0[i], b.0[i])))
    }

    #[inline(never)]
    fn add_lanes(a: &Self, b: &Self) -> Self {
        Self::zip(a, b, |a, b| a + b)
    }

    #[inline(never)]
    fn sub_lanes(a: &Self, b: &Self) -> Self {
        Self::zip(a, b, |a, b| a - b)
    }

    #[inline(never)]
    fn mul_lanes(a: &Self, b: &Self) -> Self {
        Self::zip(a, b, |a, b| a * b)
    }

    #[inline(never)]
    fn square_lanes(&self) -> Self {
        Self::zip(self, self, |a, _| a.square())
    }
}

impl<P: Prime, B: Backend> Add for ScalarLanes<P, B> {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        Self::add_lanes(&self, &rhs)
    }
}

impl<P: Prime, B: Backend> Sub for ScalarLanes<P, B> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        Self::sub_lanes(&self, &rhs)
    }
}

impl<P: Prime, B: Backend> Mul for ScalarLanes<P, B> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, rhs: Self) -> Self {
        Self::mul_lanes(&self, &rhs)
    }
}

impl<P: Prime, B: Backend> Neg for ScalarLanes<P, B> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(Fp::neg))
    }
}

impl<P: Prime, B: Backend> Algebra for ScalarLanes<P, B> {
    type Token = B;

    #[inline(always)]
    fn token(&self) -> B {
        self.0[0].token()
    }

    #[inline(always)]
    fn zero(backend: B) -> Self {
        Self([Fp::zero(backend); LANES])
    }

    #[inline(always)]
    fn one(backend: B) -> Self {
        Self([Fp::one(backend); LANES])
    }

    #[inline(always)]
    fn square(self) -> Self {
        self.square_lanes()
    }

    #[inline(never)]
    fn mul_quadratic(a: &Quadratic<Self>, b: &Quadratic<Self>) -> Quadratic<Self> {
        let mut product = *a;
        for i in 0..LANES {
            let lane = |element: &Quadratic<Self>| Quadratic::new(element.c0.0[i], element.c1.0[i]);
            let lane = Fp::mul_quadratic(&lane(a), &lane(b));
            (product.c0.0[i], product.c1.0[i]) = (lane.c0, lane.c1);
        }
        product
    }
}

impl<P: Prime, B: Backend> Lanes<Fp<P>> for ScalarLanes<P, B> {
    const WIDTH: usize = LANES;

    #[inline(always)]
    fn load(backend: B, elements: &[Fp<P>]) -> Self {
        Self(array::from_fn(|lane| elements[lane].with_backend(backend)))
    }

    #[inline(always)]
    fn store(self, elements: &mut [Fp<P>]) {
        for (element, lane) in elements[..LANES].iter_mut().zip(self.0) {
            *element = lane.portable();
        }
    }

    #[inline(always)]
    fn broadcast(backend: B, element: Fp<P>) -> Self {
        Self([element.with_backend(backend); LANES])
    }
}

impl<P: Prime, B: Backend> Select for ScalarLanes<P, B> {
    #[inline(always)]
    fn select(mask: u8, chosen: Self, other: Self) -> Self {
        Self(array::from_fn(|lane| Fp::select(mask >> lane, chosen.0[lane], other.0[lane])))
    }
}

impl<P: Prime, B: Backend> Vector<Fp<P>> for ScalarLanes<P, B> {
    #[inline(always)]
    fn gather<'a>(backend: B, element: impl Fn(usize) -> &'a P::Limbs) -> Self {
        Self(array::from_fn(|lane| Fp::from_limbs(backend, *element(lane))))
    }

    #[inline(always)]
    fn scatter<R>(self, rows: &mut [R], element: impl Fn(&mut R) -> &mut P::Limbs) {
        for (row, value) in rows[..LANES].iter_mut().zip(self.0) {
            *element(row) = value.to_montgomery();
        }
    }

    #[inline(always)]
    fn store_scaled(self, elements: &mut [Fp<P>]) {
        self.store(elements);
    }

    #[inline(always)]
    fn zero_lanes(self) -> u8 {
        self.0.iter().enumerate().fold(0, |mask, (lane, x)| mask | x.zero_lanes() << lane)
    }
}

impl<P: Prime, B: Backend> Scale<Fp<P>> for ScalarLanes<P, B> {
    type Factor = Fp<P, B>;

    #[inline(always)]
    fn factor(backend: B, constant: Fp<P>) -> Fp<P, B> {
        constant.with_backend(backend)
    }

    #[inline(always)]
    fn splat(_: B, factor: &Fp<P, B>) -> Self {
        Self([*factor; LANES])
    }

    #[inline(always)]
    fn scale_terms([a, b]: [Self; 2], [by_a, by_b]: [&Fp<P, B>; 2]) -> [Self; 2] {
        [a.scale(by_a), b.scale(by_b)]
    }

    #[inline(never)]
    fn scale(self, factor: &Fp<P, B>) -> Self {
        Self(self.0.map(|element| element * *factor))
    }
}
