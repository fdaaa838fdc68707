//! The transcript: [`PoseidonBn254Challenger`](proofmill_stark::PoseidonBn254Challenger) in a circuit.

use crate::{
    element::CubicElement,
    residue::{Residue, WORD, assert_canonical},
};
use proofmill_field::{Field, bn254::Fr, goldilocks::Goldilocks};
use proofmill_hash::PoseidonBn254Sponge;
use proofmill_plonk::{Bit, Circuit, Variable};
use proofmill_stark::DRAW_BITS;

const WIDTH: usize = PoseidonBn254Sponge::WIDTH;
const PACK: usize = PoseidonBn254Sponge::PACK;

/// `2^exponent`.
pub(crate) fn power_of_two(exponent: u32) -> Fr {
    let mut words = [0; 4];
    words[exponent as usize / 64] = 1 << (exponent % 64);
    Fr::from_canonical(words).unwrap_or_default()
}

/// Three words below 2^64, or fewer, as one element: one row.
pub(crate) fn pack(circuit: &mut Circuit, words: &[Variable]) -> Variable {
    let terms = words.iter().copied().zip((0..).step_by(WORD as usize).map(power_of_two));
    circuit.linear(&terms.collect::<Vec<_>>(), Fr::ZERO)
}

/// The source of a draw.
enum Output {
    Element(Variable),
    /// The upper draw of an element.
    Draw(Variable),
}

pub(crate) struct Challenger {
    state: [Variable; WIDTH],
    input: Vec<Variable>,
    pack: Vec<Variable>,
    /// The last one is next.
    output: Vec<Output>,
}

impl Challenger {
    pub(crate) fn new(circuit: &mut Circuit) -> Self {
        let start = circuit.constant(power_of_two(WORD + 1));
        let zero = circuit.zero();
        Self { state: [start, zero, zero], input: Vec::new(), pack: Vec::new(), output: Vec::new() }
    }

    fn end_pack(&mut self, circuit: &mut Circuit) {
        if !self.pack.is_empty() {
            let element = pack(circuit, &self.pack);
            self.pack.clear();
            self.push(circuit, element);
        }
    }

    fn push(&mut self, circuit: &mut Circuit, element: Variable) {
        self.input.push(element);
        if self.input.len() == WIDTH - 1 {
            self.duplex(circuit);
        }
    }

    fn duplex(&mut self, circuit: &mut Circuit) {
        let count = self.input.len();
        if count > 0 {
            self.state[0] = circuit.linear(&[(self.state[0], Fr::ONE)], Fr::from(count as u64));
            self.input.resize(WIDTH - 1, circuit.zero());
            self.state[1..].copy_from_slice(&self.input);
            self.input.clear();
        }
        self.state = circuit.poseidon_permutation(self.state);
        self.output = self.state[1..].iter().rev().map(|element| Output::Element(*element)).collect();
    }

    /// Takes a word below p.
    pub(crate) fn observe(&mut self, circuit: &mut Circuit, word: Variable) {
        self.output.clear();
        self.pack.push(word);
        if self.pack.len() == PACK {
            self.end_pack(circuit);
        }
    }

    pub(crate) fn observe_constants(&mut self, circuit: &mut Circuit, constants: &[Goldilocks]) {
        for constant in constants {
            let word = circuit.constant(Fr::from(constant.to_canonical()));
            self.observe(circuit, word);
        }
    }

    pub(crate) fn observe_digest(&mut self, circuit: &mut Circuit, digest: Variable) {
        self.output.clear();
        self.end_pack(circuit);
        self.push(circuit, digest);
    }

    fn draw(&mut self, circuit: &mut Circuit) -> Variable {
        self.end_pack(circuit);
        if !self.input.is_empty() || self.output.is_empty() {
            self.duplex(circuit);
        }
        let draw = match self.output.pop() {
            Some(Output::Element(element)) => {
                let [low, high] = split(circuit, element);
                self.output.push(Output::Draw(high));
                low
            }
            Some(Output::Draw(draw)) => draw,
            None => unreachable!("a permutation gives elements"),
        };
        #[cfg(test)]
        crate::tests::draws::record(circuit.value(draw));
        draw
    }

