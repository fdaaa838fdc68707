//! The Miller loop over scalars or lanes: no step depends on a point, so that eight pairs go side by side.
//!
//! Points of the twist and lines in homogeneous coordinates (Aranha, Karabina, Longa, Gebotys, Lopez, "Faster explicit
//! formulas for computing pairings over ordinary curves", eprint 2010/526; Costello, Lange, Naehrig, "Faster pairing
//! computations on curves with high-degree twists", eprint 2009/615). Each step shows its independent products together.
//!
//! A lane without a pair has P = (0, 0): then a line's value is its constant, in a proper subfield up to a power
//! of w, which the final exponentiation takes to 1.

use super::{Ate, Constants, Form};
use crate::{Affine, Curve};
use proofmill_field::{Algebra, Dodecic, Field, Fp, LANES, Quadratic};

/// Pairs on their way through the loop, one in every lane.
pub(super) struct Walk<A> {
    /// P's x and y.
    p: [A; 2],
    /// Q's x and y.
    pub(super) q: [Quadratic<A>; 2],
    t: Homogeneous<A>,
}

/// A point of the twist with `x = X/Z`, `y = Y/Z`.
#[derive(Clone, Copy)]
struct Homogeneous<A> {
    x: Quadratic<A>,
    y: Quadratic<A>,
    z: Quadratic<A>,
}

/// The product of the loop's functions over all pairs, in every lane those of each `WIDTH`-th.
#[inline(always)]
pub(super) fn miller_loop<C: Ate, F: Form<C::Prime>>(
    constants: &Constants<F::Element>,
    pairs: &[(Affine<C>, Affine<C::G2>)],
) -> Dodecic<C::Prime, F::Element> {
    let mut walks = Vec::with_capacity(pairs.len().div_ceil(F::WIDTH));
    for pairs in pairs.chunks(F::WIDTH) {
        walks.push(Walk::load::<C, F>(pairs));
    }
    let mut f = Dodecic::one();
    for (i, digit) in C::digits().iter().rev().enumerate() {
        if i > 0 {
            f = f.square();
        }
        for walk in &mut walks {
            walk.double::<C>(constants, &mut f);
            if *digit != 0 {
                let [x, y] = walk.q;
                walk.add::<C>([x, if *digit > 0 { y } else { -y }], &mut f);
            }
        }
    }
    C::finish(constants, &mut walks, f)
}

impl<A: Algebra> Walk<A> {
    #[inline(always)]
    fn load<C: Ate, F: Form<C::Prime, Element = A>>(pairs: &[(Affine<C>, Affine<C::G2>)]) -> Self {
        let idle = (Affine::<C>::INFINITY, C::G2::GENERATOR);
        let mut coordinates = [[Fp::ZERO; LANES]; 6];
        for lane in 0..F::WIDTH {
            let (p, q) = pairs.get(lane).unwrap_or(&idle);
            let values = [p.x, p.y, q.x.c0, q.x.c1, q.y.c0, q.y.c1];
            for (coordinates, value) in coordinates.iter_mut().zip(values) {
                coordinates[lane] = value;
            }
        }
        let mut loaded = [A::zero(); 6];
        for (loaded, coordinates) in loaded.iter_mut().zip(&coordinates) {
            *loaded = F::load(&coordinates[..F::WIDTH]);
        }
        let [px, py, x0, x1, y0, y1] = loaded;
        let q = [Quadratic::new(x0, x1), Quadratic::new(y0, y1)];
        Self { p: [px, py], q, t: Homogeneous { x: q[0], y: q[1], z: Quadratic::one() } }
    }

    /// Doubles the point and multiplies f by the tangent at P: 7 squares, 3 products and 4 in the base besides f's 13. The
    /// coordinates are the sources' times 4, which spares halves.
    #[inline(never)]
    fn double<C: Ate>(&mut self, constants: &Constants<A>, f: &mut Dodecic<C::Prime, A>) {
        A::outlined(
            #[inline(always)]
            || {
                let Homogeneous { x, y, z } = self.t;
                let ([a], [b, c, j, sum], []) = A::quadratics([[&x, &y]], [&y, &z, &x, &(y + z)], []);
                let e = C::mul_by_b(constants, c.double() + c);
                let f3 = e.double() + e;
                let h = sum - (b + c);
                let (minus_h, tangent) = (-h, j.double() + j);
                let ([x, z], [square, ee], [at_y, at_x]) = A::quadratics(
                    [[&a, &(b - f3)], [&b, &h]],
                    [&(b + f3), &e.double()],
                    [(&minus_h, &self.p[1]), (&tangent, &self.p[0])],
                );
                self.t.x = x.double().reduced();
                self.t.y = (square - (ee.double() + ee)).reduced();
                self.t.z = z.double().double().reduced();
                *f = C::mul_by_line(*f, [at_y, at_x, e - b]);
            },
        );
    }

    /// Adds an affine point and multiplies f by the chord at P.
    #[inline(never)]
    pub(super) fn add<C: Ate>(&mut self, [x, y]: [Quadratic<A>; 2], f: &mut Dodecic<C::Prime, A>) {
        A::outlined(
            #[inline(always)]
            || {
                let t = self.t;
                let [xz, yz] = A::mul_quadratics([[&x, &t.z], [&y, &t.z]]);
                let (theta, lambda) = (t.y - yz, t.x - xz);
                let ([left, right], [c, d], [at_y, at_x]) = A::quadratics(
                    [[&theta, &x], [&lambda, &y]],
                    [&theta, &lambda],
                    [(&lambda, &self.p[1]), (&-theta, &self.p[0])],
                );
                let [e, f3, g] = A::mul_quadratics([[&lambda, &d], [&t.z, &c], [&t.x, &d]]);
                let h = e + f3 - g.double();
                let [x, first, second, z] =
                    A::mul_quadratics([[&lambda, &h], [&theta, &(g - h)], [&e, &t.y], [&t.z, &e]]);
                self.t = Homogeneous { x, y: (first - second).reduced(), z };
                *f = C::mul_by_line(*f, [at_y, at_x, left - right]);
            },
        );
    }
}
