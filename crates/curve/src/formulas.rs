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

/// Two points in Jacobian coordinates before they are added: their differences, and what they are multiplied with.
#[derive(Clone, Copy, Debug)]
pub struct JacobianTerms<A> {
    u1: A,
    /// The difference of the Xs: zero if the points have the same x.
    pub h: A,
    s1: A,
    /// The difference of the Ys.
    pub s: A,
    /// Twice the product of the Zs.
    z: A,
}

/// The terms of the sum of a point (X, Y, Z) and an affine one, by `madd-2007-bl`.
#[inline(always)]
pub fn jacobian_plus_affine<A: Algebra>([x1, y1, z1]: [A; 3], [x2, y2]: [A; 2]) -> JacobianTerms<A> {
    let z1z1 = z1.square();
    let (u2, s2) = (x2 * z1z1, y2 * z1 * z1z1);
    JacobianTerms { u1: x1, h: u2 - x1, s1: y1, s: s2 - y1, z: z1.double() }
}

/// The terms of the sum of two points (X, Y, Z), by `add-2007-bl`.
#[inline(always)]
pub fn added<A: Algebra>([x1, y1, z1]: [A; 3], [x2, y2, z2]: [A; 3]) -> JacobianTerms<A> {
    let (z1z1, z2z2) = (z1.square(), z2.square());
    let (u1, u2) = (x1 * z2z2, x2 * z1z1);
    let (s1, s2) = (y1 * z2 * z2z2, y2 * z1 * z1z1);
    JacobianTerms { u1, h: u2 - u1, s1, s: s2 - s1, z: (z1 + z2).square() - z1z1 - z2z2 }
}

impl<A: Algebra> JacobianTerms<A> {
    /// The sum, (X, Y, Z).
    #[inline(always)]
    pub fn sum(self) -> [A; 3] {
        let Self { u1, h, s1, s, z } = self;
        let i = h.double().square();
        let j = h * i;
        let r = s.double();
        let v = u1 * i;
        let x = r.square() - j - v.double();
        let y = r * (v - x) - (s1 * j).double();
        [x, y, z * h]
    }
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

/// The sums (X, Y) of pairs of affine points (X1, Y1, X2, Y2) by the chords through them, with one inversion for all pairs:
/// `lambda = (Y2 - Y1) / (X2 - X1)`, `X = lambda^2 - X1 - X2`, `Y = lambda (X1 - X) - Y1`. One pair with the same x makes all sums
/// wrong: nothing has then an inverse.
pub fn affine_plus_affine<A: Algebra, const N: usize>(
    pairs: [[A; 4]; N],
    invert: impl FnOnce(A) -> A,
) -> [[A; 2]; N] {
    let inverses = inverted(pairs.map(|[x1, _, x2, _]| x2 - x1).to_vec(), invert);
    std::array::from_fn(|pair| {
        let [x1, y1, x2, y2] = pairs[pair];
        let lambda = (y2 - y1) * inverses[pair];
        let x = lambda.square() - x1 - x2;
        [x, lambda * (x1 - x) - y1]
    })
}

/// The inverses of elements by one inversion: products along a binary tree up to its root, which is inverted, and down again. As many
/// products as by Montgomery's trick, `3 (n - 1)`, but only `2 log2(n)` of them one after another.
fn inverted<A: Algebra>(elements: Vec<A>, invert: impl FnOnce(A) -> A) -> Vec<A> {
    let mut levels = vec![elements];
    while let Some(level) = levels.last()
        && level.len() > 1
    {
        let product = |pair: &[A]| if let [a, b] = *pair { a * b } else { pair[0] };
        let above = level.chunks(2).map(product).collect();
        levels.push(above);
    }
    let root = levels.pop().and_then(|root| root.first().copied());
    let inverses: Vec<A> = root.map(invert).into_iter().collect();
    levels.iter().rev().fold(inverses, |inverses, level| {
        let below = level.chunks(2).zip(inverses).flat_map(|(pair, inverse)| match *pair {
            [a, b] => vec![inverse * b, inverse * a],
            _ => vec![inverse],
        });
        below.collect()
    })
}

/// `x` to the power of an exponent in little-endian words, with few products of different factors: by sliding windows of the width that
/// needs the fewest (H. Cohen, "A Course in Computational Algebraic Number Theory", 1993, section 1.2). `x` to the power of p - 2 is
/// the inverse modulo p (Fermat): 253 squares and 53 products for the base field of BN254.
///
/// # Panics
/// If the exponent is zero.
pub fn power<A: Algebra>(x: A, exponent: &[u64]) -> A {
    let bits = exponent.iter().rev().flat_map(|word| (0..64).rev().map(move |i| word >> i & 1 == 1));
    let bits: Vec<bool> = bits.skip_while(|bit| !bit).collect();
    let largest = |windows: &[(usize, usize)]| windows.iter().map(|(_, odd)| odd / 2).max().unwrap_or(0);
    // The products are one per window and one per odd power in the table.
    let widths = (1..=8).map(|width| windows(&bits, width));
    let windows = widths.min_by_key(|windows| windows.len() + largest(windows)).unwrap_or_default();
    // x, x^3, x^5 and so on.
    let mut odd = vec![x];
    if largest(&windows) > 0 {
        let square = x.square();
        for index in 0..largest(&windows) {
            odd.push(odd[index] * square);
        }
    }
    let [(_, first), rest @ ..] = windows.as_slice() else { panic!("a positive exponent") };
    rest.iter().fold(odd[first / 2], |power, (length, value)| {
        let power = (0..*length).fold(power, |power, _| power.square());
        if *value == 0 { power } else { power * odd[value / 2] }
    })
}

/// Bits, the highest first, as windows: each with its length, zeros before it included, and its value, which is odd and has at most so many
/// bits. Zeros at the end are a window of their own, of value 0.
fn windows(mut bits: &[bool], width: usize) -> Vec<(usize, usize)> {
    let mut windows = Vec::new();
    while !bits.is_empty() {
        let zeros = bits.iter().take_while(|bit| !**bit).count();
        let most = &bits[..bits.len().min(zeros + width)];
        let length = most.iter().rposition(|bit| *bit).map_or(bits.len(), |last| last + 1);
        let value = bits[zeros..length].iter().fold(0, |value, bit| 2 * value + usize::from(*bit));
        windows.push((length, value));
        bits = &bits[length..];
    }
    windows
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
