//! Points of BLS12-381's curves in lanes, in Jacobian coordinates, with the same steps in every lane.
//!
//! Formulas: the Explicit-Formulas Database (Bernstein, Lange), `dbl-2009-l` and `add-2007-bl`. Infinity, doubling
//! and opposite points are handled; a lane with such a case does not change the results of other lanes.

use super::{X, roots::Roots};
use crate::{Affine, Curve, Jacobian, formulas::doubled};
use proofmill_field::{Algebra, Engine, Field, LANES, Lanes, LanesOf, Packable, Select, Vector};

/// One point per lane: `x = X/Z^2`, `y = Y/Z^3`, Z = 0 for infinity.
pub struct Points<F: Packable, E: Engine> {
    pub x: F::Lanes<E>,
    pub y: F::Lanes<E>,
    pub z: F::Lanes<E>,
}

impl<F: Packable, E: Engine> Clone for Points<F, E> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Packable, E: Engine> Copy for Points<F, E> {}

impl<F: Roots, E: Engine> Points<F, E> {
    /// From the affine coordinates of points other than infinity.
    #[inline(always)]
    pub(crate) fn affine(x: F::Lanes<E>, y: F::Lanes<E>) -> Self {
        Self { x, y, z: Algebra::one(x.token()) }
    }

    /// `2 self`.
    #[inline(always)]
    pub(crate) fn double(&self) -> Self {
        let mut double = *self;
        double.double_assign();
        double
    }

    /// Doubles in place: a copy of the result would wait for its stores, which are narrower (`decode-g1` at `adx` 1 % slower).
    #[inline(always)]
    fn double_assign(&mut self) {
        F::Lanes::<E>::outlined(
            self.x.token(),
            #[inline(always)]
            || [self.x, self.y, self.z] = doubled([self.x, self.y, self.z]),
        );
    }

    /// `self + rhs`.
    #[inline(always)]
    pub(crate) fn add(&self, rhs: &Self) -> Self {
        F::Lanes::<E>::outlined(
            self.x.token(),
            #[inline(always)]
            || self.add_inlined(rhs),
        )
    }

    #[inline(always)]
    fn add_inlined(&self, rhs: &Self) -> Self {
        let [z1z1, z2z2] = Algebra::square_pair([self.z, rhs.z]);
        let [u1, u2] = Algebra::mul_pair([self.x, rhs.x], [z2z2, z1z1]);
        let [s1, s2] = Algebra::mul_pair([self.z, rhs.z], [z1z1, z2z2]);
        let [s1, s2] = Algebra::mul_pair([s2, s1], [self.y, rhs.y]);
        let (h, r) = (u2 - u1, (s2 - s1).double());
        let [i, zz] = Algebra::square_pair([h.double(), self.z + rhs.z]);
        let [j, v] = Algebra::mul_pair([h, u1], [i, i]);
        let x = r.square() - j - v.double();
        let [y, sj] = Algebra::mul_pair([r, s1], [v.sub_lazy(x), j]);
        let sum = Self { x, y: y - sj.double(), z: (zz - z1z1 - z2z2) * h };
        // Z is zero for opposite points, which is right, for equal points, and if either is infinity.
        if sum.z.zero_lanes() == 0 {
            return sum;
        }
        let (left, right) = (self.z.zero_lanes(), rhs.z.zero_lanes());
        let equal = h.zero_lanes() & r.zero_lanes();
        let sum = Self::select(equal, &self.double(), &sum);
        Self::select(left, rhs, &Self::select(right, self, &sum))
    }

    /// `chosen` in the lanes whose bit is set, otherwise `other`.
    #[inline(always)]
    pub(crate) fn select(mask: u8, chosen: &Self, other: &Self) -> Self {
        Self {
            x: LanesOf::<F, E>::select(mask, chosen.x, other.x),
            y: LanesOf::<F, E>::select(mask, chosen.y, other.y),
            z: LanesOf::<F, E>::select(mask, chosen.z, other.z),
        }
    }

    /// `-self`.
    #[inline(always)]
    pub(crate) fn negate(&self) -> Self {
        Self { y: -self.y, ..*self }
    }

