//! Ranges and digits.

use super::{Arithmetisation, Circuit, Variable, boolean::powers};
use crate::{Column, Gate, Selector};
use proofmill_field::{Field, PrimeField, bn254::Fr};

/// The default number of bits of the largest range table.
pub(super) const TABLE_BITS: u32 = 13;

/// Base-4 digits of one row of the range gate.
const DIGITS: usize = 4;

impl Circuit {
    /// The largest number of bits of a range: all integers of that many bits are below the field's modulus.
    pub const MAX_BITS: u32 = Fr::<proofmill_cpu::Portable>::BITS - 1;

    pub(super) fn assert_width(bits: u32) {
        assert!(bits <= Self::MAX_BITS, "expected a range of at most {} bits, found {bits}", Self::MAX_BITS);
    }

    /// Sets the number of bits of the largest range table for the calls that follow; the default is 13. With
    /// larger tables a range takes fewer rows, and a circuit has at least as many rows as its tables
    /// together.
    ///
    /// # Panics
    /// If `bits` is not in `1..=24`.
    pub fn set_range_table_bits(&mut self, bits: u32) {
        assert!((1..=24).contains(&bits), "expected a range table of 1 to 24 bits, found {bits}");
        self.range_bits = bits;
    }

    /// Constrains a variable to be below `2^bits`.
    ///
    /// Rows: standard 3 for every two bits; turbo 1 for every eight bits and one that the next row may share
    /// (shared if the number of bits is odd); ultra 1 per 13 bits (see [`Self::set_range_table_bits`]).
    ///
    /// # Panics
    /// If `bits` is more than [`Self::MAX_BITS`].
    pub fn range(&mut self, variable: Variable, bits: u32) {
        Self::assert_width(bits);
        match (bits, self.arithmetisation) {
            (0, _) => self.assert_constant(variable, Fr::ZERO),
            (1, _) => _ = self.assert_boolean(variable),
            (_, Arithmetisation::Standard) => self.range_by_digits(variable, bits),
            (_, Arithmetisation::Turbo) => self.range_by_gates(variable, bits),
            (_, Arithmetisation::Ultra) => self.range_by_lookups(variable, bits),
        }
    }

    /// The digits of `digit_bits` bits of the variable, lowest first, each constrained to its range (the last
    /// one to the remaining bits). This also constrains the variable to be below `2^bits`.
    ///
    /// # Panics
    /// If `bits` is more than [`Self::MAX_BITS`], or `digit_bits` is 0.
    pub fn decompose(&mut self, variable: Variable, bits: u32, digit_bits: u32) -> Vec<Variable> {
        Self::assert_width(bits);
        assert!(digit_bits > 0, "expected digits of at least one bit, found none");
        if bits <= digit_bits {
            self.range(variable, bits);
            return vec![variable];
        }
        let words = self.value(variable).to_canonical();
        let mut digits = Vec::new();
        for start in (0..bits).step_by(digit_bits as usize) {
            let width = digit_bits.min(bits - start);
            let digit = self.witness(window(&words, start, width));
            self.range(digit, width);
            digits.push(digit);
        }
        let mut terms = powers(digits.iter().copied(), power_of_two(digit_bits));
        terms.push((variable, -Fr::ONE));
        self.assert_linear_zero(&terms, Fr::ZERO);
        digits
    }

    /// Constrains two-bit digits d by `u = d^2 - 3 d` and `u (u + 2) = 0`, and their sum.
    fn range_by_digits(&mut self, variable: Variable, bits: u32) {
        let words = self.value(variable).to_canonical();
        let mut digits = Vec::new();
        for start in (0..bits).step_by(2) {
            if start + 1 == bits {
                digits.push(self.boolean(window(&words, start, 1) == Fr::ONE).variable());
                continue;
            }
            let digit = if bits == 2 { variable } else { self.witness(window(&words, start, 2)) };
            let u = self.quadratic((Fr::ONE, digit, digit), &[(digit, -Fr::from(3))], Fr::ZERO);
            self.assert_quadratic_zero((Fr::ONE, u, u), &[(u, Fr::from(2))], Fr::ZERO);
            digits.push(digit);
        }
        let mut terms = powers(digits, Fr::from(4));
        terms.push((variable, -Fr::ONE));
        self.assert_linear_zero(&terms, Fr::ZERO);
    }

    /// Adds accumulators of base-4 digits, highest first, from zero to the variable.
    fn range_by_gates(&mut self, variable: Variable, bits: u32) {
        let words = self.value(variable).to_canonical();
        let digits = bits.div_ceil(2) as usize;
        let rows = digits.div_ceil(DIGITS);
        let zero = self.zero();
        let mut accumulators = vec![zero; rows * DIGITS - digits + 1];
        for left in (1..digits as u32).rev() {
            accumulators.push(self.witness(window(&words, 2 * left, bits - 2 * left)));
        }
        accumulators.push(variable);
        for group in accumulators.windows(DIGITS + 1).step_by(DIGITS) {
            let switch = Column::Selector(Selector::Gate(Gate::Range));
            self.row([group[3], group[2], group[1], group[0]], &[(switch, Fr::ONE)]);
        }
        self.row([Variable::NONE, Variable::NONE, Variable::NONE, variable], &[]);
        if bits % 2 == 1 {
            self.assert_boolean(accumulators[accumulators.len() - digits]);
        }
    }

    /// Adds one lookup per digit, on prefixes of the variable without its lowest digits.
    fn range_by_lookups(&mut self, variable: Variable, bits: u32) {
        let words = self.value(variable).to_canonical();
        let (width, zero) = (self.range_bits, self.zero());
        let mut rest = variable;
        for start in (0..bits).step_by(width as usize) {
            let left = bits - start;
            let table = self.range_table(width.min(left));
            let factor = if left <= width { Fr::ZERO } else { -power_of_two(width) };
            self.lookup(table, [rest, zero, zero], [factor, Fr::ZERO, Fr::ZERO]);
            if left > width {
                rest = self.witness(window(&words, start + width, left - width));
            }
        }
    }

    /// The table of all integers of `bits` bits.
    fn range_table(&mut self, bits: u32) -> super::TableNumber {
        self.table_of_numbers("range", bits, || {
            (0..1u64 << bits).map(|value| [Fr::from(value), Fr::ZERO, Fr::ZERO]).collect()
        })
    }
}

/// `2^exponent`.
pub(super) fn power_of_two(exponent: u32) -> Fr {
    let mut words = [0; 4];
    words[exponent as usize / 64] = 1 << (exponent % 64);
    Fr::from_canonical(words).expect("at most the field's bits")
}

/// Bits `start..start + width` of an integer, as a number.
pub(super) fn window(words: &[u64; 4], start: u32, width: u32) -> Fr {
    let (skip, shift) = (start as usize / 64, start % 64);
    let word = |index: usize| words.get(skip + index).copied().unwrap_or_default();
    let shifted =
        |index| if shift == 0 { word(index) } else { word(index) >> shift | word(index + 1) << (64 - shift) };
    let mask = |index: u32| match width.saturating_sub(64 * index) {
        bits @ 0..64 => (1 << bits) - 1,
        _ => u64::MAX,
    };
    Fr::from_canonical(std::array::from_fn(|index| shifted(index) & mask(index as u32))).unwrap_or_default()
}
