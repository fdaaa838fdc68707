//! The numbers of a tile, each checked against its register.

use super::{
    LANES,
    kernels::VectorWord,
    tile::{Fit, Numbers, QUOTIENT_SHIFT, Tile},
};
use std::array;

/// Bits of a lane of an accumulator.
pub(super) const ACCUMULATOR_BITS: u32 = 80;

/// Computes the numbers of a tile in wide integers, and remembers the first number that does not fit its
/// register.
#[derive(Clone, Debug, Default)]
pub struct Exact {
    overflow: Option<Overflow>,
}

/// A number that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// The number.
    pub number: i128,
    /// Bits of the register.
    pub bits: u32,
}

impl Exact {
    /// The first number that did not fit, if any.
    pub fn overflow(&self) -> Option<Overflow> {
        self.overflow
    }

    fn checked(&mut self, numbers: [i128; LANES], bits: u32) -> [i128; LANES] {
        for number in numbers {
            if !fits(number, bits) {
                self.overflow.get_or_insert(Overflow { number, bits });
            }
        }
        numbers
    }

    fn sum(&mut self, sum: [i128; LANES], a: [i32; LANES], b: [i32; LANES], sign: i128) -> [i128; LANES] {
        self.checked(
            array::from_fn(|i| sum[i] + sign * i128::from(a[i]) * i128::from(b[i])),
            ACCUMULATOR_BITS,
        )
    }
}

/// Whether a number is a signed one of so many bits.
pub(super) fn fits(number: i128, bits: u32) -> bool {
    let half = 1i128 << (bits - 1);
    (-half..half).contains(&number)
}

/// `number / 2^shift`, halves rounded up.
pub(super) fn shifted(number: i128, shift: u32) -> i128 {
    (number + (1 << (shift - 1))) >> shift
}

impl Tile for Exact {
    type Word = VectorWord;
    type Vector = [i32; LANES];
    type Accumulator = [i128; LANES];

    fn constant(&mut self, number: i32) -> Self::Vector {
        [number; LANES]
    }

    fn resident(&mut self, number: i32) -> VectorWord {
        VectorWord([number; LANES])
    }

    fn load(&mut self, word: &VectorWord) -> Self::Vector {
        word.0
    }

    fn store(&mut self, vector: Self::Vector) -> VectorWord {
        VectorWord(vector)
    }

    fn low(&mut self, accumulator: Self::Accumulator, fit: Fit) -> Self::Vector {
        if fit == Fit::Whole {
            self.checked(accumulator, 32);
        }
        accumulator.map(|number| number as i32)
    }

    fn carry(&mut self, accumulator: Self::Accumulator) -> Self::Accumulator {
        self.checked(accumulator.map(|number| shifted(number, 32)), 64)
    }

    fn quotient(&mut self, accumulator: Self::Accumulator) -> Self::Vector {
        let quotients = accumulator.map(|number| shifted(number, QUOTIENT_SHIFT));
        self.checked(quotients, 32).map(|number| number as i32)
    }

    fn mul(&mut self, a: Self::Vector, b: Self::Vector) -> Self::Accumulator {
        self.sum([0; LANES], a, b, 1)
    }

    fn mac(&mut self, accumulator: Self::Accumulator, a: Self::Vector, b: Self::Vector) -> Self::Accumulator {
        self.sum(accumulator, a, b, 1)
    }

    fn msc(&mut self, accumulator: Self::Accumulator, a: Self::Vector, b: Self::Vector) -> Self::Accumulator {
        self.sum(accumulator, a, b, -1)
    }
}

impl Numbers for Exact {
    const WIDTH: usize = LANES;

    fn read(&mut self, numbers: &[i32]) -> VectorWord {
        VectorWord(array::from_fn(|lane| numbers[lane]))
    }

    fn write(word: VectorWord, numbers: &mut [i32]) {
        numbers.copy_from_slice(&word.0);
    }
}