    /// The lanes with equal points.
    #[inline(always)]
    pub(crate) fn equal(&self, rhs: &Self) -> u8 {
        let [z1z1, z2z2] = Algebra::square_pair([self.z, rhs.z]);
        let [u1, u2] = Algebra::mul_pair([self.x, rhs.x], [z2z2, z1z1]);
        let [zzz2, zzz1] = Algebra::mul_pair([rhs.z, self.z], [z2z2, z1z1]);
        let [s1, s2] = Algebra::mul_pair([self.y, rhs.y], [zzz2, zzz1]);
        let (left, right) = (self.z.zero_lanes(), rhs.z.zero_lanes());
        let same = LanesOf::<F, E>::zero_lanes(u1 - u2) & LanesOf::<F, E>::zero_lanes(s1 - s2);
        left & right | same & !left & !right
    }

    /// `-x self` for the curve's parameter x: 63 doublings and 5 additions. `single` is the engine for a single point.
    #[inline(always)]
    pub(crate) fn times_minus_x<S: Engine>(&self, single: S) -> Self {
        F::Lanes::<E>::outlined(
            self.x.token(),
            #[inline(always)]
            || {
                let (mut sum, mut bits) = (*self, X.ilog2());
                while bits > 0 {
                    // Down to the next bit that is set, or to the end.
                    let next = (X & ((1 << bits) - 1)).checked_ilog2();
                    sum.double_many(bits - next.unwrap_or(0), single);
                    bits = next.unwrap_or(0);
                    if next.is_some() {
                        sum = sum.add(self);
                    }
                }
                sum
            },
        )
    }

    /// Doubles `count` times in place.
    #[inline(always)]
    fn double_many<S: Engine>(&mut self, count: u32, single: S) {
        if LanesOf::<F, E>::WIDTH == 1 && count >= MANY {
            let mut coordinates = [F::ZERO; 3];
            for (lane, coordinate) in [self.x, self.y, self.z].into_iter().zip(&mut coordinates) {
                lane.store(std::slice::from_mut(coordinate));
            }
            if F::double_single(single, &mut coordinates, count) {
                let [x, y, z] = &coordinates.map(|coordinate| [coordinate]);
                let token = self.x.token();
                self.x = LanesOf::<F, E>::load(token, x);
                self.y = LanesOf::<F, E>::load(token, y);
                self.z = LanesOf::<F, E>::load(token, z);
                return;
            }
        }
        for _ in 0..count {
            self.double_assign();
        }
    }

    /// The points of the first lanes.
    #[inline(always)]
    pub(crate) fn store<C: Curve<Base = F>>(&self, points: &mut [Jacobian<C>]) {
        let mut coordinates = [[F::ZERO; LANES]; 3];
        for (lanes, elements) in [self.x, self.y, self.z].into_iter().zip(&mut coordinates) {
            lanes.store(&mut elements[..LanesOf::<F, E>::WIDTH]);
        }
        for (i, point) in points.iter_mut().enumerate() {
            let [x, y, z] = coordinates.each_ref().map(|elements| elements[i]);
            *point = Jacobian { x, y, z };
        }
    }
}

/// The doublings in turn from which on a single point changes its form for them.
const MANY: u32 = 8;

/// The coordinates of at most as many points as there are lanes, padded with zeros.
#[inline(always)]
pub(crate) fn load<C: Curve<Base: Packable>, E: Engine>(
    engine: E,
    points: &[Affine<C>],
) -> [LanesOf<C::Base, E>; 2] {
    let mut coordinates = [[C::Base::ZERO; LANES]; 2];
    for (i, point) in points.iter().enumerate() {
        (coordinates[0][i], coordinates[1][i]) = (point.x, point.y);
    }
    let width = LanesOf::<C::Base, E>::WIDTH;
    [
        LanesOf::<C::Base, E>::load(engine, &coordinates[0][..width]),
        LanesOf::<C::Base, E>::load(engine, &coordinates[1][..width]),
    ]
}

/// Inputs and results to compute in lanes, if there are lanes, and those to compute one by one: the last ones, if there are few of them.
pub(crate) fn in_lanes<'a, E: Engine, I, R>(
    _: E,
    inputs: &'a [I],
    results: &'a mut [R],
) -> [(&'a [I], &'a mut [R]); 2] {
    let (count, rest) = (inputs.len(), inputs.len() % LANES);
    let in_lanes = if rest <= E::FEW { count - rest } else { count };
    let ((many, few), (many_results, few_results)) =
        (inputs.split_at(in_lanes), results.split_at_mut(in_lanes));
    [(many, many_results), (few, few_results)]
}
