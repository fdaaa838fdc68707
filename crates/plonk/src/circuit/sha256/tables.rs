//! SHA-256's functions with lookups.
//!
//! The bits of a word are spread: they become digits in a larger base. The digits of a sum of spread words
//! then count the set bits, and a rotation only changes the weight of each bit. Lookups map 8 bits of a word
//! at a time to their spread form and to their contribution to the sum of the word's rotations. Other lookups
//! map the digits of sums back to bits: whether the count is odd (XOR), whether it is more than one (Maj), or
//! Ch, which the digit of `e + 2 f + 3 g` determines.
//!
//! Each row of a chain of lookups has the rest of the word or sum and of the results, and looks up the
//! difference to the next row. Results are below 2^32, since they consist of parts of 8 bits or of 4 or 6
//! digits. In a sum of spread words every digit is below the base, and sums are below the field's size, so
//! the digits are determined. (The chain of six times six digits has four digits more than needed; they are
//! zero.)

use super::{BIG_SIGMA, Functions, Role, SMALL_SIGMA, Terms, low_word};
use crate::circuit::{Circuit, TableNumber, Variable, range::power_of_two};
use proofmill_field::{Field, bn254::Fr};

/// Base of sums of three bits.
const COUNT: u128 = 4;
/// Base of e + 2 f + 3 g.
const CHOICE: u128 = 7;
/// Bits of a word per lookup.
const PART_BITS: u32 = 8;
/// Lookups per word.
const PARTS: u32 = 4;
/// Digits of a sum of three bits per lookup.
const COUNT_DIGITS: u32 = 6;
/// Digits of e + 2 f + 3 g per lookup.
const CHOICE_DIGITS: u32 = 4;
/// Bits of a carry.
const CARRY_BITS: u32 = 3;

/// The numbers of the tables in the circuit.
pub(super) struct SpreadTables {
    /// For each role, the tables of a word's parts, lowest first.
    parts: [[TableNumber; PARTS as usize]; 3],
    count: TableNumber,
    choice: TableNumber,
    carries: TableNumber,
}

/// A decomposed word. For a word of the schedule the two fields are the sums for the functions 0 and 1.
#[derive(Clone)]
pub(super) struct SpreadWord {
    /// The spread form.
    spread: Variable,
    /// The sum of its rotations for the sigma function.
    sigma: Variable,
}

/// A base and the number of digits per lookup.
#[derive(Clone, Copy)]
struct Digits {
    base: u128,
    at_once: u32,
}

fn number(value: u128) -> Fr {
    Fr::from_canonical([value as u64, (value >> 64) as u64, 0, 0]).expect("128 bits")
}

/// Moves bit i to digit i.
fn spread(word: u32, base: u128) -> u128 {
    (0..32).rev().fold(0, |sum, bit| sum * base + u128::from(word >> bit & 1))
}

/// The sum of the spread rotations of a word; the last one may be a shift.
fn sum_of_rotations(word: u32, rotations: [u32; 3], shift: bool) -> u128 {
    let [first, second, third] = rotations;
    let last = if shift { word >> third } else { word.rotate_right(third) };
    [word.rotate_right(first), word.rotate_right(second), last].map(|word| spread(word, COUNT)).iter().sum()
}

/// The two results for a word whose bits below `start` are zero.
fn results(role: Role, word: u32, start: u32) -> [u128; 2] {
    match role {
        Role::A => [spread(word >> start, COUNT), sum_of_rotations(word, BIG_SIGMA[0], false)],
        Role::E => [spread(word >> start, CHOICE), sum_of_rotations(word, BIG_SIGMA[1], false)],
        Role::Schedule => SMALL_SIGMA.map(|rotations| sum_of_rotations(word, rotations, true)),
    }
}

/// A function from a digit to a bit.
type BitOf = fn(u128) -> u64;

/// XOR for a count of three bits.
fn parity(digit: u128) -> u64 {
    (digit % 2) as u64
}

/// Maj for a count of three bits.
fn majority(digit: u128) -> u64 {
    u64::from(digit > 1)
}

/// Ch for a digit of `e + 2 f + 3 g`.
fn choice(digit: u128) -> u64 {
    u64::from(matches!(digit, 3 | 5 | 6))
}

/// The rows for all strings of digits: the string as a number, and the numbers formed by the bits that two
/// functions give for each digit.
fn rows_of_digits(digits: Digits, functions: [BitOf; 2]) -> impl Iterator<Item = [Fr; 3]> {
    let Digits { base, at_once } = digits;
    (0..base.pow(at_once)).map(move |key| {
        let bits =
            |function: BitOf| (0..at_once).map(|i| function(key / base.pow(i) % base) << i).sum::<u64>();
        [number(key), Fr::from(bits(functions[0])), Fr::from(bits(functions[1]))]
    })
}

impl SpreadTables {
    const COUNTS: Digits = Digits { base: COUNT, at_once: COUNT_DIGITS };
    const CHOICES: Digits = Digits { base: CHOICE, at_once: CHOICE_DIGITS };

