//! SHA-256's functions on bits, with sums and products only.
//!
//! All results enter a weighted sum of bits, so one product can serve two of them. Let e be the bit that is a
//! factor of both bit j of the sigma function and bit k of Ch, and `u` the XOR of the other two bits of the
//! former. Then `2^j (u XOR e) + 2^k e (f - g) = e L - L / 2 + 2^j e + 2^(k-1) (f - g)` for
//! `L = 2^k (f - g) - 2^(j+1) u`, where the last terms add up to words divided by 2. Maj works likewise: it
//! is `(a + b + c - (a XOR b XOR c)) / 2`, and with `x = b XOR c` and `L = 2^k x - 2^(j+1) u`,
//! `2^j (u XOR a) - 2^(k-1) (x XOR a) = a L - L / 2 + (2^j - 2^(k-1)) a`. The schedule's sigma functions are
//! computed for two bits at a time that have a bit z in common:
//! `2^j (u XOR z) + 2^i (v XOR z) = z L - L / 2 + (2^j + 2^i) z` for `L = -2^(j+1) u - 2^(i+1) v`.

use super::{BIG_SIGMA, Functions, Role, SMALL_SIGMA, Terms};
use crate::circuit::{Bit, Circuit, Variable, range::power_of_two};
use proofmill_field::{Field, Invert, bn254::Fr};

/// The functions of standard; see the module.
pub(super) struct Bits;

/// A number and its 32 bits, lowest first.
#[derive(Clone)]
pub(super) struct BitWord {
    number: Variable,
    bits: Vec<Bit>,
}

/// One half.
fn half() -> Fr {
    Fr::from(2).invert_vartime().expect("odd characteristic")
}

/// The indices of the bits whose XOR is bit j of a sigma function.
fn rotated(rotations: [u32; 3], j: u32) -> [usize; 3] {
    rotations.map(|rotation| ((j + rotation) % 32) as usize)
}

/// The numbers 0 to 31 in pairs of j and j + distance modulo 32.
fn pairs(distance: u32) -> [[u32; 2]; 16] {
    // There are gcd(distance, 32) cycles, stored one after another.
    let cycles = 1 << distance.trailing_zeros();
    let place = |i: u32| (i * distance + i * cycles / 32) % 32;
    std::array::from_fn(|pair| [2 * pair as u32, 2 * pair as u32 + 1].map(place))
}

impl Functions for Bits {
    type Word = BitWord;

    fn load(&mut self, circuit: &mut Circuit, number: Variable, _: Role) -> BitWord {
        BitWord { number, bits: circuit.bits(number, 32) }
    }

    fn choice(&mut self, circuit: &mut Circuit, [e, f, g]: [&BitWord; 3]) -> Terms {
        let mut terms = vec![(f.number, half()), (g.number, half())];
        for j in 0..32 {
            let [first, second, k] = rotated(BIG_SIGMA[1], j);
            let u = circuit.bit_xor(e.bits[first], e.bits[second]).variable();
            let weight = power_of_two(k as u32);
            let difference = [(f.bits[k].variable(), weight), (g.bits[k].variable(), -weight)];
            let [f_term, g_term] = difference;
            let multiple = circuit.linear(&[f_term, g_term, (u, -power_of_two(j + 1))], Fr::ZERO);
            let e = e.bits[k].variable();
            let linear = [(multiple, -half()), (e, power_of_two(j))];
            terms.push((circuit.quadratic((Fr::ONE, e, multiple), &linear, Fr::ZERO), Fr::ONE));
        }
        terms
    }

    fn majority(&mut self, circuit: &mut Circuit, [a, b, c]: [&BitWord; 3]) -> Terms {
        let mut terms = [a, b, c].map(|word| (word.number, half())).to_vec();
        for j in 0..32 {
            let [first, second, k] = rotated(BIG_SIGMA[0], j);
            let u = circuit.bit_xor(a.bits[first], a.bits[second]).variable();
            let x = circuit.bit_xor(b.bits[k], c.bits[k]).variable();
            let weight = power_of_two(k as u32);
            let multiple = circuit.linear(&[(x, weight), (u, -power_of_two(j + 1))], Fr::ZERO);
            let a = a.bits[k].variable();
            let linear = [(multiple, -half()), (a, power_of_two(j) - weight * half())];
            terms.push((circuit.quadratic((Fr::ONE, a, multiple), &linear, Fr::ZERO), Fr::ONE));
        }
        terms
    }

    fn small_sigma(&mut self, circuit: &mut Circuit, which: usize, word: &BitWord) -> Terms {
        let [first, second, shift] = SMALL_SIGMA[which];
        let bit = |j: u32, rotation: u32| word.bits[((j + rotation) % 32) as usize];
        pairs(second - first)
            .map(|[j, other]| {
                let mut rest = |j: u32, rotation: u32| {
                    let bit_of = bit(j, rotation);
                    let rest = if j + shift < 32 { circuit.bit_xor(bit_of, bit(j, shift)) } else { bit_of };
                    rest.variable()
                };
                let [u, v] = [rest(j, first), rest(other, second)];
                let multiple =
                    circuit.linear(&[(u, -power_of_two(j + 1)), (v, -power_of_two(other + 1))], Fr::ZERO);
                let common = bit(j, second).variable();
                let linear = [(multiple, -half()), (common, power_of_two(j) + power_of_two(other))];
                (circuit.quadratic((Fr::ONE, common, multiple), &linear, Fr::ZERO), Fr::ONE)
            })
            .to_vec()
    }

    fn carries(&mut self, circuit: &mut Circuit, carries: [Variable; 2]) {
        carries.into_iter().for_each(|carry| circuit.range(carry, 3));
    }

    fn range(&mut self, circuit: &mut Circuit, number: Variable) {
        circuit.range(number, 32);
    }
}
