//! Eight elements side by side.

use crate::{Algebra, Backend, Fp, Prime, Quadratic, limbs::Limbs};
use std::{
    array,
    hint::black_box,
    ops::{Add, Mul, Neg, Sub},
};

/// How many elements every packed type holds.
pub const LANES: usize = 8;

/// Elements of the field `P` side by side, one operation on all at once: as many as suit the level best, 1 where it has no
/// vector instructions. Slices of elements are as long as that.
///
/// Operators take and give reduced values. `add_lazy` and `sub_lazy` may be nested twice (the sum of two
/// differences, say) before the result must go into a multiplication; their operands are reduced otherwise.
pub trait Vector<P: Prime>: Algebra {
    /// How many elements, at most [`LANES`].
    const WIDTH: usize;

    /// One element in every lane; costs about a scalar multiplication.
    fn broadcast(token: Self::Token, element: Fp<P>) -> Self;

    /// The elements as they are.
    fn load_slice(token: Self::Token, elements: &[Fp<P>]) -> Self;

    /// Writes canonical elements.
    fn store_slice(self, elements: &mut [Fp<P>]);

    /// Reads Montgomery limbs as they stand, canonical or not, from `element(i)` for lane i: the lanes hold the
    /// elements times a constant of the vector type, which linear maps do not see.
    fn gather<'a>(token: Self::Token, element: impl Fn(usize) -> &'a P::Limbs) -> Self;

    /// The inverse of [`gather`](Self::gather), to element `index` of each row, for values below 2^(64 LEN); not
    /// canonical.
    fn scatter<R: AsMut<[P::Limbs]>>(self, rows: &mut [R], index: usize);

    /// The opposite of a reduced value in the lanes whose bit is set; fit only to be added or subtracted.
    fn negate_lanes(mask: u8, value: Self) -> Self;

    /// Which lanes hold zero, bit i for lane i; takes sums and differences of reduced values.
    fn zero_lanes(self) -> u8;

    /// Which lanes hold an odd integer of 0..p, bit i for lane i; takes reduced values.
    fn odd_lanes(self) -> u8;

    /// `chosen` in the lanes whose bit is set, `other` elsewhere.
    fn select(mask: u8, chosen: Self, other: Self) -> Self;
}

/// [`Vector`] of one element.
impl<P: Prime, B: Backend> Vector<P> for Fp<P, B> {
    const WIDTH: usize = 1;

    #[inline(always)]
    fn broadcast(backend: B, element: Fp<P>) -> Self {
        element.with_backend(backend)
    }

    #[inline(always)]
    fn load_slice(backend: B, elements: &[Fp<P>]) -> Self {
        elements[0].with_backend(backend)
    }

    #[inline(always)]
    fn store_slice(self, elements: &mut [Fp<P>]) {
        elements[0] = self.portable();
    }

    #[inline(always)]
    fn gather<'a>(backend: B, element: impl Fn(usize) -> &'a P::Limbs) -> Self {
        Self::from_limbs(backend, *element(0))
    }

    #[inline(always)]
    fn scatter<R: AsMut<[P::Limbs]>>(self, rows: &mut [R], index: usize) {
        rows[0].as_mut()[index] = self.to_montgomery();
    }

    #[inline(always)]
    fn negate_lanes(mask: u8, value: Self) -> Self {
        Self::select(mask, -value, value)
    }

    #[inline(always)]
    fn zero_lanes(self) -> u8 {
        u8::from(self.to_montgomery() == P::Limbs::ZERO)
    }

    #[inline(always)]
    fn odd_lanes(self) -> u8 {
        (self.to_canonical().as_ref()[0] & 1) as u8
    }

    #[inline(always)]
    fn select(mask: u8, chosen: Self, other: Self) -> Self {
        // By a mask of whose two values the compiler does not know: it would branch, and masks may be secret.
        let mask = black_box(u64::from(mask & 1).wrapping_neg());
        let (mut limbs, chosen) = (other.to_montgomery(), chosen.to_montgomery());
        for (limb, chosen) in limbs.as_mut().iter_mut().zip(chosen.as_ref()) {
            *limb ^= (*limb ^ chosen) & mask;
        }
        other.with_limbs(limbs)
    }
}

/// [`LANES`] elements of the field `P` at every level.
pub trait Packed<P: Prime>: Vector<P> {
    /// One element, ready to be spread over all lanes.
    type Splat: Copy + Send + Sync + 'static;

