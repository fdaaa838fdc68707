//! The operations of a node, limb by limb, for one vector of elements.
//!
//! Bounds: all limbs but the highest may have any value of 32 bits. For elements a and b in multiples of p, the highest limb of a
//! product is at most `(1/2 + p/R a b) p_top` and a little. The reason is that at most `R/2 p` is added to the product.
//! [`Ranges`](super::Ranges) computes this limb's interval from the limbs. The highest limb of a product's lower part is at most `(1/2 +
//! a/2) p_top`, since half of b is at most 2^127. In the upper part, that is divided by 2^128 and does not count.

use crate::graph::{FieldOperation, NodeStep};

use super::{
    LANES, LIMBS, SignedField,
    tile::{Divisor, Fit, Tile},
};

/// A vector of [`Bundle`](super::Bundle)s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct VectorWord(pub(crate) [i32; LANES]);

/// An element in memory, by limbs.
pub type ElementWords<T> = [<T as Tile>::Word; LIMBS];

/// A field's constants in registers.
#[derive(Clone, Copy, Debug)]
pub struct FieldConstants<V> {
    modulus: [V; LIMBS],
    inverse: V,
    divisor: Divisor<V>,
    minus_one: V,
    /// -2^31.
    least: V,
    /// `R^2 mod p`, in memory.
    square: [i32; LIMBS],
}

impl<V: Copy> FieldConstants<V> {
    /// Fills the registers.
    #[inline(always)]
    pub fn new<T: Tile<Vector = V>>(tile: &mut T, field: &SignedField) -> Self {
        let mut modulus = [tile.constant(0); LIMBS];
        for (limb, digit) in modulus.iter_mut().zip(field.modulus) {
            *limb = tile.constant(digit);
        }
        Self {
            modulus,
            inverse: tile.constant(field.inverse),
            divisor: Divisor {
                modulus_top: modulus[LIMBS - 1],
                reciprocal: tile.constant(field.reciprocal),
                one: tile.constant(1),
            },
            minus_one: tile.constant(-1),
            least: tile.constant(i32::MIN),
            square: field.square,
        }
    }

    /// One step of a node on the values before it.
    #[inline(always)]
    pub(crate) fn step<T: Tile<Vector = V>>(
        &self,
        tile: &mut T,
        step: &NodeStep,
        values: &[ElementWords<T>],
    ) -> ElementWords<T> {
        let value = |operand: usize| &values[step.operands[operand]];
        match step.operation {
            FieldOperation::Multiply => self.multiply(tile, value(0), value(1)),
            FieldOperation::Square => self.multiply(tile, value(0), value(0)),
            FieldOperation::MultiplyLower => self.multiply_lower(tile, value(0), value(1)),
            FieldOperation::MultiplyUpper => self.multiply_upper(tile, value(0), value(1), value(2)),
            FieldOperation::Add => self.add(tile, value(0), value(1)),
            FieldOperation::Subtract => self.subtract(tile, value(0), value(1)),
            FieldOperation::Negate => self.negate(tile, value(0)),
            FieldOperation::Double => self.double(tile, value(0)),
            FieldOperation::Reduce => self.reduce(tile, value(0)),
            FieldOperation::FromCanonical => self.from_canonical(tile, value(0)),
            FieldOperation::ToCanonical => self.to_canonical(tile, value(0)),
            FieldOperation::Constant(digits) => digits.map(|digit| tile.resident(digit)),
        }
    }

    /// `a b / R`.
    #[inline(always)]
    pub fn multiply<T: Tile<Vector = V>>(
        &self,
        tile: &mut T,
        a: &ElementWords<T>,
        b: &ElementWords<T>,
    ) -> ElementWords<T> {
        self.product::<T, LIMBS, LIMBS>(tile, a, b, None)
    }

