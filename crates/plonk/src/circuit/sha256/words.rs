//! SHA-256's functions with XOR and AND of words.
//!
//! The gate of an XOR or AND constrains its words to 32 bits: rotated words, f and g with e in Ch, b and c
//! with a in Maj. A right rotation by k is `2^k r = (2^32 - 1) l + x`, where l is the lowest k bits of x.
//! This determines r for l below 2^k and r and x below 2^32. (It would not for l = 2^k: x = 0 and r = 2^32 -
//! 1.)

use super::{BIG_SIGMA, Functions, Role, SMALL_SIGMA, Terms, low_word};
use crate::circuit::{Circuit, Variable, range::power_of_two};
use proofmill_field::{Field, Invert, bn254::Fr};

/// The functions of turbo; see the module.
#[derive(Default)]
pub(super) struct LogicGates {
    /// `a XOR b` of the preceding round, if that was the first of a pair of rounds. It is b XOR c of this
    /// round.
    pair: Option<Variable>,
}

impl LogicGates {
    /// The lowest `bits` bits of a word, times 2 if `bits` is odd so that they are whole base-4 digits; and
    /// twice the number of digits.
    fn low_bits(circuit: &mut Circuit, word: u32, bits: u32) -> (Variable, u32) {
        let even = bits.next_multiple_of(2);
        let low = u64::from(word) & ((1 << bits) - 1);
        let scaled = circuit.witness(Fr::from(low << (even - bits)));
        circuit.range(scaled, even);
        (scaled, even)
    }

    pub(super) fn rotated(circuit: &mut Circuit, x: Variable, rotation: u32) -> Variable {
        let value = low_word(circuit.value(x));
        let result = circuit.witness(Fr::from(u64::from(value.rotate_right(rotation))));
        // A rotation by more than 16 bits is the inverse of a rotation by fewer.
        let (from, to, bits) =
            if rotation <= 16 { (x, result, rotation) } else { (result, x, 32 - rotation) };
        let from_value = low_word(circuit.value(from));
        let (low, even) = Self::low_bits(circuit, from_value, bits);
        let ones = power_of_two(32) - Fr::ONE;
        let terms = [(to, power_of_two(even)), (low, -ones), (from, -power_of_two(even - bits))];
        circuit.assert_linear_zero(&terms, Fr::ZERO);
        result
    }

    fn shifted(circuit: &mut Circuit, x: Variable, shift: u32) -> Variable {
        let value = low_word(circuit.value(x));
        let result = circuit.witness(Fr::from(u64::from(value >> shift)));
        let (low, even) = Self::low_bits(circuit, value, shift);
        let terms = [(x, power_of_two(even - shift)), (low, -Fr::ONE), (result, -power_of_two(even))];
        circuit.assert_linear_zero(&terms, Fr::ZERO);
        result
    }

    fn xor_of_three(circuit: &mut Circuit, [a, b, c]: [Variable; 3]) -> Variable {
        let both = circuit.xor(a, b, 32);
        circuit.xor(both, c, 32)
    }

    fn big_sigma(circuit: &mut Circuit, which: usize, x: Variable) -> Variable {
        let rotated = BIG_SIGMA[which].map(|rotation| Self::rotated(circuit, x, rotation));
        Self::xor_of_three(circuit, rotated)
    }
}

impl Functions for LogicGates {
    type Word = Variable;

    fn load(&mut self, circuit: &mut Circuit, number: Variable, role: Role) -> Variable {
        if role == Role::Schedule {
            circuit.range(number, 32);
        }
        number
    }

    /// Ch is `(e AND f) + g - (e AND g)`.
    fn choice(&mut self, circuit: &mut Circuit, [e, f, g]: [&Variable; 3]) -> Terms {
        let sigma = Self::big_sigma(circuit, 1, *e);
        let [first, second] = [f, g].map(|word| circuit.and(*e, *word, 32));
        vec![(sigma, Fr::ONE), (first, Fr::ONE), (*g, Fr::ONE), (second, -Fr::ONE)]
    }

    /// Maj is `(a + b + c - (a XOR b XOR c)) / 2`. One XOR serves two rounds.
    fn majority(&mut self, circuit: &mut Circuit, [a, b, c]: [&Variable; 3]) -> Terms {
        let sigma = Self::big_sigma(circuit, 0, *a);
        let parity = match self.pair.take() {
            Some(pair) => circuit.xor(*a, pair, 32),
            None => {
                let pair = circuit.xor(*a, *b, 32);
                self.pair = Some(pair);
                circuit.xor(pair, *c, 32)
            }
        };
        let half = Fr::from(2).invert_vartime().expect("odd characteristic");
        vec![(sigma, Fr::ONE), (*a, half), (*b, half), (*c, half), (parity, -half)]
    }

    fn small_sigma(&mut self, circuit: &mut Circuit, which: usize, word: &Variable) -> Terms {
        let [first, second, shift] = SMALL_SIGMA[which];
        let [first, second] = [first, second].map(|rotation| Self::rotated(circuit, *word, rotation));
        let shifted = Self::shifted(circuit, *word, shift);
        vec![(Self::xor_of_three(circuit, [first, second, shifted]), Fr::ONE)]
    }

    fn carries(&mut self, circuit: &mut Circuit, carries: [Variable; 2]) {
        carries.into_iter().for_each(|carry| circuit.range(carry, 4));
    }

    fn range(&mut self, circuit: &mut Circuit, number: Variable) {
        circuit.range(number, 32);
    }
}
