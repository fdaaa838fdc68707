//! Short Weierstrass curves `y^2 = x^3 + b` in affine, Jacobian and XYZZ coordinates.
//!
//! Formulas: the Explicit-Formulas Database (Bernstein, Lange), curves with a = 0: `dbl-2009-l`, `add-2007-bl`,
//! `madd-2007-bl` (Jacobian); `dbl-2008-s-1`, `mdbl-2008-s-1`, `add-2008-s`, `madd-2008-s` (XYZZ). All
//! additions are complete: infinity, doubling and opposite points are handled. Times depend on the values.

use crate::formulas::{
    JacobianTerms, XyzzTerms, added, added_xyzz, doubled, doubled_xyzz, jacobian_plus_affine,
    xyzz_plus_affine,
};
use proofmill_field::{Algebra, Field, Invert, PrimeField, batch_invert_vartime};
use proofmill_memory::Zeroed;
use std::{fmt::Debug, iter::Sum, ops::Neg};

/// A curve `y^2 = x^3 + B` and its subgroup of prime order.
pub trait Curve: Copy + Debug + PartialEq + Eq + Send + Sync + 'static {
    /// The field of the coordinates.
    type Base: Field;
    /// The field of the scalars: the integers modulo the subgroup's order.
    type Scalar: PrimeField;
    /// The curve's constant.
    const B: Self::Base;
    /// The subgroup's standard generator.
    const GENERATOR: Affine<Self>;
    /// Name in messages, e.g. `BN254 G1`.
    const NAME: &'static str;

    /// [`Jacobian::double`], compiled in this crate and not in every user, as the operations below.
    #[doc(hidden)]
    fn double(point: &Jacobian<Self>) -> Jacobian<Self>;
    #[doc(hidden)]
    fn add(a: &Jacobian<Self>, b: &Jacobian<Self>) -> Jacobian<Self>;
    #[doc(hidden)]
    fn add_affine(a: &Jacobian<Self>, b: &Affine<Self>) -> Jacobian<Self>;
    #[doc(hidden)]
    fn add_affine_to_xyzz(a: &Xyzz<Self>, b: &Affine<Self>) -> Xyzz<Self>;
}

/// The two source groups of a pairing, named by the first.
pub trait SourceGroups: Curve {
    /// The second one.
    type G2: Curve<Scalar = Self::Scalar>;
}

/// Implements [`Curve`]'s operations for one curve.
macro_rules! operations {
    () => {
        #[inline(never)]
        fn double(point: &$crate::Jacobian<Self>) -> $crate::Jacobian<Self> {
            point.double_generic()
        }

        #[inline(never)]
        fn add(a: &$crate::Jacobian<Self>, b: &$crate::Jacobian<Self>) -> $crate::Jacobian<Self> {
            a.add_generic(b)
        }

        #[inline(never)]
        fn add_affine(a: &$crate::Jacobian<Self>, b: &$crate::Affine<Self>) -> $crate::Jacobian<Self> {
            a.add_affine_generic(b)
        }

        #[inline(never)]
        fn add_affine_to_xyzz(a: &$crate::Xyzz<Self>, b: &$crate::Affine<Self>) -> $crate::Xyzz<Self> {
            a.add_affine_generic(b)
        }
    };
}

pub(crate) use operations;

/// A point in affine coordinates; (0, 0), which is on none of these curves, represents infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Affine<C: Curve> {
    /// The abscissa.
    pub x: C::Base,
    /// The ordinate.
    pub y: C::Base,
}

// SAFETY: the fields are two coordinates, and zeros are infinity.
unsafe impl<C: Curve<Base: Zeroed>> Zeroed for Affine<C> {}

/// A point as (X, Y, Z) with `x = X/Z^2`, `y = Y/Z^3`; infinity has Z = 0.
#[derive(Clone, Copy, Debug)]
pub struct Jacobian<C: Curve> {
    /// X.
    pub x: C::Base,
    /// Y.
    pub y: C::Base,
    /// Z.
    pub z: C::Base,
}

/// A point as (X, Y, ZZ, ZZZ) with `x = X/ZZ`, `y = Y/ZZZ`, `ZZ^3 = ZZZ^2`; infinity has ZZ = 0.
#[derive(Clone, Copy, Debug)]
pub struct Xyzz<C: Curve> {
    /// X.
    pub x: C::Base,
    /// Y.
    pub y: C::Base,
    /// Z squared.
    pub zz: C::Base,
    /// Z cubed.
    pub zzz: C::Base,
}

