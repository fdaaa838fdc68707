//! The transcript that goes with trees of Poseidon over BN254.

use super::{Challenger, challenger::least};
use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    bn254::Fr,
    goldilocks::{Goldilocks, MODULUS},
};
use proofmill_hash::{Digest, PoseidonBn254, PoseidonBn254Sponge};

const WIDTH: usize = PoseidonBn254Sponge::WIDTH;
const RATE: usize = WIDTH - 1;
const PACK: usize = PoseidonBn254Sponge::PACK;

/// The number of bits of a draw. An element of the rate has 254 bits, and gives two draws.
pub const DRAW_BITS: u32 = 127;

/// A sponge in duplex mode over the permutation of [`PoseidonBn254Sponge`], with the capacity first. The capacity starts from 2^65.
///
/// Messages are packed three to an element, lowest first. An incomplete pack is padded with zeros before a digest, which is an element by
/// itself, and before a draw. Elements overwrite the rate, zeros follow, and the number of elements is added to the capacity. An element v
/// of the rate gives the draws `v mod 2^127` and `v div 2^127`. Modulo the base field's order a draw is uniform but for 2^-62.
#[derive(Clone, Debug)]
pub struct PoseidonBn254Challenger {
    state: [Fr; WIDTH],
    /// The elements observed since the last permutation: fewer than the rate.
    input: Vec<Fr>,
    /// The words of the pack that is not complete.
    pack: Vec<u64>,
    /// Draws that were not given out yet; the last one is next.
    output: Vec<u128>,
}

impl Default for PoseidonBn254Challenger {
    /// A source of challenges that has observed nothing.
    fn default() -> Self {
        let start = Fr::from_canonical([0, 2, 0, 0]).expect("2^65");
        Self { state: [start, Fr::ZERO, Fr::ZERO], input: Vec::new(), pack: Vec::new(), output: Vec::new() }
    }
}

impl PoseidonBn254Challenger {
    fn end_pack(&mut self) {
        if !self.pack.is_empty() {
            let mut words = [0; 4];
            words[..self.pack.len()].copy_from_slice(&self.pack);
            self.pack.clear();
            self.push(Fr::from_canonical(words).expect("192 bits are less than the modulus has"));
        }
    }

    fn push(&mut self, element: Fr) {
        self.input.push(element);
        if self.input.len() == RATE {
            self.duplex();
        }
    }

    /// The state before the next permutation.
    fn absorbed(&self) -> [Fr; WIDTH] {
        let mut state = self.state;
        let count = self.input.len();
        if count > 0 {
            state[1..].fill(Fr::ZERO);
            state[1..=count].copy_from_slice(&self.input);
            state[0] += Fr::from(count as u64);
        }
        state
    }

    fn duplex(&mut self) {
        self.state = self.absorbed();
        self.input.clear();
        PoseidonBn254::of_width(WIDTH).permute(&mut self.state);
        self.output = self.state[1..].iter().rev().flat_map(|element| draws(*element)).collect();
    }

    fn draw(&mut self) -> u128 {
        self.end_pack();
        if !self.input.is_empty() || self.output.is_empty() {
            self.duplex();
        }
        self.output.pop().unwrap_or_default()
    }
}

/// The draws of an element, the first one last.
fn draws(element: Fr) -> [u128; 2] {
    let [a, b, c, d] = element.to_canonical().map(u128::from);
    let (low, high) = (a | b << 64, c | d << 64);
    [high << 1 | low >> DRAW_BITS, low & ((1 << DRAW_BITS) - 1)]
}

impl Challenger for PoseidonBn254Challenger {
    fn observe(&mut self, element: Goldilocks) {
        self.output.clear();
        self.pack.push(element.to_canonical());
        if self.pack.len() == PACK {
            self.end_pack();
        }
    }

    fn observe_digest(&mut self, digest: &Digest) {
        self.output.clear();
        self.end_pack();
        // No digest of the hash is refused here; others are refused with the rows of their tree.
        self.push(Fr::from_canonical(digest.0).unwrap_or_default());
    }

    fn sample(&mut self) -> Goldilocks {
        Goldilocks::new((self.draw() % u128::from(MODULUS)) as u64)
    }

    fn sample_bits(&mut self, bits: u32) -> usize {
        (self.draw() & ((1 << bits) - 1)) as usize
    }

    fn check_work(&mut self, bits: u32, witness: Goldilocks) -> bool {
        if bits == 0 {
            return true;
        }
        // The witness is a pack by itself.
        self.end_pack();
        self.observe(witness);
        self.sample_bits(bits) == 0
    }

    fn work(&mut self, level: Level, bits: u32) -> Goldilocks {
        if bits == 0 {
            return Goldilocks::ZERO;
        }
        self.end_pack();
        let mut with_one = self.clone();
        with_one.input.push(Fr::ZERO);
        let (state, place) = (with_one.absorbed(), with_one.input.len());
        let mask = (1 << bits) - 1;
        let witness = least(|candidates| {
            let states = candidates.clone().map(|candidate| {
                let mut state = state;
                state[place] = Fr::from(candidate);
                state
            });
            let mut states: Vec<_> = states.collect();
            PoseidonBn254::of_width(WIDTH).permute_states(level, states.as_flattened_mut());
            let passes = |state: &[Fr; WIDTH]| state[1].to_canonical()[0] & mask == 0;
            candidates.zip(&states).find(|(_, state)| passes(state)).map(|(candidate, _)| candidate)
        });
        assert!(self.check_work(bits, witness), "the proof of work that was found");
        witness
    }
}
