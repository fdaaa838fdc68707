//! The operations of a node, limb by limb, for one vector of elements.
//!
//! Bounds: all limbs but the highest may have any value of 32 bits. The highest one of a product is at most
//! `(1/2 + p/R a b) p_top` and a little for elements a and b in multiples of p, because the multiple of p that is added is at most
//! `R/2 p`: [`Ranges`](super::Ranges) computes it from the limbs.

use crate::graph::{Operation, Step};

use super::{
    LANES, LIMBS, SignedField,
    tile::{Divisor, Fit, Tile},
};

/// A vector of [`Bundle`](super::Bundle)s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Word(pub(crate) [i32; LANES]);

/// An element in memory, by limbs.
pub type Value<T> = [<T as Tile>::Word; LIMBS];

/// A field's constants in registers.
#[derive(Clone, Copy, Debug)]
pub struct Constants<V> {
    modulus: [V; LIMBS],
    inverse: V,
    divisor: Divisor<V>,
    minus_one: V,
}

impl<V: Copy> Constants<V> {
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
        }
    }

    /// One step of a node on the values before it.
    #[inline(always)]
    pub(crate) fn step<T: Tile<Vector = V>>(
        &self,
        tile: &mut T,
        step: &Step,
        values: &[Value<T>],
    ) -> Value<T> {
        let value = |operand: usize| &values[step.operands[operand]];
        match step.operation {
            Operation::Multiply => self.multiply(tile, value(0), value(1)),
            Operation::Square => self.multiply(tile, value(0), value(0)),
            Operation::Add => self.add(tile, value(0), value(1)),
            Operation::Subtract => self.subtract(tile, value(0), value(1)),
            Operation::Negate => self.negate(tile, value(0)),
            Operation::Double => self.double(tile, value(0)),
            Operation::Reduce => self.reduce(tile, value(0)),
        }
    }

    /// `a b / R`: the digits of `a b + m p` above the lowest eight, where m makes those zero. Column by column; the limbs of m are
    /// found on the way.
    #[inline(always)]
    pub fn multiply<T: Tile<Vector = V>>(&self, tile: &mut T, a: &Value<T>, b: &Value<T>) -> Value<T> {
        let mut product = Product { a, b, quotients: *a, result: *a, carry: None };
        // One call for each column, so that its loops have a length that is known when it is compiled.
        self.column::<0, T>(tile, &mut product);
        self.column::<1, T>(tile, &mut product);
        self.column::<2, T>(tile, &mut product);
        self.column::<3, T>(tile, &mut product);
        self.column::<4, T>(tile, &mut product);
        self.column::<5, T>(tile, &mut product);
        self.column::<6, T>(tile, &mut product);
        self.column::<7, T>(tile, &mut product);
        self.column::<8, T>(tile, &mut product);
        self.column::<9, T>(tile, &mut product);
        self.column::<10, T>(tile, &mut product);
        self.column::<11, T>(tile, &mut product);
        self.column::<12, T>(tile, &mut product);
        self.column::<13, T>(tile, &mut product);
        self.column::<14, T>(tile, &mut product);
        let Some(last) = product.carry else { unreachable!("there are columns") };
        let digit = tile.low(last, Fit::Whole);
        product.result[LIMBS - 1] = tile.store(digit);
        product.result
    }

    /// One column of a product.
    #[inline(always)]
    fn column<const COLUMN: usize, T: Tile<Vector = V>>(&self, tile: &mut T, product: &mut Product<'_, T>) {
        let (first, end) = (COLUMN.saturating_sub(LIMBS - 1), LIMBS.min(COLUMN + 1));
        let mut sum = product.carry;
        for i in first..end {
            let (left, right) = (tile.load(&product.a[i]), tile.load(&product.b[COLUMN - i]));
            sum = Some(match sum {
                None => tile.mul(left, right),
                Some(sum) => tile.mac(sum, left, right),
            });
        }
        let Some(mut sum) = sum else { unreachable!("every column has a product") };
        for i in first..end.min(COLUMN) {
            let quotient = tile.load(&product.quotients[i]);
            sum = tile.mac(sum, quotient, self.modulus[COLUMN - i]);
        }
        if COLUMN < LIMBS {
            let low = tile.low(sum, Fit::Wraps);
            let quotient = tile.mul(low, self.inverse);
            let quotient = tile.low(quotient, Fit::Wraps);
            product.quotients[COLUMN] = tile.store(quotient);
            sum = tile.mac(sum, quotient, self.modulus[0]);
        } else {
            let digit = tile.low(sum, Fit::Wraps);
            product.result[COLUMN - LIMBS] = tile.store(digit);
        }
        product.carry = Some(tile.carry(sum));
    }

    /// `a + b`.
    #[inline(always)]
    pub fn add<T: Tile<Vector = V>>(&self, tile: &mut T, a: &Value<T>, b: &Value<T>) -> Value<T> {
        self.sum(tile, [(a, self.divisor.one), (b, self.divisor.one)])
    }

    /// `a - b`.
    #[inline(always)]
    pub fn subtract<T: Tile<Vector = V>>(&self, tile: &mut T, a: &Value<T>, b: &Value<T>) -> Value<T> {
        self.sum(tile, [(a, self.divisor.one), (b, self.minus_one)])
    }

    /// `-a`.
    #[inline(always)]
    pub fn negate<T: Tile<Vector = V>>(&self, tile: &mut T, a: &Value<T>) -> Value<T> {
        self.sum(tile, [(a, self.minus_one)])
    }

    /// `2 a`.
    #[inline(always)]
    pub fn double<T: Tile<Vector = V>>(&self, tile: &mut T, a: &Value<T>) -> Value<T> {
        self.sum(tile, [(a, self.divisor.one), (a, self.divisor.one)])
    }

    /// The sum of multiples of elements, as it is: not reduced.
    #[inline(always)]
    fn sum<T: Tile<Vector = V>, const N: usize>(&self, tile: &mut T, terms: [(&Value<T>, V); N]) -> Value<T> {
        let mut result = *terms[0].0;
        let mut carry = None;
        for limb in 0..LIMBS {
            let mut sum = carry;
            for (element, factor) in terms {
                let digit = tile.load(&element[limb]);
                sum = Some(match sum {
                    None => tile.mul(digit, factor),
                    Some(sum) => tile.mac(sum, digit, factor),
                });
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

    /// `a` less a multiple of p: nearly the smallest in size, at most p/2 and a little.
    #[inline(always)]
    pub fn reduce<T: Tile<Vector = V>>(&self, tile: &mut T, a: &Value<T>) -> Value<T> {
        let top = tile.load(&a[LIMBS - 1]);
        let quotient = tile.mul(top, self.divisor.reciprocal);
        let quotient = tile.quotient(quotient);
        let mut result = *a;
        let mut carry = None;
        for limb in 0..LIMBS - 1 {
            let digit = tile.load(&a[limb]);
            let mut sum = match carry {
                None => tile.mul(digit, self.divisor.one),
                Some(carry) => tile.mac(carry, digit, self.divisor.one),
            };
            sum = tile.msc(sum, quotient, self.modulus[limb]);
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
}

/// A Montgomery product that is being computed.
struct Product<'a, T: Tile> {
    a: &'a Value<T>,
    b: &'a Value<T>,
    /// The limbs of the multiple of p that is added.
    quotients: Value<T>,
    result: Value<T>,
    carry: Option<T::Accumulator>,
}

impl Word {
    /// A vector of these numbers.
    pub fn new(numbers: [i32; LANES]) -> Self {
        Self(numbers)
    }

    /// Its numbers.
    pub fn numbers(self) -> [i32; LANES] {
        self.0
    }
}
