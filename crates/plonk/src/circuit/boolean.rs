//! Booleans, selections and bits.

use super::{Circuit, Variable};
use proofmill_field::{Field, Invert, bn254::Fr};

/// A variable that is constrained to be 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bit(Variable);

impl Bit {
    /// The variable.
    pub fn variable(self) -> Variable {
        self.0
    }
}

impl Circuit {
    /// A new bit with this value: one row.
    pub fn boolean(&mut self, value: bool) -> Bit {
        let variable = self.witness(Fr::from(u64::from(value)));
        self.assert_boolean(variable)
    }

    /// The constant 0 or 1.
    pub fn constant_bit(&mut self, value: bool) -> Bit {
        Bit(self.constant(Fr::from(u64::from(value))))
    }

    /// Constrains a variable to be 0 or 1: one row.
    pub fn assert_boolean(&mut self, variable: Variable) -> Bit {
        self.assert_quadratic_zero((Fr::ONE, variable, variable), &[(variable, -Fr::ONE)], Fr::ZERO);
        Bit(variable)
    }

    /// The value of a bit; false for every value but 1.
    pub fn bit_value(&self, bit: Bit) -> bool {
        self.value(bit.0) == Fr::ONE
    }

    /// Whether both bits are 1: one row.
    pub fn bit_and(&mut self, a: Bit, b: Bit) -> Bit {
        Bit(self.mul(a.0, b.0))
    }

    /// Whether at least one bit is 1: one row.
    pub fn bit_or(&mut self, a: Bit, b: Bit) -> Bit {
        Bit(self.quadratic((-Fr::ONE, a.0, b.0), &[(a.0, Fr::ONE), (b.0, Fr::ONE)], Fr::ZERO))
    }

    /// Whether the bits differ: one row.
    pub fn bit_xor(&mut self, a: Bit, b: Bit) -> Bit {
        Bit(self.quadratic((-Fr::from(2), a.0, b.0), &[(a.0, Fr::ONE), (b.0, Fr::ONE)], Fr::ZERO))
    }

    /// Whether the bit is 0: one row.
    pub fn bit_not(&mut self, a: Bit) -> Bit {
        Bit(self.linear(&[(a.0, -Fr::ONE)], Fr::ONE))
    }

    /// `a` if the bit is 1, else `b`: two rows; three in standard.
    pub fn select(&mut self, bit: Bit, a: Variable, b: Variable) -> Variable {
        let difference = self.sub(a, b);
        self.mul_add(bit.0, difference, b)
    }

    /// Whether a variable is 0: two rows.
    pub fn is_zero(&mut self, a: Variable) -> Bit {
        let inverse = self.witness(self.value(a).invert_vartime().unwrap_or_default());
        let zero = self.quadratic((-Fr::ONE, a, inverse), &[], Fr::ONE);
        self.assert_quadratic_zero((Fr::ONE, a, zero), &[], Fr::ZERO);
        Bit(zero)
    }

    /// Whether two variables have the same value: three rows.
    pub fn is_equal(&mut self, a: Variable, b: Variable) -> Bit {
        let difference = self.sub(a, b);
        self.is_zero(difference)
    }

    /// The lowest `count` bits of the variable, lowest first, with the constraint that the variable is below
    /// `2^count`. One row for each bit, and those of their sum.
    ///
    /// # Panics
    /// If `count` is more than [`Circuit::MAX_BITS`].
    pub fn bits(&mut self, variable: Variable, count: u32) -> Vec<Bit> {
        Self::assert_width(count);
        let words = self.value(variable).to_canonical();
        let bits: Vec<Bit> =
            (0..count).map(|i| self.boolean(words[i as usize / 64] >> (i % 64) & 1 == 1)).collect();
        let mut terms = powers(bits.iter().map(|bit| bit.0), Fr::from(2));
        terms.push((variable, -Fr::ONE));
        self.assert_linear_zero(&terms, Fr::ZERO);
        bits
    }
}

/// Pairs the variables with the powers of a base as factors.
pub(super) fn powers(variables: impl IntoIterator<Item = Variable>, base: Fr) -> Vec<(Variable, Fr)> {
    let factors = std::iter::successors(Some(Fr::ONE), |power| Some(*power * base));
    variables.into_iter().zip(factors).collect()
}
