//! SHA-256 (FIPS 180-4).
//!
//! The compression function is written once, over numbers below 2^32 and their sums modulo 2^32. The other
//! operations are [`Functions`], with one implementation for each arithmetisation: [bits], [words] and
//! [tables].
//!
//! A sum is split as `word + 2^32 carry`. The word is constrained to 32 bits where it is decomposed or
//! returned, the carry to a few bits, and both sides are far below the field's size, so this is exactly the
//! sum modulo 2^32. A word that is never decomposed may differ by a multiple of 2^32, which does not change
//! later sums.

mod bits;
mod constants;
mod tables;
#[cfg(test)]
mod tests;
mod words;

use super::{Arithmetisation, Circuit, Variable, range::power_of_two};
use bits::Bits;
use constants::{INITIAL, ROUND};
use proofmill_field::{Field, Invert, bn254::Fr};
use tables::SpreadTables;
use words::LogicGates;

/// Right rotations of the functions that FIPS 180-4 denotes by capital sigmas, of a and of e.
const BIG_SIGMA: [[u32; 3]; 2] = [[2, 13, 22], [6, 11, 25]];
/// Rotations of the schedule's functions; the last of each is a shift.
const SMALL_SIGMA: [[u32; 3]; 2] = [[7, 18, 3], [17, 19, 10]];
/// Bytes of a block.
const BLOCK_BYTES: usize = 64;

/// Variables with factors, part of a sum.
type Terms = Vec<(Variable, Fr)>;

/// The use of a decomposed word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// a, b or c of the rounds.
    A,
    /// e, f or g of the rounds.
    E,
    /// A word of the schedule.
    Schedule,
}

/// The functions of words other than sums modulo 2^32.
trait Functions {
    /// A decomposed word.
    type Word: Clone;

    /// Decomposes a number, and constrains it to 32 bits unless the functions of the role do.
    fn load(&mut self, circuit: &mut Circuit, number: Variable, role: Role) -> Self::Word;

    /// Terms whose sum is the big sigma function of e plus Ch(e, f, g).
    fn choice(&mut self, circuit: &mut Circuit, words: [&Self::Word; 3]) -> Terms;

    /// Terms whose sum is the big sigma function of a plus Maj(a, b, c). It is called for every round in
    /// order: b and c are a and b of the preceding call.
    fn majority(&mut self, circuit: &mut Circuit, words: [&Self::Word; 3]) -> Terms;

    /// Terms whose sum is the schedule's small sigma function 0 or 1.
    fn small_sigma(&mut self, circuit: &mut Circuit, which: usize, word: &Self::Word) -> Terms;

    /// Constrains two carries to some number of bits from 3 to 32.
    fn carries(&mut self, circuit: &mut Circuit, carries: [Variable; 2]);

    /// Constrains a number to 32 bits.
    fn range(&mut self, circuit: &mut Circuit, number: Variable);
}

impl Circuit {
    /// The SHA-256 digest of bytes, which are constrained to be bytes.
    ///
    /// Rows: those of [`Self::sha256_compression`] for each 64 bytes of the message and its padding of at
    /// least 9 bytes.
    pub fn sha256(&mut self, message: &[Variable]) -> [Variable; 32] {
        self.gadget("sha256", |circuit| {
            for byte in message {
                circuit.range(*byte, 8);
            }
            let mut padded = message.to_vec();
            padded.push(circuit.constant(Fr::from(0x80)));
            while padded.len() % BLOCK_BYTES != BLOCK_BYTES - 8 {
                padded.push(circuit.zero());
            }
            let bits = 8 * message.len() as u64;
            padded.extend(bits.to_be_bytes().map(|byte| circuit.constant(Fr::from(u64::from(byte)))));
            let mut state = INITIAL.map(|word| circuit.constant(Fr::from(u64::from(word))));
            let (blocks, _) = padded.as_chunks::<BLOCK_BYTES>();
            for block in blocks {
                let (words, _) = block.as_chunks::<4>();
                let words = std::array::from_fn(|i| circuit.word_of(words[i]));
                state = circuit.compress(state, &[], words);
            }
            let bytes = state.map(|word| circuit.bytes_of(word));
            std::array::from_fn(|i| bytes[i / 4][i % 4])
        })
    }

    /// SHA-256's compression function: computes the next state from eight words of state and sixteen
    /// words of a block. Words are big-endian numbers that are constrained to be below 2^32.
    ///
    /// docs/circuits.md lists the number of rows.
    pub fn sha256_compression(&mut self, state: [Variable; 8], block: [Variable; 16]) -> [Variable; 8] {
        self.compress(state, &[state[3], state[7]], block)
    }

    /// As [`Self::sha256_compression`], but of the numbers d and h it constrains only those in
    /// `unconstrained`.
    fn compress(
        &mut self,
        state: [Variable; 8],
        unconstrained: &[Variable],
        block: [Variable; 16],
    ) -> [Variable; 8] {
        fn by<F: Functions>(
            circuit: &mut Circuit,
            mut functions: F,
            unconstrained: &[Variable],
            input: ([Variable; 8], [Variable; 16]),
        ) -> [Variable; 8] {
            unconstrained.iter().for_each(|number| functions.range(circuit, *number));
            compression(circuit, &mut functions, input.0, input.1)
        }
        let input = (state, block);
        self.gadget("sha256 compression", |circuit| match circuit.arithmetisation() {
            Arithmetisation::Standard => by(circuit, Bits, unconstrained, input),
            Arithmetisation::Turbo => by(circuit, LogicGates::default(), unconstrained, input),
            Arithmetisation::Ultra => {
                let tables = SpreadTables::new(circuit);
                by(circuit, tables, unconstrained, input)
            }
        })
    }

