//! What formulas are written against.

use crate::Quadratic;
use std::{
    fmt::Debug,
    ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign},
};

/// Products, squares and multiples in the quadratic extension.
pub type Quadratics<A, const N: usize, const S: usize, const M: usize> =
    ([Quadratic<A>; N], [Quadratic<A>; S], [Quadratic<A>; M]);

/// A commutative ring as a formula sees it: a scalar element, eight lanes, or an extension of either.
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
    /// The neutral element of addition.
    fn zero() -> Self;

    /// The neutral element of multiplication.
    fn one() -> Self;

    /// `self * self`.
    fn square(self) -> Self;

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

    /// `a b` in the quadratic extension; by default Karatsuba's three products.
    #[inline(always)]
    fn mul_quadratic(a: &Quadratic<Self>, b: &Quadratic<Self>) -> Quadratic<Self> {
        Quadratic::karatsuba(a, b)
    }

    /// Independent products in the quadratic extension. Formulas of towers show all that they have at once here and in
    /// [`quadratics`](Self::quadratics), for types that fill vectors with them; by default one is made after the other.
    #[inline(always)]
    fn mul_quadratics<const N: usize>(factors: [[&Quadratic<Self>; 2]; N]) -> [Quadratic<Self>; N] {
        // A loop: what `map` calls is not always inlined, and then compiled without the level's instructions.
        let mut products = [Quadratic::zero(); N];
        for (product, [a, b]) in products.iter_mut().zip(factors) {
            *product = Self::mul_quadratic(a, b);
        }
        products
    }

    /// Independent products, squares and multiples by elements of the base in the quadratic extension.
    #[inline(always)]
    fn quadratics<const N: usize, const S: usize, const M: usize>(
        factors: [[&Quadratic<Self>; 2]; N],
        squares: [&Quadratic<Self>; S],
        multiples: [(&Quadratic<Self>, &Self); M],
    ) -> Quadratics<Self, N, S, M> {
        let mut squared = [Quadratic::zero(); S];
        for (square, a) in squared.iter_mut().zip(squares) {
            *square = a.square();
        }
        let mut scaled = [Quadratic::zero(); M];
        for (multiple, (a, factor)) in scaled.iter_mut().zip(multiples) {
            *multiple = a.scale(*factor);
        }
        (Self::mul_quadratics(factors), squared, scaled)
    }

    /// Independent products and squares: formulas of curves show all that they have at once here.
    #[inline(always)]
    fn products<const N: usize, const S: usize>(
        factors: [[&Self; 2]; N],
        squares: [&Self; S],
    ) -> ([Self; N], [Self; S]) {
        let (mut products, mut squared) = ([Self::zero(); N], [Self::zero(); S]);
        for (products, factors) in products.chunks_mut(2).zip(factors.chunks(2)) {
            match (products, factors) {
                ([first, second], [[a, b], [c, d]]) => {
                    [*first, *second] = Self::mul_pair([**a, **c], [**b, **d])
                }
                ([product], [[a, b]]) => *product = **a * **b,
                _ => unreachable!("chunks of one or two"),
            }
        }
        for (squared, squares) in squared.chunks_mut(2).zip(squares.chunks(2)) {
            match (squared, squares) {
                ([first, second], [a, b]) => [*first, *second] = Self::square_pair([**a, **b]),
                ([square], [a]) => *square = a.square(),
                _ => unreachable!("chunks of one or two"),
            }
        }
        (products, squared)
    }

    /// The same value, small enough for any sum: for what takes part in the next formula without a multiplication, round
    /// after round. (Types whose sums are not reduced override it.)
    #[inline(always)]
    fn reduced(self) -> Self {
        self
    }

    /// Runs a part of a formula that is large enough to be a function of its own: one copy serves every place that uses it.
    /// Types that need CPU features enable them here.
    #[inline(never)]
    fn outlined<R>(formula: impl FnOnce() -> R) -> R {
        formula()
    }

    /// `self + self`.
    #[inline(always)]
    fn double(self) -> Self {
        self + self
    }

    /// `a b - c` twice; c may be anything that `negate_lanes` gives.
    #[inline(always)]
    fn mul_sub_pair(a: [Self; 2], b: [Self; 2], c: [Self; 2]) -> [Self; 2] {
        let [first, second] = Self::mul_pair(a, b);
        [first - c[0], second - c[1]]
    }

    /// `a^2 - b - c` twice, for a reduced a.
    #[inline(always)]
    fn square_sub_two_pair(a: [Self; 2], b: [Self; 2], c: [Self; 2]) -> [Self; 2] {
        let [first, second] = Self::square_pair(a);
        [first - b[0] - c[0], second - b[1] - c[1]]
    }

    /// `self + rhs`, fit only to be an operand of the next multiplication or square (packed elements skip
    /// the reduction here; scalars do not).
    #[inline(always)]
    fn add_lazy(self, rhs: Self) -> Self {
        self + rhs
    }

    /// `self - rhs`, fit only to be an operand of the next multiplication or square.
    #[inline(always)]
    fn sub_lazy(self, rhs: Self) -> Self {
        self - rhs
    }
}

/// A field with decidable equality: scalar elements and their extensions.
pub trait Field: Algebra + Eq + Debug + Default + AddAssign + SubAssign + MulAssign {
    /// The neutral element of addition.
    const ZERO: Self;

    /// The neutral element of multiplication.
    const ONE: Self;

    /// Whether this is the neutral element of addition.
    fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    /// The multiplicative inverse; `None` for zero. Time depends on the value.
    fn invert(&self) -> Option<Self>;

    /// `self` to the power of `exponent` (little-endian words), by windows of four bits. Time depends on the
    /// exponent.
    fn pow_vartime(&self, exponent: &[u64]) -> Self {
        let mut powers = [Self::ONE; 16];
        for i in 1..16 {
            powers[i] = powers[i - 1] * *self;
        }
        let windows = exponent.iter().rev().flat_map(|word| (0..16).rev().map(move |i| word >> (4 * i) & 15));
        windows.skip_while(|window| *window == 0).fold(Self::ONE, |power, window| {
            let power = power.square().square().square().square();
            if window == 0 { power } else { power * powers[window as usize] }
        })
    }
}

/// A field whose square roots we can take.
pub trait SquareRoot: Field {
    /// One of the two square roots, or zero's only one; `None` for a non-square. Time depends on the value.
    fn sqrt(&self) -> Option<Self>;
}

/// A prime field: its elements are integers below a modulus.
pub trait PrimeField: Field {
    /// Little-endian 64-bit words of an integer below the modulus.
    type Words: Copy + AsRef<[u64]> + Send + Sync;
    /// Bits of the modulus.
    const BITS: u32;

    /// The integer in `0..p`.
    fn to_words(&self) -> Self::Words;
}

/// Replaces every nonzero element by its inverse and leaves zeros alone, with one inversion
/// (Montgomery's trick: 3 multiplications an element). Allocates one element of scratch per element.
pub fn batch_invert<F: Field>(elements: &mut [F]) {
    let mut product = F::ONE;
    let mut prefixes = Vec::with_capacity(elements.len());
    for element in elements.iter().filter(|element| !element.is_zero()) {
        prefixes.push(product);
        product *= *element;
    }
    let Some(mut inverse) = product.invert() else { unreachable!("a product of nonzero elements") };
    for element in elements.iter_mut().rev().filter(|element| !element.is_zero()) {
        let Some(prefix) = prefixes.pop() else { unreachable!("one prefix per nonzero element") };
        let next = inverse * *element;
        *element = inverse * prefix;
        inverse = next;
    }
}