    /// Prepares an element for [`splat`](Self::splat); costs about a multiplication.
    fn prepare(token: Self::Token, element: Fp<P>) -> Self::Splat;

    /// One element in every lane.
    fn splat(token: Self::Token, element: &Self::Splat) -> Self;

    /// The elements as they are.
    fn load(token: Self::Token, elements: &[Fp<P>; LANES]) -> Self;

    /// Writes canonical elements.
    fn store(self, elements: &mut [Fp<P>; LANES]);

    /// Reads Montgomery limbs as they stand, canonical or not: the lanes hold the elements times a
    /// constant of the packed type, which linear maps do not see. The cheapest way in.
    fn load_bits(token: Self::Token, elements: &[P::Limbs; LANES]) -> Self;

    /// The inverse of [`load_bits`](Self::load_bits), for values below 2^(64 LEN); not canonical.
    fn store_bits(self, elements: &mut [P::Limbs; LANES]);

    /// As [`store_bits`](Self::store_bits) for a reduced value, and canonical.
    fn store_scaled(self, elements: &mut [Fp<P>; LANES]);
}

/// Lanes of a level without vector instructions: eight scalar elements, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct ScalarLanes<P: Prime, B: Backend>([Fp<P, B>; LANES]);

/// Functions of their own: inlined into a formula, eight copies of every product would not fit the
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

impl<P: Prime, B: Backend> Packed<P> for ScalarLanes<P, B> {
    type Splat = Fp<P, B>;

    #[inline(always)]
    fn prepare(backend: B, element: Fp<P>) -> Fp<P, B> {
        element.with_backend(backend)
    }

    #[inline(always)]
    fn splat(_: B, element: &Fp<P, B>) -> Self {
        Self([*element; LANES])
    }

    #[inline(always)]
    fn load(backend: B, elements: &[Fp<P>; LANES]) -> Self {
        Self(elements.map(|element| element.with_backend(backend)))
    }

    #[inline(always)]
    fn store(self, elements: &mut [Fp<P>; LANES]) {
        *elements = self.0.map(Fp::portable);
    }

    #[inline(always)]
    fn load_bits(backend: B, elements: &[P::Limbs; LANES]) -> Self {
        Self(elements.map(|limbs| Fp::from_limbs(backend, limbs)))
    }

    #[inline(always)]
    fn store_bits(self, elements: &mut [P::Limbs; LANES]) {
        *elements = self.0.map(Fp::to_montgomery);
    }

    #[inline(always)]
    fn store_scaled(self, elements: &mut [Fp<P>; LANES]) {
        self.store(elements);
    }
}

impl<P: Prime, B: Backend> Vector<P> for ScalarLanes<P, B> {
    const WIDTH: usize = LANES;

    #[inline(always)]
    fn broadcast(backend: B, element: Fp<P>) -> Self {
        Self([element.with_backend(backend); LANES])
    }

    #[inline(always)]
    fn load_slice(backend: B, elements: &[Fp<P>]) -> Self {
        Self(array::from_fn(|lane| elements[lane].with_backend(backend)))
    }

    #[inline(always)]
    fn store_slice(self, elements: &mut [Fp<P>]) {
        for (element, lane) in elements.iter_mut().zip(self.0) {
            *element = lane.portable();
        }
    }

    #[inline(always)]
    fn gather<'a>(backend: B, element: impl Fn(usize) -> &'a P::Limbs) -> Self {
        Self(array::from_fn(|lane| Fp::from_limbs(backend, *element(lane))))
    }

    #[inline(always)]
    fn scatter<R: AsMut<[P::Limbs]>>(self, rows: &mut [R], index: usize) {
        for (row, value) in rows.iter_mut().zip(self.0) {
            row.as_mut()[index] = value.to_montgomery();
        }
    }

    #[inline(always)]
    fn negate_lanes(mask: u8, value: Self) -> Self {
        Self::select(mask, -value, value)
    }

    #[inline(always)]
    fn zero_lanes(self) -> u8 {
        self.0.iter().enumerate().fold(0, |mask, (lane, x)| mask | x.zero_lanes() << lane)
    }

    #[inline(always)]
    fn odd_lanes(self) -> u8 {
        self.0.iter().enumerate().fold(0, |mask, (lane, x)| mask | x.odd_lanes() << lane)
    }

    #[inline(always)]
    fn select(mask: u8, chosen: Self, other: Self) -> Self {
        Self(std::array::from_fn(|lane| if mask >> lane & 1 == 1 { chosen.0[lane] } else { other.0[lane] }))
    }
}
