//! AND and XOR of words.

use super::{
    Arithmetisation, Circuit, TableNumber, Variable,
    boolean::powers,
    range::{power_of_two, window},
};
use crate::{Column, Gate, Selector};
use proofmill_field::{Field, bn254::Fr};

/// The default number of bits of a word's digit in a lookup.
pub(super) const TABLE_BITS: u32 = 6;

/// The bitwise operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    And,
    Xor,
}

impl Operation {
    fn of(self, a: u64, b: u64) -> u64 {
        if self == Self::And { a & b } else { a ^ b }
    }
}

impl Circuit {
    /// Sets the number of bits of a word that one lookup processes, for the calls that follow; the default is
    /// 6. The table has 4^bits rows, and a circuit has at least as many rows as its tables together.
    ///
    /// # Panics
    /// If `bits` is not in `1..=12`.
    pub fn set_logic_table_bits(&mut self, bits: u32) {
        assert!((1..=12).contains(&bits), "expected a table of words of 1 to 12 bits, found {bits}");
        self.logic_bits = bits;
    }

    /// The bitwise AND of two variables, with the constraint that both are below `2^bits`.
    ///
    /// Rows: standard 6 per bit; turbo 1 for every two bits and one that the next row may share, and 2 more
    /// for an odd number of bits; ultra 1 per 6 bits (see [`Self::set_logic_table_bits`]).
    ///
    /// # Panics
    /// If `bits` is more than [`Self::MAX_BITS`].
    pub fn and(&mut self, a: Variable, b: Variable, bits: u32) -> Variable {
        self.logic(Operation::And, a, b, bits)
    }

    /// The bitwise exclusive OR of two variables, with the constraint that both are below `2^bits`. Rows as
    /// for [`Self::and`].
    ///
    /// # Panics
    /// If `bits` is more than [`Self::MAX_BITS`].
    pub fn xor(&mut self, a: Variable, b: Variable, bits: u32) -> Variable {
        self.logic(Operation::Xor, a, b, bits)
    }

    fn logic(&mut self, operation: Operation, a: Variable, b: Variable, bits: u32) -> Variable {
        Self::assert_width(bits);
        if bits == 0 {
            self.range(a, 0);
            self.range(b, 0);
            return self.zero();
        }
        match self.arithmetisation {
            Arithmetisation::Standard => self.logic_by_bits(operation, a, b, bits),
            Arithmetisation::Turbo => self.logic_by_gates(operation, a, b, bits),
            Arithmetisation::Ultra => self.logic_by_lookups(operation, a, b, bits),
        }
    }

    fn logic_by_bits(&mut self, operation: Operation, a: Variable, b: Variable, bits: u32) -> Variable {
        let (a, b) = (self.bits(a, bits), self.bits(b, bits));
        let mut result = Vec::with_capacity(a.len());
        for (a, b) in a.into_iter().zip(b) {
            let bit = match operation {
                Operation::And => self.bit_and(a, b),
                Operation::Xor => self.bit_xor(a, b),
            };
            result.push(bit.variable());
        }
        self.linear(&powers(result, Fr::from(2)), Fr::ZERO)
    }

    /// The limbs of the two words and of the result, in this order.
    fn words(&self, operation: Operation, a: Variable, b: Variable) -> [[u64; 4]; 3] {
        let [a, b] = [a, b].map(|variable| self.value(variable).to_canonical());
        [a, b, std::array::from_fn(|i| operation.of(a[i], b[i]))]
    }

    /// Adds accumulators of base-4 digits, highest first, from zero to the words.
    fn logic_by_gates(&mut self, operation: Operation, a: Variable, b: Variable, bits: u32) -> Variable {
        let words = self.words(operation, a, b);
        let digits = bits.div_ceil(2);
        let mut last = [self.zero(); 3];
        let mut top = last;
        for left in (0..digits).rev() {
            let (start, width) = (2 * left, (bits - 2 * left).min(2));
            let product = window(&words[0], start, width) * window(&words[1], start, width);
            let product = self.witness(product);
            let mut fixed = vec![(Column::Selector(Selector::Gate(Gate::Logic)), Fr::ONE)];
            if operation == Operation::Xor {
                fixed.push((Column::Data(0), Fr::ONE));
            }
            self.row([last[0], last[1], product, last[2]], &fixed);
            let result = self.witness(window(&words[2], start, bits - start));
            last = if left == 0 {
                [a, b, result]
            } else {
                let [a, b] = [0, 1].map(|word| self.witness(window(&words[word], start, bits - start)));
                [a, b, result]
            };
            if left + 1 == digits {
                top = last;
            }
        }
        self.row([last[0], last[1], Variable::NONE, last[2]], &[]);
        if bits % 2 == 1 {
            self.assert_boolean(top[0]);
            self.assert_boolean(top[1]);
        }
        last[2]
    }

    /// Adds one lookup per digit, on prefixes of the words without their lowest digits.
    fn logic_by_lookups(&mut self, operation: Operation, a: Variable, b: Variable, bits: u32) -> Variable {
        let words = self.words(operation, a, b);
        let width = self.logic_bits;
        let result = self.witness(window(&words[2], 0, bits));
        let mut rest = [a, b, result];
        for start in (0..bits).step_by(width as usize) {
            let left = bits - start;
            let table = self.logic_table(operation, width.min(left));
            let factor = if left <= width { Fr::ZERO } else { -power_of_two(width) };
            self.lookup(table, rest, [factor; 3]);
            if left > width {
                rest = words.map(|words| self.witness(window(&words, start + width, left - width)));
            }
        }
        result
    }

    /// The table of all pairs of words of `bits` bits and the operation's results.
    fn logic_table(&mut self, operation: Operation, bits: u32) -> TableNumber {
        let name = if operation == Operation::And { "and" } else { "xor" };
        self.table_of_numbers(name, bits, || {
            let words = (0..1u64 << (2 * bits)).map(|row| (row >> bits, row & ((1 << bits) - 1)));
            words.map(|(a, b)| [a, b, operation.of(a, b)].map(Fr::from)).collect()
        })
    }
}
