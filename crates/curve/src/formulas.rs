//! The group laws as formulas over any [`Algebra`]: coordinates may be field elements, vectors of them, or symbols that record what is
//! computed. They hold for points in general position: not for infinity, nor for the sum of points with the same x.
//!
//! From the Explicit-Formulas Database (Bernstein, Lange), curves with a = 0.

use proofmill_field::Algebra;

/// Two points in XYZZ coordinates before they are added: their differences, and what they are multiplied with.
#[derive(Clone, Copy, Debug)]
pub struct XyzzTerms<A> {
    u1: A,
    /// The difference of the Xs: zero if the points have the same x.
    pub p: A,
    s1: A,
    /// The difference of the Ys.
    pub r: A,
    zz: A,
    zzz: A,
}

/// The terms of the sum of a point (X, Y, ZZ, ZZZ) and an affine one, by `madd-2008-s`.
#[inline(always)]
pub fn xyzz_plus_affine<A: Algebra>([x1, y1, zz1, zzz1]: [A; 4], [x2, y2]: [A; 2]) -> XyzzTerms<A> {
    let (u2, s2) = (x2 * zz1, y2 * zzz1);
    XyzzTerms { u1: x1, p: u2 - x1, s1: y1, r: s2 - y1, zz: zz1, zzz: zzz1 }
}

/// The terms of the sum of two points (X, Y, ZZ, ZZZ), by `add-2008-s`.
#[inline(always)]
pub fn added_xyzz<A: Algebra>([x1, y1, zz1, zzz1]: [A; 4], [x2, y2, zz2, zzz2]: [A; 4]) -> XyzzTerms<A> {
    let (u1, u2) = (x1 * zz2, x2 * zz1);
    let (s1, s2) = (y1 * zzz2, y2 * zzz1);
    XyzzTerms { u1, p: u2 - u1, s1, r: s2 - s1, zz: zz1 * zz2, zzz: zzz1 * zzz2 }
}

impl<A: Algebra> XyzzTerms<A> {
    /// The sum, (X, Y, ZZ, ZZZ).
    #[inline(always)]
    pub fn sum(self) -> [A; 4] {
        let Self { u1, p, s1, r, zz, zzz } = self;
        let pp = p.square();
        let ppp = p * pp;
        let q = u1 * pp;
        let x = r.square() - ppp - q.double();
        let y = r * (q - x) - s1 * ppp;
        [x, y, zz * pp, zzz * ppp]
    }
}

/// Twice a point (X, Y, ZZ, ZZZ), by `dbl-2008-s-1`.
#[inline(always)]
pub fn doubled_xyzz<A: Algebra>([x, y, zz, zzz]: [A; 4]) -> [A; 4] {
    let u = y.double();
    let v = u.square();
    let w = u * v;
    let s = x * v;
    let square = x.square();
    let m = square.double() + square;
    let x3 = m.square() - s.double();
    let y3 = m * (s - x3) - w * y;
    [x3, y3, v * zz, w * zzz]
}

/// Twice a point in Jacobian coordinates, by `dbl-2009-l`. In each step all products that do not depend on each other, for types that fill
/// vectors with them. The operands of squares are reduced: in an extension a square subtracts one coefficient from the other.
#[inline(always)]
pub fn doubled<A: Algebra>([x, y, z]: [A; 3]) -> [A; 3] {
    let token = x.token();
    let ([yz], [a, b]) = A::products(token, [[&y, &z]], [&x, &y]);
    let e = a.double() + a;
    let ([], [c, sum, f]) = A::products(token, [], [&b, &(x + b), &e]);
    let d = (sum - a - c).double().bounded();
    let x = f - d.double();
    let y = e * d.sub_lazy(x) - c.double().double().double();
    [x, y.bounded(), yz.double()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofmill_field::{Quadratic, Terms};

    fn check<const MOST: u64>() {
        let one = Quadratic::new(Terms::<MOST>(1), Terms(1));
        let mut point = [one; 3];
        for _ in 0..3 {
            point = doubled(point);
        }
    }

    #[test]
    fn sums_stay_small() {
        check::<39>();
        check::<1000>();
    }
}
