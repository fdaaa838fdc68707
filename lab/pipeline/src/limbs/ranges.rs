//! The intervals of a tile's numbers: proof that they fit its registers.

use super::{
    ElementWords, LIMBS, SignedField,
    exact::{ACCUMULATOR_BITS, fits, shifted},
    tile::{Divisor, Fit, QUOTIENT_SHIFT, Tile},
};

/// All integers from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The least.
    pub least: i128,
    /// The greatest.
    pub most: i128,
}

impl Interval {
    /// The numbers of a vector's lane.
    const DIGIT: Self = Self { least: i32::MIN as i128, most: i32::MAX as i128 };

    /// One number.
    pub fn of(number: i128) -> Self {
        Self { least: number, most: number }
    }

    /// Numbers of at most this size.
    pub fn within(size: i128) -> Self {
        Self { least: -size, most: size }
    }

    /// The smallest interval that has both.
    pub fn join(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), most: self.most.max(other.most) }
    }

    /// Whether all numbers of the other are in it.
    pub fn contains(self, other: Self) -> bool {
        self.least <= other.least && other.most <= self.most
    }

    fn add(self, other: Self) -> Self {
        Self { least: self.least + other.least, most: self.most + other.most }
    }

    fn mul(self, other: Self) -> Self {
        let ends = [self.least, self.most].map(|a| [a * other.least, a * other.most]);
        let ends = ends.as_flattened();
        Self {
            least: ends.iter().copied().fold(i128::MAX, i128::min),
            most: ends.iter().copied().fold(i128::MIN, i128::max),
        }
    }

    fn shifted(self, shift: u32) -> Self {
        Self { least: shifted(self.least, shift), most: shifted(self.most, shift) }
    }
}

/// Computes intervals, and remembers the first that does not fit its register.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    overflow: Option<(Interval, u32)>,
}

impl Ranges {
    /// The first interval that did not fit its register, and the register's bits.
    pub fn overflow(&self) -> Option<(Interval, u32)> {
        self.overflow
    }

    /// An element whose highest limb is in an interval.
    pub fn value(top: Interval) -> ElementWords<Self> {
        let mut limbs = [Interval::DIGIT; LIMBS];
        limbs[LIMBS - 1] = top;
        limbs
    }

    /// The interval of the highest limb.
    pub fn top(value: &ElementWords<Self>) -> Interval {
        value[LIMBS - 1]
    }

    fn checked(&mut self, interval: Interval, bits: u32) -> Interval {
        if !fits(interval.least, bits) || !fits(interval.most, bits) {
            self.overflow.get_or_insert((interval, bits));
            // Later intervals are not about that number.
            return Interval::of(0);
        }
        interval
    }
}

impl SignedField {
    /// The interval of the highest limb of elements that enter and leave a network: of at most 3/4 p. A product of two of them, or of
    /// their sums, is within it.
    pub fn bound(&self) -> Interval {
        Interval::within(i128::from(self.modulus[LIMBS - 1]) * 3 / 4)
    }

    /// The interval of the highest limb of integers in canonical form.
    pub fn canonical(&self) -> Interval {
        Interval { least: 0, most: i128::from(self.words[3] >> 32) }
    }
}

impl Tile for Ranges {
    type Word = Interval;
    type Vector = Interval;
    type Accumulator = Interval;

    fn constant(&mut self, number: i32) -> Interval {
        Interval::of(number.into())
    }

    fn resident(&mut self, number: i32) -> Interval {
        Interval::of(number.into())
    }

    fn load(&mut self, word: &Interval) -> Interval {
        *word
    }

    fn store(&mut self, vector: Interval) -> Interval {
        vector
    }

    fn low(&mut self, accumulator: Interval, fit: Fit) -> Interval {
        match fit {
            Fit::Whole => self.checked(accumulator, 32),
            Fit::Wraps if Interval::DIGIT.contains(accumulator) => accumulator,
            Fit::Wraps => Interval::DIGIT,
        }
    }

    fn carry(&mut self, accumulator: Interval) -> Interval {
        self.checked(accumulator.shifted(32), 64)
    }

    fn quotient(&mut self, accumulator: Interval) -> Interval {
        self.checked(accumulator.shifted(QUOTIENT_SHIFT), 32)
    }

    fn mul(&mut self, a: Interval, b: Interval) -> Interval {
        self.checked(a.mul(b), ACCUMULATOR_BITS)
    }

    fn mac(&mut self, accumulator: Interval, a: Interval, b: Interval) -> Interval {
        self.checked(accumulator.add(a.mul(b)), ACCUMULATOR_BITS)
    }

    fn msc(&mut self, accumulator: Interval, a: Interval, b: Interval) -> Interval {
        let product = a.mul(b);
        self.checked(accumulator.add(product.mul(Interval::of(-1))), ACCUMULATOR_BITS)
    }

    /// Interval by interval with one quotient each: otherwise the remainder would be as large as all multiples of the modulus.
    fn remainder(
        &mut self,
        accumulator: Interval,
        top: Interval,
        _: Interval,
        divisor: &Divisor<Interval>,
    ) -> Interval {
        let Divisor { modulus_top, reciprocal, one } = *divisor;
        let mut pieces = vec![top];
        let mut joined: Option<Interval> = None;
        while let Some(piece) = pieces.pop() {
            let product = self.mul(piece, reciprocal);
            let quotient = self.quotient(product);
            if quotient.least < quotient.most {
                let middle = (piece.least + piece.most).div_euclid(2);
                pieces.push(Interval { least: piece.least, most: middle });
                pieces.push(Interval { least: middle + 1, most: piece.most });
                continue;
            }
            let sum = self.mac(accumulator, piece, one);
            let rest = self.msc(sum, quotient, modulus_top);
            joined = Some(joined.map_or(rest, |rests| rests.join(rest)));
        }
        joined.expect("an interval has numbers")
    }
}
