//! The tower's products where a sum of products takes one reduction ([`Algebra::SUMS_OF_PRODUCTS`]): as the definition has
//! them, without Karatsuba's method (Longa, "Efficient algorithms for large prime characteristic fields and their application
//! to bilinear pairings", TCHES 2023(3)). There are more products in the base than by Karatsuba's method (36 instead of 24 for
//! [`Sextic`](super::Sextic)), but fewer reductions (6 instead of 12) and hardly any sums.

use crate::algebra::{Algebra, Quadratic};

/// The coefficients of an element of [`Sextic`](super::Sextic).
type Cubic<A> = [Quadratic<A>; 3];

/// The product in [`Sextic`](super::Sextic), given the product with xi.
#[inline(always)]
pub(super) fn product<A: Algebra>(
    [a0, a1, a2]: &Cubic<A>,
    [b0, b1, b2]: &Cubic<A>,
    xi: impl Fn(Quadratic<A>) -> Quadratic<A>,
) -> Cubic<A> {
    let [x1, x2] = [&xi(*b1), &xi(*b2)];
    [
        A::sum_of_quadratics([[a0, b0], [a1, x2], [a2, x1]]),
        A::sum_of_quadratics([[a0, b1], [a1, b0], [a2, x2]]),
        A::sum_of_quadratics([[a0, b2], [a1, b1], [a2, b0]]),
    ]
}

/// The square in [`Dodecic`](super::Dodecic).
#[inline(always)]
pub(super) fn square<A: Algebra>(
    [a0, a1, a2]: &Cubic<A>,
    [b0, b1, b2]: &Cubic<A>,
    xi: impl Fn(Quadratic<A>) -> Quadratic<A>,
) -> [Cubic<A>; 2] {
    let [xa2, xb1, xb2] = [&xi(*a2), &xi(*b1), &xi(*b2)];
    let [da0, da1] = [&a0.double(), &a1.double()];
    let [db0, db1, db2] = [&b0.double(), &b1.double(), &b2.double()];
    [
        [
            A::sum_of_quadratics([[a0, a0], [da1, xa2], [db0, xb2], [b1, xb1]]),
            A::sum_of_quadratics([[da0, a1], [a2, xa2], [b0, b0], [db1, xb2]]),
            A::sum_of_quadratics([[da0, a2], [a1, a1], [db0, b1], [b2, xb2]]),
        ],
        [
            A::sum_of_quadratics([[da0, b0], [da1, xb2], [db1, xa2]]),
            A::sum_of_quadratics([[da0, b1], [da1, b0], [db2, xa2]]),
            A::sum_of_quadratics([[da0, b2], [da1, b1], [db0, a2]]),
        ],
    ]
}

/// [`Dodecic::mul_by_line`](super::Dodecic::mul_by_line).
#[inline(always)]
pub(super) fn product_with_line<A: Algebra>(
    [a0, a1, a2]: &Cubic<A>,
    [a3, a4, a5]: &Cubic<A>,
    [b0, b3, b4]: &[Quadratic<A>; 3],
    xi: impl Fn(Quadratic<A>) -> Quadratic<A>,
) -> [Cubic<A>; 2] {
    let [x3, x4] = [&xi(*b3), &xi(*b4)];
    [
        [
            A::sum_of_quadratics([[a0, b0], [a5, x3], [a4, x4]]),
            A::sum_of_quadratics([[a1, b0], [a3, b3], [a5, x4]]),
            A::sum_of_quadratics([[a2, b0], [a4, b3], [a3, b4]]),
        ],
        [
            A::sum_of_quadratics([[a3, b0], [a0, b3], [a2, x4]]),
            A::sum_of_quadratics([[a4, b0], [a1, b3], [a0, b4]]),
            A::sum_of_quadratics([[a5, b0], [a2, b3], [a1, b4]]),
        ],
    ]
}

/// [`Dodecic::mul_by_line_m`](super::Dodecic::mul_by_line_m).
#[inline(always)]
pub(super) fn product_with_line_m<A: Algebra>(
    [a0, a1, a2]: &Cubic<A>,
    [a3, a4, a5]: &Cubic<A>,
    [b0, b1, b4]: &[Quadratic<A>; 3],
    xi: impl Fn(Quadratic<A>) -> Quadratic<A>,
) -> [Cubic<A>; 2] {
    let [x1, x4] = [&xi(*b1), &xi(*b4)];
    [
        [
            A::sum_of_quadratics([[a0, b0], [a2, x1], [a4, x4]]),
            A::sum_of_quadratics([[a1, b0], [a0, b1], [a5, x4]]),
            A::sum_of_quadratics([[a2, b0], [a1, b1], [a3, b4]]),
        ],
        [
            A::sum_of_quadratics([[a3, b0], [a5, x1], [a2, x4]]),
            A::sum_of_quadratics([[a4, b0], [a3, b1], [a0, b4]]),
            A::sum_of_quadratics([[a5, b0], [a4, b1], [a1, b4]]),
        ],
    ]
}