    /// `a b / 2^128` for the lower half of b: with [`multiply_upper`](Self::multiply_upper), the product in two parts.
    #[inline(always)]
    pub fn multiply_lower<T: Tile<Vector = V>>(
        &self,
        tile: &mut T,
        a: &ElementWords<T>,
        b: &ElementWords<T>,
    ) -> ElementWords<T> {
        let [lower @ .., _, _, _, _] = b;
        self.product::<T, 4, 4>(tile, a, lower, None)
    }

    /// `(a b + t) / 2^128` for the upper half of b.
    #[inline(always)]
    pub fn multiply_upper<T: Tile<Vector = V>>(
        &self,
        tile: &mut T,
        a: &ElementWords<T>,
        b: &ElementWords<T>,
        t: &ElementWords<T>,
    ) -> ElementWords<T> {
        let [_, _, _, _, upper @ ..] = b;
        self.product::<T, 4, 4>(tile, a, upper, Some(t))
    }

    /// `(a b + t) / 2^(32 N)` for M limbs of b, where M is at most N. The result is the digits of `a b + t + m p` above the lowest N; m
    /// makes the lowest N zero. Column by column; the limbs of m are found on the way.
    #[inline(always)]
    fn product<T: Tile<Vector = V>, const M: usize, const N: usize>(
        &self,
        tile: &mut T,
        a: &ElementWords<T>,
        b: &[T::Word; M],
        t: Option<&ElementWords<T>>,
    ) -> ElementWords<T> {
        let mut product = Product { a, b, t, quotients: *a, result: *a, carry: None };
        // One call for each column, so that its loops have a length that is known when it is compiled.
        self.column::<0, M, N, T>(tile, &mut product);
        self.column::<1, M, N, T>(tile, &mut product);
        self.column::<2, M, N, T>(tile, &mut product);
        self.column::<3, M, N, T>(tile, &mut product);
        self.column::<4, M, N, T>(tile, &mut product);
        self.column::<5, M, N, T>(tile, &mut product);
        self.column::<6, M, N, T>(tile, &mut product);
        self.column::<7, M, N, T>(tile, &mut product);
        self.column::<8, M, N, T>(tile, &mut product);
        self.column::<9, M, N, T>(tile, &mut product);
        self.column::<10, M, N, T>(tile, &mut product);
        self.column::<11, M, N, T>(tile, &mut product);
        self.column::<12, M, N, T>(tile, &mut product);
        self.column::<13, M, N, T>(tile, &mut product);
        self.column::<14, M, N, T>(tile, &mut product);
        let Some(last) = product.carry else { unreachable!("there are columns") };
        let digit = tile.low(last, Fit::Whole);
        product.result[LIMBS - 1] = tile.store(digit);
        product.result
    }

    /// One column of a product, if it has so many.
    #[inline(always)]
    fn column<const COLUMN: usize, const M: usize, const N: usize, T: Tile<Vector = V>>(
        &self,
        tile: &mut T,
        product: &mut Product<'_, T, M>,
    ) {
        if COLUMN >= LIMBS + N - 1 {
            return;
        }
        let mut sum = product.carry;
        for i in (COLUMN + 1).saturating_sub(M)..LIMBS.min(COLUMN + 1) {
            let (left, right) = (tile.load(&product.a[i]), tile.load(&product.b[COLUMN - i]));
            sum = Some(plus(tile, sum, left, right));
        }
        if let Some(t) = product.t
            && COLUMN < LIMBS
        {
            let digit = tile.load(&t[COLUMN]);
            sum = Some(plus(tile, sum, digit, self.divisor.one));
        }
        let Some(mut sum) = sum else { unreachable!("a column has a product, a limb of t or a carry") };
        for i in (COLUMN + 1).saturating_sub(LIMBS)..N.min(COLUMN) {
            let quotient = tile.load(&product.quotients[i]);
            sum = tile.mac(sum, quotient, self.modulus[COLUMN - i]);
        }
        if COLUMN < N {
            let low = tile.low(sum, Fit::Wraps);
            let quotient = tile.mul(low, self.inverse);
            let quotient = tile.low(quotient, Fit::Wraps);
            product.quotients[COLUMN] = tile.store(quotient);
            sum = tile.mac(sum, quotient, self.modulus[0]);
        } else {
            let digit = tile.low(sum, Fit::Wraps);
            product.result[COLUMN - N] = tile.store(digit);
        }
        product.carry = Some(tile.carry(sum));
    }