impl<C: Curve> Affine<C> {
    /// The neutral element.
    pub const INFINITY: Self = Self { x: C::Base::ZERO, y: C::Base::ZERO };

    /// Whether this is the neutral element.
    #[inline(always)]
    pub fn is_infinity(&self) -> bool {
        self.x.is_zero() && self.y.is_zero()
    }

    /// Whether the point satisfies the curve's equation, or is infinity. Does not check the subgroup.
    pub fn is_on_curve(&self) -> bool {
        self.is_infinity() || self.y.square() == self.x.square() * self.x + C::B
    }

    /// `scalar * self`.
    pub fn mul_vartime(&self, scalar: &C::Scalar) -> Jacobian<C> {
        self.mul_words_vartime(scalar.to_words().as_ref())
    }

    /// `integer * self` for an integer in little-endian words, which may exceed the group's order.
    pub fn mul_words_vartime(&self, integer: &[u64]) -> Jacobian<C> {
        let bits = integer.iter().rev().flat_map(|word| (0..64).rev().map(move |i| word >> i & 1 == 1));
        bits.skip_while(|bit| !bit).fold(Jacobian::INFINITY, |sum, bit| {
            let doubled = sum.double();
            if bit { doubled.add_affine(self) } else { doubled }
        })
    }
}

impl<C: Curve> Neg for Affine<C> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self { x: self.x, y: -self.y }
    }
}

impl<C: Curve> Jacobian<C> {
    /// The neutral element.
    pub const INFINITY: Self = Self { x: C::Base::ONE, y: C::Base::ONE, z: C::Base::ZERO };

    /// Whether this is the neutral element.
    pub fn is_infinity(&self) -> bool {
        self.z.is_zero()
    }

    /// `2 self`, by `dbl-2009-l`.
    pub fn double(&self) -> Self {
        C::double(self)
    }

    /// `self + rhs`, by `add-2007-bl`.
    pub fn add(&self, rhs: &Self) -> Self {
        C::add(self, rhs)
    }

    /// `self + rhs`, by `madd-2007-bl`.
    pub fn add_affine(&self, rhs: &Affine<C>) -> Self {
        C::add_affine(self, rhs)
    }

    pub(crate) fn double_generic(&self) -> Self {
        Self::of(doubled(self.coordinates()))
    }

    pub(crate) fn add_generic(&self, rhs: &Self) -> Self {
        if self.is_infinity() {
            return *rhs;
        }
        if rhs.is_infinity() {
            return *self;
        }
        self.sum_of(added(self.coordinates(), rhs.coordinates()))
    }

    pub(crate) fn add_affine_generic(&self, rhs: &Affine<C>) -> Self {
        if self.is_infinity() {
            return Self::from(*rhs);
        }
        if rhs.is_infinity() {
            return *self;
        }
        self.sum_of(jacobian_plus_affine(self.coordinates(), [rhs.x, rhs.y]))
    }

    /// The sum of this point and another one, whose terms are given.
    #[inline(always)]
    fn sum_of(&self, terms: JacobianTerms<C::Base>) -> Self {
        // The same x: equal points, whose chord is the tangent, or opposite ones.
        if terms.h.is_zero() {
            return if terms.s.is_zero() { self.double() } else { Self::INFINITY };
        }
        Self::of(terms.sum())
    }

    fn coordinates(&self) -> [C::Base; 3] {
        [self.x, self.y, self.z]
    }

    fn of([x, y, z]: [C::Base; 3]) -> Self {
        Self { x, y, z }
    }

    /// The affine coordinates; one inversion.
    pub fn to_affine(&self) -> Affine<C> {
        self.z.invert_vartime().map_or(Affine::INFINITY, |inverse| self.scale(inverse))
    }

    /// The affine coordinates of many points, with one inversion.
    pub fn batch_to_affine(points: &[Self]) -> Vec<Affine<C>> {
        // Zeros stay zero in the batch: they stand for infinity.
        let mut inverses: Vec<_> = points.iter().map(|point| point.z).collect();
        batch_invert_vartime(&mut inverses);
        let scaled = points
            .iter()
            .zip(inverses)
            .map(|(point, inverse)| if inverse.is_zero() { Affine::INFINITY } else { point.scale(inverse) });
        scaled.collect()
    }

