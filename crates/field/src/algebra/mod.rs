//! The operations that formulas use.

mod field;
mod lanes;
mod quadratic;

pub use field::{Field, Invert, PrimeField, SquareRoot, batch_invert_vartime};
pub use lanes::{LANES, Lanes, Select};
pub use quadratic::Quadratic;

use std::ops::{Add, Mul, Neg, Sub};

/// Products, squares and multiples in the quadratic extension.
pub type Quadratics<A, const N: usize, const S: usize, const M: usize> =
    ([Quadratic<A>; N], [Quadratic<A>; S], [Quadratic<A>; M]);

/// The most products that formulas compute together without calling functions for them.
const MOST_INLINED: usize = 3;

/// A commutative ring with the operations that formulas use: a scalar element, eight lanes, or an extension of either.
///
/// Every element is made from other elements or from a token, so each is proof that its CPU has the instructions of its
/// type.
pub trait Algebra:
    Copy
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
{
    /// Proof that the CPU has the instructions of this type.
    type Token: Copy + Send + Sync + 'static;
    /// Whether formulas with many products call functions for them: inlined, they would not fit the instruction cache.
    const CALLS_PRODUCTS: bool = false;
    /// The most terms that may be added before a multiplication, where sums are not reduced. Products, loaded elements and
    /// results of [`reduced`](Self::reduced) and [`bounded`](Self::bounded) are one term each; differences count like sums.
    const MOST_TERMS: u64 = u64::MAX;
    /// Whether formulas with a few products in the quadratic extension call functions for them too.
    const CALLS_QUADRATICS: bool = false;

    /// The token that the element holds.
    fn token(&self) -> Self::Token;

    /// The neutral element of addition.
    fn zero(token: Self::Token) -> Self;

    /// The neutral element of multiplication.
    fn one(token: Self::Token) -> Self;

    /// `self * self`.
    #[inline(always)]
    fn square(self) -> Self {
        self * self
    }

    /// Two independent products; lanes interleave them to hide latency.
    #[inline(always)]
    fn mul_pair(a: [Self; 2], b: [Self; 2]) -> [Self; 2] {
        [a[0] * b[0], a[1] * b[1]]
    }

    /// Two independent squares.
    #[inline(always)]
    fn square_pair(a: [Self; 2]) -> [Self; 2] {
        [a[0].square(), a[1].square()]
    }

    /// Each element to the power of `2^count`; lanes interleave two elements to hide latency.
    #[inline(always)]
    fn square_repeatedly<const K: usize>(mut elements: [Self; K], count: u32) -> [Self; K] {
        for _ in 0..count {
            if let [x, y] = &mut elements[..] {
                [*x, *y] = Self::square_pair([*x, *y]);
            } else {
                for x in &mut elements {
                    *x = x.square();
                }
            }
        }
        elements
    }

    /// `a b` in the quadratic extension; by default Karatsuba's three products.
    #[inline(always)]
    fn mul_quadratic(a: &Quadratic<Self>, b: &Quadratic<Self>) -> Quadratic<Self> {
        if Self::CALLS_QUADRATICS { a.called_product(b) } else { Self::karatsuba(a, b) }
    }

    /// `a b` in the quadratic extension by three products.
    #[inline(always)]
    fn karatsuba(a: &Quadratic<Self>, b: &Quadratic<Self>) -> Quadratic<Self> {
        let [v0, v1] = Self::mul_pair([a.c0, a.c1], [b.c0, b.c1]);
        let cross = Self::mul_sub_two(a.c0.add_factor(a.c1), b.c0.add_lazy(b.c1), v0, v1);
        Quadratic::new(v0 - v1, cross)
    }

    /// Whether [`sum_of_quadratics`](Self::sum_of_quadratics) reduces the sum only, so that towers need not save products by more
    /// sums.
    const SUMS_OF_PRODUCTS: bool = false;

    /// The sum of up to four products in the quadratic extension.
    #[inline(always)]
    fn sum_of_quadratics<const K: usize>(factors: [[&Quadratic<Self>; 2]; K]) -> Quadratic<Self> {
        let [first, rest @ ..] = &factors[..] else { unreachable!("no products") };
        rest.iter()
            .fold(Self::mul_quadratic(first[0], first[1]), |sum, [a, b]| sum + Self::mul_quadratic(a, b))
    }

    /// `a^2` in the quadratic extension; by default two products.
    #[inline(always)]
    fn square_quadratic(a: &Quadratic<Self>) -> Quadratic<Self> {
        if Self::CALLS_QUADRATICS { a.called_square() } else { Quadratic::complex_square(a) }
    }

    /// Independent products in the quadratic extension. The formulas of towers pass all independent products together, here
    /// and to [`quadratics`](Self::quadratics), for types that fill vectors with them; the default computes one after
    /// another.
    #[inline(always)]
    fn mul_quadratics<const N: usize>(
        token: Self::Token,
        factors: [[&Quadratic<Self>; 2]; N],
    ) -> [Quadratic<Self>; N] {
        // A loop, because closures of `map` are not always inlined, and are then compiled without the level's instructions.
        let mut products = [Quadratic::zero(token); N];
        for (product, [a, b]) in products.iter_mut().zip(factors) {
            *product = if Self::CALLS_PRODUCTS { a.called_product(b) } else { Self::mul_quadratic(a, b) };
        }
        products
    }

    /// Independent products, squares and multiples by elements of the base in the quadratic extension.
    #[inline(always)]
    fn quadratics<const N: usize, const S: usize, const M: usize>(
        token: Self::Token,
        factors: [[&Quadratic<Self>; 2]; N],
        squares: [&Quadratic<Self>; S],
        multiples: [(&Quadratic<Self>, &Self); M],
    ) -> Quadratics<Self, N, S, M> {
        let mut squared = [Quadratic::zero(token); S];
        for (square, a) in squared.iter_mut().zip(squares) {
            *square = if Self::CALLS_PRODUCTS { a.called_square() } else { a.square() };
        }
        let mut scaled = [Quadratic::zero(token); M];
        for (multiple, (a, factor)) in scaled.iter_mut().zip(multiples) {
            let [c0, c1] = Self::pair_in_formula([&a.c0, &a.c1], [factor; 2]);
            *multiple = Quadratic::new(c0, c1);
        }
        (Self::mul_quadratics(token, factors), squared, scaled)
    }

    /// [`mul_pair`](Self::mul_pair) in a formula with many products.
    #[inline(always)]
    fn pair_in_formula(a: [&Self; 2], b: [&Self; 2]) -> [Self; 2] {
        if !Self::CALLS_PRODUCTS {
            return Self::mul_pair([*a[0], *a[1]], [*b[0], *b[1]]);
        }
        Self::outlined(
            a[0].token(),
            #[inline(always)]
            || Self::mul_pair([*a[0], *a[1]], [*b[0], *b[1]]),
        )
    }

    /// Independent products and squares: the formulas of curves pass all that are independent together.
    #[inline(always)]
    fn products<const N: usize, const S: usize>(
        token: Self::Token,
        factors: [[&Self; 2]; N],
        squares: [&Self; S],
    ) -> ([Self; N], [Self; S]) {
        let (mut products, mut squared) = ([Self::zero(token); N], [Self::zero(token); S]);
        let calls = Self::CALLS_PRODUCTS && N + S > MOST_INLINED;
        for (products, factors) in products.chunks_mut(2).zip(factors.chunks(2)) {
            match (products, factors) {
                ([first, second], [[a, b], [c, d]]) if calls => {
                    [*first, *second] = Self::pair_in_formula([a, c], [b, d])
                }
                ([first, second], [[a, b], [c, d]]) => {
                    [*first, *second] = Self::mul_pair([**a, **c], [**b, **d])
                }
                ([product], [[a, b]]) => *product = **a * **b,
                _ => unreachable!("chunks of one or two"),
            }
        }
        for (squared, squares) in squared.chunks_mut(2).zip(squares.chunks(2)) {
            match (squared, squares) {
                ([first, second], [a, b]) if calls => {
                    [*first, *second] = Self::outlined(
                        token,
                        #[inline(always)]
                        || Self::square_pair([**a, **b]),
                    );
                }
                ([first, second], [a, b]) => [*first, *second] = Self::square_pair([**a, **b]),
                ([square], [a]) => *square = a.square(),
                _ => unreachable!("chunks of one or two"),
            }
        }
        (products, squared)
    }

    /// The same value, reduced so that it may be a term of any sum. For values that enter the next formula without a
    /// multiplication, in every round. (Overridden by types whose sums are not reduced.)
    #[inline(always)]
    fn reduced(self) -> Self {
        self
    }

    /// The result of a formula whose operands are one term each, as one term again unless a thousand may be added.
    #[inline(always)]
    fn bounded(self) -> Self {
        if Self::MOST_TERMS < 1000 { self.reduced() } else { self }
    }

    /// Runs a part of a formula that is large enough to be a separate function, so that all callers share one copy.
    /// Types that need CPU features enable them here.
    #[inline(never)]
    fn outlined<R>(_: Self::Token, formula: impl FnOnce() -> R) -> R {
        formula()
    }

    /// `self` to the power of `exponent` (little-endian words), with windows of four bits. Time depends on the
    /// exponent.
    fn pow_vartime(&self, exponent: &[u64]) -> Self {
        let mut powers = [Self::one(self.token()); 16];
        for i in 1..16 {
            powers[i] = powers[i - 1] * *self;
        }
        let windows = exponent.iter().rev().flat_map(|word| (0..16).rev().map(move |i| word >> (4 * i) & 15));
        windows.skip_while(|window| *window == 0).fold(powers[0], |power, window| {
            let power = power.square().square().square().square();
            if window == 0 { power } else { power * powers[window as usize] }
        })
    }

    /// `self + self`.
    #[inline(always)]
    fn double(self) -> Self {
        self + self
    }

    /// `a b - c` twice; c may be any result of `negate_lanes`.
    #[inline(always)]
    fn mul_sub_pair(a: [Self; 2], b: [Self; 2], c: [Self; 2]) -> [Self; 2] {
        let [first, second] = Self::mul_pair(a, b);
        [first - c[0], second - c[1]]
    }

    /// `a b - c - d`, reduced.
    #[inline(always)]
    fn mul_sub_two(a: Self, b: Self, c: Self, d: Self) -> Self {
        a * b - c - d
    }

    /// `a^2 - b - c` twice, for a reduced a.
    #[inline(always)]
    fn square_sub_two_pair(a: [Self; 2], b: [Self; 2], c: [Self; 2]) -> [Self; 2] {
        let [first, second] = Self::square_pair(a);
        [first - b[0] - c[0], second - b[1] - c[1]]
    }

    /// `self + rhs`, to be used only as an operand of the next multiplication or square (packed elements skip
    /// the reduction here; scalars do not).
    #[inline(always)]
    fn add_lazy(self, rhs: Self) -> Self {
        self + rhs
    }

    /// `self - rhs`, to be used only as an operand of the next multiplication or square.
    #[inline(always)]
    fn sub_lazy(self, rhs: Self) -> Self {
        self - rhs
    }

    /// `self + rhs` of reduced values, to be used only as the factor of a product whose other factor is reduced or a result of
    /// [`add_lazy`](Self::add_lazy). Scalars skip the reduction here.
    #[inline(always)]
    fn add_factor(self, rhs: Self) -> Self {
        self.add_lazy(rhs)
    }

    /// `self - rhs`, otherwise as [`add_factor`](Self::add_factor).
    #[inline(always)]
    fn sub_factor(self, rhs: Self) -> Self {
        self.sub_lazy(rhs)
    }

    /// `self + rhs` of reduced values, to be used only as an operand of the next lazy sum.
    #[inline(always)]
    fn add_term(self, rhs: Self) -> Self {
        self.add_lazy(rhs)
    }

    /// `self - rhs`, otherwise as [`add_term`](Self::add_term).
    #[inline(always)]
    fn sub_term(self, rhs: Self) -> Self {
        self.sub_lazy(rhs)
    }
}
