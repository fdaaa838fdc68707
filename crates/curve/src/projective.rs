//! Complete addition in homogeneous coordinates `x = X/Z`, `y = Y/Z`, on curves `y^2 = x^3 + b`: Renes, Costello, Batina,
//! "Complete addition formulas for prime order elliptic curves" (eprint 2015/1060), algorithms 7 and 9 for a = 0.
//!
//! There are no special cases: infinity (0 : 1 : 0), equal and opposite points are added like all others, in every lane and
//! independently of secrets. The formulas hold for all points of odd order, in particular in both subgroups.

use proofmill_field::{Algebra, Quadratic};

/// A point, or one point per lane.
#[derive(Clone, Copy)]
pub(crate) struct Projective<A> {
    pub(crate) x: A,
    pub(crate) y: A,
    pub(crate) z: A,
}

impl<A: Algebra> Projective<A> {
    #[inline(always)]
    pub(crate) fn infinity(token: A::Token) -> Self {
        Self { x: A::zero(token), y: A::one(token), z: A::zero(token) }
    }

    /// Algorithm 7, given the product with 3b; a function of its own.
    #[inline(always)]
    pub(crate) fn add(&self, rhs: &Self, triple_b: impl Fn(A) -> A) -> Self {
        A::outlined(
            self.x.token(),
            #[inline(always)]
            || self.add_inlined(rhs, triple_b),
        )
    }

    /// Algorithm 9, given the product with 3b; a function of its own.
    #[inline(always)]
    pub(crate) fn double(&self, triple_b: impl Fn(A) -> A) -> Self {
        A::outlined(
            self.x.token(),
            #[inline(always)]
            || self.double_inlined(triple_b),
        )
    }

    #[inline(always)]
    fn add_inlined(&self, rhs: &Self, triple_b: impl Fn(A) -> A) -> Self {
        let token = self.x.token();
        let ([xx, yy, zz, xy, yz, xz], []) = A::products(
            token,
            [
                [&self.x, &rhs.x],
                [&self.y, &rhs.y],
                [&self.z, &rhs.z],
                [&self.x.add_lazy(self.y), &rhs.x.add_lazy(rhs.y)],
                [&self.y.add_lazy(self.z), &rhs.y.add_lazy(rhs.z)],
                [&self.x.add_lazy(self.z), &rhs.x.add_lazy(rhs.z)],
            ],
            [],
        );
        // Karatsuba: (X1 + Y1)(X2 + Y2) - X1 X2 - Y1 Y2 is X1 Y2 + X2 Y1, and so on.
        let xy = xy - (xx + yy);
        let yz = yz - (yy + zz);
        let bxz = triple_b(xz - (xx + zz));
        let bzz = triple_b(zz);
        let xx3 = xx.double() + xx;
        let (sum, difference) = (yy + bzz, yy - bzz);
        let ([a, b, c, d, e, f], []) = A::products(
            token,
            [[&xy, &difference], [&yz, &bxz], [&bxz, &xx3], [&difference, &sum], [&sum, &yz], [&xx3, &xy]],
            [],
        );
        Self { x: a - b, y: c + d, z: e + f }
    }

    #[inline(always)]
    fn double_inlined(&self, triple_b: impl Fn(A) -> A) -> Self {
        let token = self.x.token();
        let ([xy, yz], [yy, zz]) =
            A::products(token, [[&self.x, &self.y], [&self.y, &self.z]], [&self.y, &self.z]);
        let bzz = triple_b(zz);
        let yy8 = yy.bounded().double().double().double();
        let difference = yy - (bzz.double() + bzz);
        let ([a, b, c, d], []) = A::products(
            token,
            [[&difference, &xy], [&difference, &(yy + bzz)], [&bzz, &yy8], [&yz, &yy8]],
            [],
        );
        Self { x: a.double(), y: b + c, z: d }
    }
}

/// `12 x`: three times G1's constant, 4.
#[inline(always)]
pub(crate) fn twelve<A: Algebra>(x: A) -> A {
    let four = x.double().double();
    four.double() + four
}

/// `12 (1 + u) x`: three times G2's constant.
#[inline(always)]
pub(crate) fn twelve_xi<A: Algebra>(x: Quadratic<A>) -> Quadratic<A> {
    let x = x.bounded();
    twelve(Quadratic::new(x.c0 - x.c1, x.c0 + x.c1)).bounded()
}

/// 1 if a = b, otherwise 0, without a branch.
#[inline(always)]
pub(crate) fn is_equal(a: u8, b: u8) -> u8 {
    (u16::from(a ^ b).wrapping_sub(1) >> 15) as u8
}

/// A signed digit's absolute value, and 1 if it is negative, without a branch.
#[inline(always)]
pub(crate) fn magnitude(digit: i8) -> (u8, u8) {
    // The barrier hides from the compiler that the mask has only two values, so that it does not branch on it.
    let negative = std::hint::black_box(digit >> 7);
    ((digit ^ negative).wrapping_sub(negative) as u8, (negative & 1) as u8)
}

/// An integer's digits in base `2^window`, from `1 - 2^(window - 1)` to `2^(window - 1)`, least significant first; `N`
/// digits must hold the words and a carry. No branch depends on the words.
pub(crate) fn signed_digits<const N: usize>(words: &[u64], window: usize) -> [i8; N] {
    let most = 1 << (window - 1);
    let mut digits = [0; N];
    let mut carry = 0;
    for (i, digit) in digits.iter_mut().enumerate() {
        let (word, bit) = (window * i / 64, window * i % 64);
        let mut bits = words.get(word).map_or(0, |word| word >> bit);
        if bit + window > 64 {
            bits |= words.get(word + 1).map_or(0, |word| word << (64 - bit));
        }
        // Values above half the base become negative digits and carry one into the next.
        let value = (bits & (2 * most as u64 - 1)) as i8 + carry;
        carry = (value + most - 1) >> window;
        *digit = value - (carry << window);
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofmill_field::Terms;

    fn check<const MOST: u64>() {
        let one = Quadratic::new(Terms::<MOST>(1), Terms(1));
        let base = Projective { x: one, y: one, z: one };
        let mut point = base;
        for _ in 0..3 {
            point = point.double(twelve_xi).add(&base, twelve_xi);
            point = point.add(&point.double(twelve_xi), twelve_xi);
        }
    }

    #[test]
    fn sums_stay_small() {
        check::<39>();
        check::<1000>();
    }
}