    /// `a + b`.
    #[inline(always)]
    pub fn add<T: Tile<Vector = V>>(
        &self,
        tile: &mut T,
        a: &ElementWords<T>,
        b: &ElementWords<T>,
    ) -> ElementWords<T> {
        self.sum(tile, [(a, self.divisor.one), (b, self.divisor.one)])
    }

    /// `a - b`.
    #[inline(always)]
    pub fn subtract<T: Tile<Vector = V>>(
        &self,
        tile: &mut T,
        a: &ElementWords<T>,
        b: &ElementWords<T>,
    ) -> ElementWords<T> {
        self.sum(tile, [(a, self.divisor.one), (b, self.minus_one)])
    }

    /// `-a`.
    #[inline(always)]
    pub fn negate<T: Tile<Vector = V>>(&self, tile: &mut T, a: &ElementWords<T>) -> ElementWords<T> {
        self.sum(tile, [(a, self.minus_one)])
    }

    /// `2 a`.
    #[inline(always)]
    pub fn double<T: Tile<Vector = V>>(&self, tile: &mut T, a: &ElementWords<T>) -> ElementWords<T> {
        self.sum(tile, [(a, self.divisor.one), (a, self.divisor.one)])
    }

    /// The sum of multiples of elements, as it is: not reduced.
    #[inline(always)]
    fn sum<T: Tile<Vector = V>, const N: usize>(
        &self,
        tile: &mut T,
        terms: [(&ElementWords<T>, V); N],
    ) -> ElementWords<T> {
        let mut result = *terms[0].0;
        let mut carry = None;
        for limb in 0..LIMBS {
            let mut sum = carry;
            for (element, factor) in terms {
                let digit = tile.load(&element[limb]);
                sum = Some(plus(tile, sum, digit, factor));
            }
            let Some(sum) = sum else { unreachable!("there are terms") };
            let last = limb == LIMBS - 1;
            let digit = tile.low(sum, if last { Fit::Whole } else { Fit::Wraps });
            result[limb] = tile.store(digit);
            if !last {
                carry = Some(tile.carry(sum));
            }
        }
        result
    }

    /// `a` minus a multiple of p: nearly the smallest in size, at most p/2 and a little.
    #[inline(always)]
    pub fn reduce<T: Tile<Vector = V>>(&self, tile: &mut T, a: &ElementWords<T>) -> ElementWords<T> {
        let top = tile.load(&a[LIMBS - 1]);
        let quotient = tile.mul(top, self.divisor.reciprocal);
        let quotient = tile.quotient(quotient);
        let mut result = *a;
        let mut carry = None;
        for limb in 0..LIMBS - 1 {
            let digit = tile.load(&a[limb]);
            let sum = plus(tile, carry, digit, self.divisor.one);
            let sum = tile.msc(sum, quotient, self.modulus[limb]);
            let digit = tile.low(sum, Fit::Wraps);
            result[limb] = tile.store(digit);
            carry = Some(tile.carry(sum));
        }
        let Some(carry) = carry else { unreachable!("there are limbs") };
        let top = tile.load(&a[LIMBS - 1]);
        let top = tile.remainder(carry, top, quotient, &self.divisor);
        let digit = tile.low(top, Fit::Whole);
        result[LIMBS - 1] = tile.store(digit);
        result
    }