    /// An element of the extension, with coordinates below p.
    pub(crate) fn sample(&mut self, circuit: &mut Circuit) -> CubicElement {
        CubicElement(std::array::from_fn(|_| {
            let draw = self.draw(circuit);
            let reduced = Residue::of(draw, DRAW_BITS).reduced(circuit);
            let word = reduced.variable(circuit);
            // One representative: the check that a challenge is not in the base field needs it.
            assert_canonical(circuit, word);
            reduced
        }))
    }

    /// The lowest bits of a draw, lowest first.
    pub(crate) fn sample_bits(&mut self, circuit: &mut Circuit, count: u32) -> Vec<Bit> {
        let draw = self.draw(circuit);
        let words = circuit.value(draw).to_canonical();
        let bits: Vec<Bit> = (0..count).map(|i| circuit.boolean(words[0] >> i & 1 == 1)).collect();
        let mut terms: Vec<_> = bits.iter().map(|bit| bit.variable()).zip((0..).map(power_of_two)).collect();
        // Bits and rest are in their ranges: the sum is below r, and the bits are unique.
        terms.push((rest(circuit, draw, count), power_of_two(count)));
        terms.push((draw, -Fr::ONE));
        circuit.assert_linear_zero(&terms, Fr::ZERO);
        bits
    }

    /// Takes a proof of work, a word below p, and demands that it proves so many bits.
    pub(crate) fn check_work(&mut self, circuit: &mut Circuit, bits: u32, witness: Variable) {
        self.end_pack(circuit);
        self.observe(circuit, witness);
        let draw = self.draw(circuit);
        // The draw is a multiple of `2^bits`: its lowest bits are zero.
        let rest = rest(circuit, draw, bits);
        circuit.assert_linear_zero(&[(rest, power_of_two(bits)), (draw, -Fr::ONE)], Fr::ZERO);
    }
}

/// A draw without its lowest bits, as a variable in its range.
fn rest(circuit: &mut Circuit, draw: Variable, skip: u32) -> Variable {
    let rest = window(circuit.value(draw), skip, DRAW_BITS - skip);
    let rest = circuit.witness(rest);
    circuit.range(rest, DRAW_BITS - skip);
    rest
}

/// The two draws of an element.
fn split(circuit: &mut Circuit, element: Variable) -> [Variable; 2] {
    let draws = halves(circuit.value(element)).map(|half| circuit.witness(half));
    assert_split(circuit, element, draws);
    draws
}

/// Constrains an element to be `low + 2^127 high` as an integer below r, and not another one modulo r.
pub(crate) fn assert_split(circuit: &mut Circuit, element: Variable, [low, high]: [Variable; 2]) {
    let [most_low, most_high] = halves(-Fr::ONE);
    for half in [low, high] {
        circuit.range(half, DRAW_BITS);
    }
    circuit.assert_linear_zero(
        &[(low, Fr::ONE), (high, power_of_two(DRAW_BITS)), (element, -Fr::ONE)],
        Fr::ZERO,
    );
    // The upper half is at most that of the modulus less 1.
    let left = circuit.linear(&[(high, -Fr::ONE)], most_high);
    circuit.range(left, DRAW_BITS);
    let at_most = circuit.is_zero(left);
    // Where the upper half is the largest, the lower one is at most the modulus's.
    let left = circuit.linear(
        &[(low, -Fr::ONE), (at_most.variable(), -power_of_two(DRAW_BITS))],
        most_low + power_of_two(DRAW_BITS),
    );
    circuit.range(left, DRAW_BITS + 1);
}

pub(crate) fn halves(element: Fr) -> [Fr; 2] {
    [window(element, 0, DRAW_BITS), window(element, DRAW_BITS, DRAW_BITS)]
}

/// Bits `start..start + width` of an element, for a width below 128.
fn window(element: Fr, start: u32, width: u32) -> Fr {
    let [a, b, c, d] = element.to_canonical().map(u128::from);
    let (low, high) = (a | b << 64, c | d << 64);
    let shifted = match start {
        0 => low,
        1..128 => low >> start | high << (128 - start),
        _ => high >> (start - 128),
    };
    let value = shifted & ((1 << width) - 1);
    Fr::from_canonical([value as u64, (value >> 64) as u64, 0, 0]).unwrap_or_default()
}
