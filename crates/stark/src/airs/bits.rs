//! Words as committed bits.

use crate::air::{Expression, Row};
use proofmill_field::{Field, goldilocks::Goldilocks};

/// Demands that a column is 0 or 1.
pub(super) fn must_be_bit(bit: Expression) {
    (bit * (bit - constant(1))).must_vanish();
}

/// The exclusive or of bits.
pub(super) fn xor(a: Expression, b: Expression) -> Expression {
    let both = a * b;
    a + b - (both + both)
}

/// The word with these bits, lowest first. If there are at most 63 bits, the word is below p, and no other bits make it.
pub(super) fn word(bits: impl DoubleEndedIterator<Item = Expression>) -> Expression {
    bits.rev().fold(constant(0), |word, bit| word + word + bit)
}

pub(super) fn constant(value: u64) -> Expression {
    Expression::from(Goldilocks::new(value))
}

/// Writes the lowest bits of a word, lowest first.
pub(super) fn write(word: u64, bits: &mut [Goldilocks]) {
    for (position, bit) in bits.iter_mut().enumerate() {
        *bit = if word >> position & 1 == 1 { Goldilocks::ONE } else { Goldilocks::ZERO };
    }
}

/// Consecutive columns of a row.
pub(super) fn columns<const N: usize>(row: Row, first: usize) -> [Expression; N] {
    std::array::from_fn(|index| row.column(first + index))
}