    /// The number of four bytes, the highest first.
    fn word_of(&mut self, bytes: [Variable; 4]) -> Variable {
        let terms = [24, 16, 8, 0].map(power_of_two);
        let terms: Terms = bytes.into_iter().zip(terms).collect();
        self.linear(&terms, Fr::ZERO)
    }

    /// The bytes of a number below 2^32, the highest first.
    fn bytes_of(&mut self, word: Variable) -> [Variable; 4] {
        let value = low_word(self.value(word));
        let bytes = value.to_be_bytes().map(|byte| self.witness(Fr::from(u64::from(byte))));
        for byte in bytes {
            self.range(byte, 8);
        }
        let mut terms: Terms = bytes.into_iter().zip([24, 16, 8, 0].map(power_of_two)).collect();
        terms.push((word, -Fr::ONE));
        self.assert_linear_zero(&terms, Fr::ZERO);
        bytes
    }

    /// The sum of terms and a constant as a word and a carry. Their ranges are not constrained.
    fn modular_sum(&mut self, terms: &[(Variable, Fr)], constant: Fr) -> [Variable; 2] {
        let sum =
            terms.iter().fold(constant, |sum, (variable, factor)| sum + self.value(*variable) * *factor);
        let word = Fr::from(u64::from(low_word(sum)));
        let carry = (sum - word) * power_of_two(32).invert_vartime().expect("not zero");
        let [word, carry] = [word, carry].map(|value| self.witness(value));
        let split = [(word, -Fr::ONE), (carry, -power_of_two(32))];
        self.assert_linear_zero(&[terms, &split].concat(), constant);
        [word, carry]
    }
}

/// The lowest 32 bits.
fn low_word(value: Fr) -> u32 {
    value.to_canonical()[0] as u32
}

fn compression<F: Functions>(
    circuit: &mut Circuit,
    functions: &mut F,
    state: [Variable; 8],
    block: [Variable; 16],
) -> [Variable; 8] {
    let schedule = circuit.gadget("schedule", |circuit| schedule(circuit, functions, block));
    let after = circuit.gadget("rounds", |circuit| rounds(circuit, functions, state, &schedule));
    let sums = [0, 1, 2, 3, 4, 5, 6, 7]
        .map(|i| circuit.modular_sum(&[(state[i], Fr::ONE), (after[i], Fr::ONE)], Fr::ZERO));
    let (pairs, _) = sums.as_chunks::<2>();
    for [[left, first], [right, second]] in pairs {
        functions.carries(circuit, [*first, *second]);
        functions.range(circuit, *left);
        functions.range(circuit, *right);
    }
    sums.map(|[word, _]| word)
}

/// The 64 words of the message schedule.
fn schedule<F: Functions>(circuit: &mut Circuit, functions: &mut F, block: [Variable; 16]) -> Vec<Variable> {
    let mut numbers = block.to_vec();
    let mut words: Vec<F::Word> =
        block.iter().map(|number| functions.load(circuit, *number, Role::Schedule)).collect();
    let mut carries = Vec::new();
    for t in 16..64 {
        let mut terms = functions.small_sigma(circuit, 0, &words[t - 15]);
        terms.extend(functions.small_sigma(circuit, 1, &words[t - 2]));
        terms.extend([(numbers[t - 7], Fr::ONE), (numbers[t - 16], Fr::ONE)]);
        let [number, carry] = circuit.modular_sum(&terms, Fr::ZERO);
        numbers.push(number);
        words.push(functions.load(circuit, number, Role::Schedule));
        carries.push(carry);
    }
    let (pairs, _) = carries.as_chunks::<2>();
    pairs.iter().for_each(|pair| functions.carries(circuit, *pair));
    numbers
}

/// The 64 rounds; returns a to h.
fn rounds<F: Functions>(
    circuit: &mut Circuit,
    functions: &mut F,
    state: [Variable; 8],
    schedule: &[Variable],
) -> [Variable; 8] {
    let mut numbers = state;
    let [a, b, c, _, e, f, g, _] = state;
    let mut left = [a, b, c].map(|number| functions.load(circuit, number, Role::A));
    let mut right = [e, f, g].map(|number| functions.load(circuit, number, Role::E));
    for (constant, word) in ROUND.iter().zip(schedule) {
        let [a, b, c, d, e, f, g, h] = numbers;
        let mut terms = functions.choice(circuit, right.each_ref());
        terms.extend([d, h, *word].map(|number| (number, Fr::ONE)));
        let [next_e, carry] = circuit.modular_sum(&terms, Fr::from(u64::from(*constant)));
        let mut terms = functions.majority(circuit, left.each_ref());
        // The same sum without d.
        terms.extend([(next_e, Fr::ONE), (carry, power_of_two(32)), (d, -Fr::ONE)]);
        let [next_a, second_carry] = circuit.modular_sum(&terms, Fr::ZERO);
        functions.carries(circuit, [carry, second_carry]);
        numbers = [next_a, a, b, c, next_e, e, f, g];
        let [a, b, _] = left;
        left = [functions.load(circuit, next_a, Role::A), a, b];
        let [e, f, _] = right;
        right = [functions.load(circuit, next_e, Role::E), e, f];
    }
    numbers
}
