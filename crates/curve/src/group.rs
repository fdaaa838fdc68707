//! Short Weierstrass curves `y^2 = x^3 + b` in affine, Jacobian and XYZZ coordinates.
//!
//! Formulas: the Explicit-Formulas Database (Bernstein, Lange), curves with a = 0: `dbl-2009-l` and
//! `add-2007-bl`, `madd-2007-bl` (Jacobian); `dbl-2008-s-1`, `add-2008-s`, `madd-2008-s` (XYZZ).

use proofmill_field::Field;
use std::fmt::Debug;

/// A curve `y^2 = x^3 + B` and its subgroup of prime order.
pub trait Curve: Copy + Debug + PartialEq + Eq + Send + Sync + 'static {
    /// The field of the coordinates.
    type Base: Field;
    /// The field of the scalars: the integers modulo the subgroup's order.
    type Scalar: Field;
    /// The curve's constant.
    const B: Self::Base;
    /// The subgroup's standard generator.
    const GENERATOR: Affine<Self>;
    /// Name in messages, e.g. `BN254 G1`.
    const NAME: &'static str;
}

/// A point by its affine coordinates; (0, 0), which is on none of our curves, stands for infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Affine<C: Curve> {
    /// The abscissa.
    pub x: C::Base,
    /// The ordinate.
    pub y: C::Base,
}

/// A point by (X, Y, Z) with `x = X/Z^2`, `y = Y/Z^3`; infinity has Z = 0.
#[derive(Clone, Copy, Debug)]
pub struct Jacobian<C: Curve> {
    /// X.
    pub x: C::Base,
    /// Y.
    pub y: C::Base,
    /// Z.
    pub z: C::Base,
}

/// A point by (X, Y, ZZ, ZZZ) with `x = X/ZZ`, `y = Y/ZZZ`, `ZZ^3 = ZZZ^2`; infinity has ZZ = 0.
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