    /// Registers the tables.
    pub(super) fn new(circuit: &mut Circuit) -> Self {
        let mut parts = |role: Role| {
            std::array::from_fn(|part| {
                let start = PART_BITS * part as u32;
                circuit.table(&format!("sha256 {role:?} {part}"), || {
                    let row = |bits: u32| {
                        let [first, second] = results(role, bits << start, start);
                        [Fr::from(u64::from(bits)), number(first), number(second)]
                    };
                    (0..1 << PART_BITS).map(row).collect()
                })
            })
        };
        let parts = [Role::A, Role::E, Role::Schedule].map(&mut parts);
        let count =
            circuit.table("sha256 counts", || rows_of_digits(Self::COUNTS, [parity, majority]).collect());
        let choice =
            circuit.table("sha256 choices", || rows_of_digits(Self::CHOICES, [choice, |_| 0]).collect());
        let carries = circuit.table("sha256 carries", || {
            let pairs =
                (0..1 << (2 * CARRY_BITS)).map(|pair: u64| [pair >> CARRY_BITS, pair % (1 << CARRY_BITS)]);
            pairs.map(|[first, second]| [first, second, 0].map(Fr::from)).collect()
        });
        Self { parts, count, choice, carries }
    }

    /// The numbers formed by the first and the second function of each digit of a sum of 32 digits.
    fn bits_of_digits(
        circuit: &mut Circuit,
        table: TableNumber,
        digits: Digits,
        sum: Variable,
        functions: [Option<BitOf>; 2],
    ) -> [Variable; 2] {
        let Digits { base, at_once } = digits;
        let words = circuit.value(sum).to_canonical();
        let value = u128::from(words[0]) | u128::from(words[1]) << 64;
        let bits = |function: BitOf| (0..32).map(|i| function(value / base.pow(i) % base) << i).sum::<u64>();
        let results = functions.map(|function| function.map(bits));
        let zero = circuit.zero();
        let mut first = None;
        let mut key = sum;
        for start in (0..32).step_by(at_once as usize) {
            if start > 0 {
                key = circuit.witness(number(value / base.pow(start)));
            }
            let left =
                results.map(|result| result.map_or(zero, |bits| circuit.witness(Fr::from(bits >> start))));
            first.get_or_insert(left);
            let factors = if start + at_once < 32 {
                let bits = -power_of_two(at_once);
                [-number(base.pow(at_once)), bits, if functions[1].is_some() { bits } else { Fr::ZERO }]
            } else {
                [Fr::ZERO; 3]
            };
            circuit.lookup(table, [key, left[0], left[1]], factors);
        }
        first.expect("32 digits")
    }

    /// For each count of three bits, whether it is odd and whether it is more than one.
    fn counts(&self, circuit: &mut Circuit, sum: Variable) -> [Variable; 2] {
        Self::bits_of_digits(circuit, self.count, Self::COUNTS, sum, [Some(parity), Some(majority)])
    }
}

impl Functions for SpreadTables {
    type Word = SpreadWord;

    fn load(&mut self, circuit: &mut Circuit, number_of: Variable, role: Role) -> SpreadWord {
        let word = low_word(circuit.value(number_of));
        // For a and e the spread form is shifted with the word; the other results are sums over the remaining
        // parts.
        let shifted = match role {
            Role::A => number(COUNT.pow(PART_BITS)),
            Role::E => number(CHOICE.pow(PART_BITS)),
            Role::Schedule => Fr::ONE,
        };
        let mut loaded = None;
        for (part, table) in (0..).zip(self.parts[role as usize]) {
            let start = PART_BITS * part;
            let left = word >> start;
            let key = if part == 0 { number_of } else { circuit.witness(Fr::from(u64::from(left))) };
            let [first, second] =
                results(role, left << start, start).map(|value| circuit.witness(number(value)));
            loaded.get_or_insert(SpreadWord { spread: first, sigma: second });
            let factors =
                if part + 1 < PARTS { [-power_of_two(PART_BITS), -shifted, -Fr::ONE] } else { [Fr::ZERO; 3] };
            circuit.lookup(table, [key, first, second], factors);
        }
        loaded.expect("a part at least")
    }

    fn choice(&mut self, circuit: &mut Circuit, [e, f, g]: [&SpreadWord; 3]) -> Terms {
        let [sigma, _] = self.counts(circuit, e.sigma);
        let terms = [(e.spread, Fr::ONE), (f.spread, Fr::from(2)), (g.spread, Fr::from(3))];
        let sum = circuit.linear(&terms, Fr::ZERO);
        let [choice, _] =
            Self::bits_of_digits(circuit, self.choice, Self::CHOICES, sum, [Some(choice), None]);
        vec![(sigma, Fr::ONE), (choice, Fr::ONE)]
    }

    fn majority(&mut self, circuit: &mut Circuit, words: [&SpreadWord; 3]) -> Terms {
        let [sigma, _] = self.counts(circuit, words[0].sigma);
        let sum = circuit.linear(&words.map(|word| (word.spread, Fr::ONE)), Fr::ZERO);
        let [_, majority] = self.counts(circuit, sum);
        vec![(sigma, Fr::ONE), (majority, Fr::ONE)]
    }

    fn small_sigma(&mut self, circuit: &mut Circuit, which: usize, word: &SpreadWord) -> Terms {
        let [sigma, _] = self.counts(circuit, [word.spread, word.sigma][which]);
        vec![(sigma, Fr::ONE)]
    }

    fn carries(&mut self, circuit: &mut Circuit, [first, second]: [Variable; 2]) {
        let zero = circuit.zero();
        circuit.lookup(self.carries, [first, second, zero], [Fr::ZERO; 3]);
    }

    fn range(&mut self, circuit: &mut Circuit, number: Variable) {
        self.load(circuit, number, Role::A);
    }
}
