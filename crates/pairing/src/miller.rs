//! The Miller loop over scalars or lanes: no step depends on a point, so that eight pairs are computed in lanes.
//!
//! Points of the twist and lines are in homogeneous coordinates (Aranha, Karabina, Longa, Gebotys, Lopez, "Faster explicit
//! formulas for computing pairings over ordinary curves", eprint 2010/526; Costello, Lange, Naehrig, "Faster pairing
//! computations on curves with high-degree twists", eprint 2009/615). Each step passes all independent products together.

use crate::{Ate, Constants};
use proofmill_curve::Affine;
use proofmill_field::{Algebra, Dodecic, Field, Fp, LANES, Lanes, Quadratic};

/// The state of pairs in the loop, one pair per lane.
pub(crate) struct Walk<A> {
    /// P's x and y.
    p: [A; 2],
    /// Q's x and y.
    pub(crate) q: [Quadratic<A>; 2],
    t: Homogeneous<A>,
}

/// A point of the twist with `x = X/Z`, `y = Y/Z`.
#[derive(Clone, Copy)]
struct Homogeneous<A> {
    x: Quadratic<A>,
    y: Quadratic<A>,
    z: Quadratic<A>,
}

/// A line's value as three coefficients: P's y times the first, P's x times the second, and the third.
pub(crate) type LineCoefficients<A> = [Quadratic<A>; 3];

/// The loop's value, and a line that waits for another: the product of two lines takes 6 products in Fq2, and its product
/// with the value 18; a single line takes 13. Where a sum of products takes one reduction, a line is multiplied at once.
pub(crate) struct MillerValue<C: Ate, A> {
    f: Dodecic<C::Prime, A>,
    waiting: Option<LineCoefficients<A>>,
}

impl<C: Ate, A: Algebra> MillerValue<C, A> {
    #[inline(always)]
    fn multiply(&mut self, line: LineCoefficients<A>) {
        match self.waiting.take() {
            // A sparse product at once, whose sums take one reduction each.
            _ if A::SUMS_OF_PRODUCTS => self.f = C::mul_by_line(self.f, line),
            Some(first) => self.f = self.f * lines::<C, A>(&first, &line),
            None => self.waiting = Some(line),
        }
    }

    /// The value, including all lines.
    #[inline(always)]
    fn finished(&mut self) -> Dodecic<C::Prime, A> {
        if let Some(line) = self.waiting.take() {
            self.f = C::mul_by_line(self.f, line);
        }
        self.f
    }

    /// Multiplies by the chords through each walk's point and the point that `point` returns for the walk.
    #[inline(always)]
    pub(crate) fn add_to_all(
        &mut self,
        walks: &mut [Walk<A>],
        point: impl Fn(&Walk<A>) -> [Quadratic<A>; 2],
    ) {
        for walk in walks {
            let point = point(walk);
            self.multiply(walk.add(point));
        }
    }
}

#[inline(always)]
fn sums<A: Algebra>([x, y, z]: &LineCoefficients<A>) -> [Quadratic<A>; 3] {
    [*x + *y, *x + *z, *y + *z]
}

/// The product of two lines.
#[inline(never)]
fn lines<C: Ate, A: Algebra>(a: &LineCoefficients<A>, b: &LineCoefficients<A>) -> Dodecic<C::Prime, A> {
    let token = a[0].token();
    A::outlined(
        token,
        #[inline(always)]
        || {
            // Karatsuba: three products of coefficients, and three of sums of two.
            let ([xy, xz, yz], [uv, uw, vw]) = (&sums(a), &sums(b));
            let [p, q, r, pq, pr, qr] = A::mul_quadratics(
                token,
                [[&a[0], &b[0]], [&a[1], &b[1]], [&a[2], &b[2]], [xy, uv], [xz, uw], [yz, vw]],
            );
            C::product_of_lines([p, q, r], [pq - p - q, pr - p - r, qr - q - r]).bounded()
        },
    )
}

/// The product of the loop's functions over all pairs, a multiple of `WIDTH`; each lane has that of every `WIDTH`-th pair.
#[inline(always)]
pub(crate) fn miller_loop<C: Ate, A: Lanes<Fp<C::Prime>>>(
    token: A::Token,
    constants: &Constants<A>,
    pairs: &[(Affine<C>, Affine<C::G2>)],
) -> Dodecic<C::Prime, A> {
    let mut walks = Vec::with_capacity(pairs.len().div_ceil(A::WIDTH));
    for pairs in pairs.chunks(A::WIDTH) {
        walks.push(Walk::load::<C>(token, pairs));
    }
    // One value for all pairs, which thereby share its squares.
    let mut value = MillerValue::<C, A> { f: Dodecic::one(token), waiting: None };
    for (i, digit) in C::digits().iter().rev().enumerate() {
        // The value is still 1 at the top digit. A waiting line belongs to it before the square.
        if i > 0 {
            value.f = value.finished().square();
        }
        for walk in &mut walks {
            value.multiply(walk.double::<C>(constants));
        }
        if *digit != 0 {
            value.add_to_all(
                &mut walks,
                #[inline(always)]
                |walk| [walk.q[0], if *digit > 0 { walk.q[1] } else { -walk.q[1] }],
            );
        }
    }
    // On BN254, the lines through Q's Frobenius images, which make the short loop a pairing.
    C::last_lines(constants, &mut walks, &mut value);
    C::finish(value.finished())
}

