//! The steps of affine additions and doublings in lanes, which share one inversion.
//!
//! `lambda = (y2 - y1) / (x2 - x1)` or `3 x1^2 / (2 y1)`, `x3 = lambda^2 - x1 - x2`, `y3 = lambda (x1 - x3) - y1`; the inverses
//! use Montgomery's trick ("Speeding the Pollard and elliptic curve methods of factorization", 1987, section 10.3.1) with one
//! product chain per lane: 3 products for the inverse and lambda, and a product and a square for the rest, two squares for a doubling.
//! K groups of lanes are interleaved so that the latencies of their products overlap.
//!
//! The denominators are multiplied forwards ([`chain`]), their product is inverted ([`invert_chains`]), and the results are computed
//! backwards ([`sums`]). A denominator of zero makes a product zero ([`has_zero`]).

use proofmill_field::{Algebra, Engine, LANES, Lanes, LanesOf, Packable, Vector, batch_invert_vartime};

/// The values of a group of lanes that [`sums`] needs.
#[derive(Clone, Copy)]
pub(crate) struct AffineStep<L> {
    pub(crate) x1: L,
    pub(crate) y1: L,
    pub(crate) x2: L,
    pub(crate) denominator: L,
    /// Lambda's numerator; after [`chain`], times the product of the preceding denominators.
    pub(crate) numerator: L,
}

impl<L: Algebra> AffineStep<L> {
    #[inline(always)]
    pub(crate) fn empty(token: L::Token) -> Self {
        let zero = L::zero(token);
        Self { x1: zero, y1: zero, x2: zero, denominator: zero, numerator: zero }
    }

    /// The sum of points with different x; y1 and y2 may be results of `negate_lanes`.
    #[inline(always)]
    pub(crate) fn add([x1, y1]: [L; 2], [x2, y2]: [L; 2]) -> Self {
        Self { x1, y1, x2, denominator: x2.sub_lazy(x1), numerator: y2.sub_factor(y1) }
    }

    /// Twice a point other than infinity.
    #[inline(always)]
    pub(crate) fn double([x, y]: [L; 2]) -> Self {
        let square = x.square();
        Self { x1: x, y1: y, x2: x, denominator: y + y, numerator: square + square + square }
    }
}

/// Makes the step of each group, and returns the products of the denominators of every K-th one. There are K groups, or a multiple.
#[inline(always)]
pub(crate) fn chain<L: Algebra, const K: usize>(
    token: L::Token,
    steps: &mut [AffineStep<L>],
    mut step: impl FnMut(usize) -> AffineStep<L>,
) -> [L; K] {
    // One chain of products per k, so that latencies overlap.
    let mut products = [L::one(token); K];
    for k in 0..K {
        steps[k] = step(k);
    }
    for group in (0..steps.len()).step_by(K) {
        let (mut denominators, mut numerators) = (products, products);
        for k in 0..K {
            (denominators[k], numerators[k]) = (steps[group + k].denominator, steps[group + k].numerator);
        }
        // n_i d_1 .. d_(i-1), so that the inverse of d_1 .. d_i later gives lambda in one product.
        let numerators = mul_each(products, numerators);
        for k in 0..K {
            steps[group + k].numerator = numerators[k];
        }
        // Between products, each of which takes its time, the steps that the next ones need.
        if let Some(next) = steps.get_mut(group + K..group + 2 * K) {
            for k in 0..K {
                next[k] = step(group + K + k);
            }
        }
        products = mul_each(products, denominators);
    }
    products
}

/// The results of groups, given the inverses of the products of all denominators up to and including theirs, and the inverses for the
/// groups before.
#[inline(always)]
pub(crate) fn sums<L: Algebra, const K: usize>(
    steps: &[AffineStep<L>],
    inverses: [L; K],
) -> ([[L; 2]; K], [L; K]) {
    let (mut x1, mut y1, mut x2) = (inverses, inverses, inverses);
    let (mut denominators, mut numerators) = (inverses, inverses);
    for k in 0..K {
        let step = &steps[k];
        (x1[k], y1[k], x2[k]) = (step.x1, step.y1, step.x2);
        (denominators[k], numerators[k]) = (step.denominator, step.numerator);
    }
    // The denominators before cancel: what is left is n_i / d_i.
    let lambda = mul_each(inverses, numerators);
    // Without d_i: the inverse that the group before needs.
    let inverses = mul_each(inverses, denominators);
    let (mut x3, mut y3, mut falls) = (x1, x1, x1);
    for k in (0..K).step_by(2) {
        [x3[k], x3[k + 1]] =
            L::square_sub_two_pair([lambda[k], lambda[k + 1]], [x1[k], x1[k + 1]], [x2[k], x2[k + 1]]);
    }
    for k in 0..K {
        falls[k] = x1[k].sub_factor(x3[k]);
    }
    for k in (0..K).step_by(2) {
        [y3[k], y3[k + 1]] =
            L::mul_sub_pair([lambda[k], lambda[k + 1]], [falls[k], falls[k + 1]], [y1[k], y1[k + 1]]);
    }
    let mut sums = [[x1[0]; 2]; K];
    for k in 0..K {
        sums[k] = [x3[k], y3[k]];
    }
    (sums, inverses)
}

/// Whether the products are zero in any lane.
#[inline(always)]
pub(crate) fn has_zero<F: Packable, E: Engine, const K: usize>(products: &[F::Lanes<E>; K]) -> bool {
    let mut zeros = 0;
    for product in products {
        zeros |= product.zero_lanes();
    }
    zeros != 0
}

/// K independent products; K is even.
#[inline(always)]
fn mul_each<A: Algebra, const K: usize>(a: [A; K], b: [A; K]) -> [A; K] {
    let mut products = a;
    for k in (0..K).step_by(2) {
        [products[k], products[k + 1]] = A::mul_pair([a[k], a[k + 1]], [b[k], b[k + 1]]);
    }
    products
}

/// The inverses of the products of K chains, with one scalar inversion.
#[inline(always)]
pub(crate) fn invert_chains<F: Packable, E: Engine, const K: usize>(
    products: [F::Lanes<E>; K],
) -> [F::Lanes<E>; K] {
    // The same trick over the K chains, then over the lanes: one scalar inversion in all.
    let mut prefixes = products;
    for k in 1..K {
        prefixes[k] = prefixes[k - 1] * products[k];
    }
    let mut inverse = invert_lanes::<F, E>(prefixes[K - 1]);
    let mut inverses = products;
    for k in (1..K).rev() {
        inverses[k] = inverse * prefixes[k - 1];
        inverse = inverse * products[k];
    }
    inverses[0] = inverse;
    inverses
}

/// The inverse of nonzero values in each lane, with one scalar inversion.
#[inline(always)]
fn invert_lanes<F: Packable, E: Engine>(lanes: F::Lanes<E>) -> F::Lanes<E> {
    let mut elements = [F::ZERO; LANES];
    let elements = &mut elements[..LanesOf::<F, E>::WIDTH];
    lanes.store(elements);
    batch_invert_vartime(elements);
    LanesOf::<F, E>::load(lanes.token(), elements)
}