    fn scale(&self, z_inverse: C::Base) -> Affine<C> {
        let square = z_inverse.square();
        Affine { x: self.x * square, y: self.y * square * z_inverse }
    }
}

impl<C: Curve> PartialEq for Jacobian<C> {
    /// Equality of the points, for any Z.
    fn eq(&self, rhs: &Self) -> bool {
        if self.is_infinity() || rhs.is_infinity() {
            return self.is_infinity() == rhs.is_infinity();
        }
        let (z1z1, z2z2) = (self.z.square(), rhs.z.square());
        self.x * z2z2 == rhs.x * z1z1 && self.y * z2z2 * rhs.z == rhs.y * z1z1 * self.z
    }
}

impl<C: Curve> Eq for Jacobian<C> {}

impl<C: Curve> Neg for Jacobian<C> {
    type Output = Self;

    fn neg(self) -> Self {
        Self { y: -self.y, ..self }
    }
}

impl<C: Curve> From<Affine<C>> for Jacobian<C> {
    fn from(point: Affine<C>) -> Self {
        if point.is_infinity() {
            return Self::INFINITY;
        }
        Self { x: point.x, y: point.y, z: C::Base::ONE }
    }
}

impl<C: Curve> Sum for Jacobian<C> {
    fn sum<I: Iterator<Item = Self>>(points: I) -> Self {
        points.fold(Self::INFINITY, |sum, point| sum.add(&point))
    }
}

impl<C: Curve> Xyzz<C> {
    /// The neutral element.
    pub const INFINITY: Self =
        Self { x: C::Base::ONE, y: C::Base::ONE, zz: C::Base::ZERO, zzz: C::Base::ZERO };

    /// Whether this is the neutral element.
    pub fn is_infinity(&self) -> bool {
        self.zz.is_zero()
    }

    /// `2 self`, by `dbl-2008-s-1`.
    pub fn double(&self) -> Self {
        Self::of(doubled_xyzz(self.coordinates()))
    }

    /// `self + rhs`, by `add-2008-s`.
    pub fn add(&self, rhs: &Self) -> Self {
        if self.is_infinity() {
            return *rhs;
        }
        if rhs.is_infinity() {
            return *self;
        }
        self.sum_of(added_xyzz(self.coordinates(), rhs.coordinates()))
    }

    /// `self + rhs`, by `madd-2008-s`.
    pub fn add_affine(&self, rhs: &Affine<C>) -> Self {
        C::add_affine_to_xyzz(self, rhs)
    }

    pub(crate) fn add_affine_generic(&self, rhs: &Affine<C>) -> Self {
        if self.is_infinity() {
            return Self::from(*rhs);
        }
        if rhs.is_infinity() {
            return *self;
        }
        self.sum_of(xyzz_plus_affine(self.coordinates(), [rhs.x, rhs.y]))
    }

    /// The sum of this point and another one, whose terms are given.
    #[inline(always)]
    fn sum_of(&self, terms: XyzzTerms<C::Base>) -> Self {
        // As for Jacobian coordinates.
        if terms.p.is_zero() {
            return if terms.r.is_zero() { self.double() } else { Self::INFINITY };
        }
        Self::of(terms.sum())
    }

    fn coordinates(&self) -> [C::Base; 4] {
        [self.x, self.y, self.zz, self.zzz]
    }

    fn of([x, y, zz, zzz]: [C::Base; 4]) -> Self {
        Self { x, y, zz, zzz }
    }
}

impl<C: Curve> From<Affine<C>> for Xyzz<C> {
    fn from(point: Affine<C>) -> Self {
        if point.is_infinity() {
            return Self::INFINITY;
        }
        Self { x: point.x, y: point.y, zz: C::Base::ONE, zzz: C::Base::ONE }
    }
}

impl<C: Curve> From<Xyzz<C>> for Jacobian<C> {
    /// `(X ZZ, Y ZZZ, ZZ)`: since `ZZ = Z^2`, Z' = ZZ gives `Z'^2 = ZZ^2` and `Z'^3 = ZZZ^2`.
    fn from(point: Xyzz<C>) -> Self {
        if point.is_infinity() {
            return Self::INFINITY;
        }
        Self { x: point.x * point.zz, y: point.y * point.zzz, z: point.zz }
    }
}