impl<A: Algebra> Walk<A> {
    #[inline(always)]
    fn load<C: Ate>(token: A::Token, pairs: &[(Affine<C>, Affine<C::G2>)]) -> Self
    where
        A: Lanes<Fp<C::Prime>>,
    {
        let mut coordinates = [[Fp::ZERO; LANES]; 6];
        for (lane, (p, q)) in pairs.iter().enumerate() {
            let values = [p.x, p.y, q.x.c0, q.x.c1, q.y.c0, q.y.c1];
            for (coordinates, value) in coordinates.iter_mut().zip(values) {
                coordinates[lane] = value;
            }
        }
        let mut loaded = [A::zero(token); 6];
        for (loaded, coordinates) in loaded.iter_mut().zip(&coordinates) {
            *loaded = A::load(token, &coordinates[..A::WIDTH]);
        }
        let [px, py, x0, x1, y0, y1] = loaded;
        let q = [Quadratic::new(x0, x1), Quadratic::new(y0, y1)];
        Self { p: [px, py], q, t: Homogeneous { x: q[0], y: q[1], z: Quadratic::one(token) } }
    }

    /// Doubles the point and returns the tangent at P. 6 squares, 3 products and 4 in the base. The coordinates are the
    /// sources' times 4, which avoids halving.
    #[inline(never)]
    fn double<C: Ate>(&mut self, constants: &Constants<A>) -> LineCoefficients<A> {
        let token = self.t.x.token();
        A::outlined(
            token,
            #[inline(always)]
            || {
                let Homogeneous { x, y, z } = self.t;
                // The paper's letters: B = Y^2, C = Z^2, J = X^2, E = 3 b' C, F = 3 E, H = 2 Y Z;
                // a = X Y is 2 A.
                let ([a], [b, c, j, sum], []) = A::quadratics(token, [[&x, &y]], [&y, &z, &x, &(y + z)], []);
                let e = C::mul_by_b(constants, c.double() + c).bounded();
                let f = e.double() + e;
                let h = sum - (b + c);
                let (minus_h, tangent) = (-h, j.double() + j);
                let ([x, z], [square, ee], [at_y, at_x]) = A::quadratics(
                    token,
                    [[&a, &(b - f)], [&b, &h]],
                    [&(b + f), &e.double()],
                    [(&minus_h, &self.p[1]), (&tangent, &self.p[0])],
                );
                // X = 2 a (B - F), Y = (B + F)^2 - 12 E^2, Z = 4 B H.
                self.t.x = x.double().reduced();
                self.t.y = (square - (ee.double() + ee)).reduced();
                self.t.z = z.double().double().reduced();
                [at_y, at_x, (e - b).reduced()]
            },
        )
    }

    /// Adds an affine point and returns the chord at P.
    #[inline(never)]
    fn add(&mut self, [x, y]: [Quadratic<A>; 2]) -> LineCoefficients<A> {
        let token = self.t.x.token();
        A::outlined(
            token,
            #[inline(always)]
            || {
                let t = self.t;
                let [xz, yz] = A::mul_quadratics(token, [[&x, &t.z], [&y, &t.z]]);
                // The slope of the chord is theta / lambda.
                let (theta, lambda) = (t.y - yz, t.x - xz);
                let ([left, right], [c, d], [at_y, at_x]) = A::quadratics(
                    token,
                    [[&theta, &x], [&lambda, &y]],
                    [&theta, &lambda],
                    [(&lambda, &self.p[1]), (&-theta, &self.p[0])],
                );
                // e = lambda^3, f = Z theta^2, g = X lambda^2.
                let [e, f, g] = A::mul_quadratics(token, [[&lambda, &d], [&t.z, &c], [&t.x, &d]]);
                let h = e + f - g.double();
                let [x, first, second, z] =
                    A::mul_quadratics(token, [[&lambda, &h], [&theta, &(g - h)], [&e, &t.y], [&t.z, &e]]);
                self.t = Homogeneous { x, y: (first - second).reduced(), z };
                [at_y, at_x, left - right]
            },
        )
    }
}