    /// The element of an integer below p in canonical form: eight limbs without sign, as bit patterns.
    #[inline(always)]
    pub fn from_canonical<T: Tile<Vector = V>>(&self, tile: &mut T, a: &ElementWords<T>) -> ElementWords<T> {
        let mut digits = *a;
        let (mut carry, mut sign) = (None, None);
        for limb in 0..LIMBS {
            let pattern = tile.load(&a[limb]);
            let mut sum = plus(tile, carry, pattern, self.divisor.one);
            // A limb that reads as a negative number is 2^32 larger.
            if let Some(sign) = sign {
                sum = tile.msc(sum, sign, self.divisor.one);
            }
            let last = limb == LIMBS - 1;
            let digit = tile.low(sum, if last { Fit::Whole } else { Fit::Wraps });
            digits[limb] = tile.store(digit);
            if !last {
                carry = Some(tile.carry(sum));
                let twice = tile.mul(pattern, self.divisor.one);
                let twice = tile.mac(twice, pattern, self.divisor.one);
                let floor = self.floor(tile, twice);
                sign = Some(tile.low(floor, Fit::Whole));
            }
        }
        let square = self.square.map(|digit| tile.resident(digit));
        self.multiply(tile, &digits, &square)
    }

    /// The least residue of `a / R` in canonical form.
    #[inline(always)]
    pub fn to_canonical<T: Tile<Vector = V>>(&self, tile: &mut T, a: &ElementWords<T>) -> ElementWords<T> {
        // Less than p in size.
        let residue = self.product::<T, 0, LIMBS>(tile, a, &[], Some(a));
        // The carry after the highest limb is -1 if the residue is negative, otherwise 0.
        let mut carry = None;
        for digit in &residue {
            let digit = tile.load(digit);
            let sum = plus(tile, carry, digit, self.divisor.one);
            carry = Some(self.floor(tile, sum));
        }
        let Some(carry) = carry else { unreachable!("there are limbs") };
        let sign = tile.low(carry, Fit::Whole);
        let mut result = residue;
        let mut carry = None;
        for limb in 0..LIMBS {
            let digit = tile.load(&residue[limb]);
            let sum = plus(tile, carry, digit, self.divisor.one);
            let sum = tile.msc(sum, sign, self.modulus[limb]);
            let last = limb == LIMBS - 1;
            let pattern = tile.low(sum, if last { Fit::Whole } else { Fit::Wraps });
            result[limb] = tile.store(pattern);
            if !last {
                carry = Some(self.floor(tile, sum));
            }
        }
        result
    }

    /// `sum / 2^32`, rounded down: with its lowest 32 bits without sign, all of the number.
    #[inline(always)]
    fn floor<T: Tile<Vector = V>>(&self, tile: &mut T, sum: T::Accumulator) -> T::Accumulator {
        let sum = tile.mac(sum, self.least, self.divisor.one);
        tile.carry(sum)
    }
}

/// `sum + a b`, or `a b` if there is no sum yet.
#[inline(always)]
fn plus<T: Tile>(tile: &mut T, sum: Option<T::Accumulator>, a: T::Vector, b: T::Vector) -> T::Accumulator {
    match sum {
        None => tile.mul(a, b),
        Some(sum) => tile.mac(sum, a, b),
    }
}

/// A Montgomery product by M limbs of b that is being computed.
struct Product<'a, T: Tile, const M: usize> {
    a: &'a ElementWords<T>,
    b: &'a [T::Word; M],
    /// The element that is added.
    t: Option<&'a ElementWords<T>>,
    /// The limbs of the multiple of p that is added.
    quotients: ElementWords<T>,
    result: ElementWords<T>,
    carry: Option<T::Accumulator>,
}

impl VectorWord {
    /// A vector of these numbers.
    pub fn new(numbers: [i32; LANES]) -> Self {
        Self(numbers)
    }

    /// Its numbers.
    pub fn numbers(self) -> [i32; LANES] {
        self.0
    }
}
