//! Pieces of the verifier, each on its own, against values that are computed outside of the circuit, and against forged witnesses.

use super::*;
use crate::{
    challenger::{self, Challenger},
    element::{Cubic, Element},
    fri,
    powers::Elements,
    residue::{self, Residue},
    tree::Row,
};
use num_bigint::BigUint;
use proofmill_plonk::{Bit, Variable};
use proofmill_stark::{Challenger as _, DRAW_BITS, PoseidonBn254Challenger, protocol::coset};
use proofmill_testing::{operands, rng};
use rand::Rng;

const P: u64 = proofmill_field::goldilocks::MODULUS;

fn new_circuit() -> Circuit {
    Circuit::new(Arithmetisation::Ultra)
}

fn bits(circuit: &mut Circuit, value: usize, count: u32) -> Vec<Bit> {
    (0..count).map(|i| circuit.boolean(value >> i & 1 == 1)).collect()
}

fn random(rng: &mut impl Rng) -> Goldilocks {
    Goldilocks::new(rng.random())
}

fn random_cubic(rng: &mut impl Rng) -> Cubic {
    Extension(std::array::from_fn(|_| random(rng)))
}

fn witness(circuit: &mut Circuit, element: Cubic) -> Element {
    Element(element.0.map(|coordinate| Residue::witness(circuit, coordinate)))
}

fn integer(value: Fr) -> BigUint {
    value.to_canonical().iter().rev().fold(BigUint::default(), |sum, word| (sum << 64) + word)
}

fn element(value: &BigUint) -> Fr {
    let mut words = [0; 4];
    words.iter_mut().zip(value.iter_u64_digits()).for_each(|(word, digit)| *word = digit);
    Fr::from_canonical(words).expect("below r")
}

fn r() -> BigUint {
    integer(-Fr::ONE) + 1_u32
}

/// Representatives at the edges: those of p and more are not canonical.
const WORDS: [u64; 8] = [0, 1, P - 1, P, P + 1, u64::MAX, 1 << 32, u64::MAX - (1 << 32)];

#[test]
fn residues_are_those_of_integers() {
    let mut rng = rng(1);
    let mut circuit = new_circuit();
    let mut residues: Vec<(Residue, Goldilocks)> = WORDS
        .iter()
        .map(|word| {
            let variable = circuit.witness(Fr::from(*word));
            circuit.range(variable, 64);
            (Residue::of(variable, 64), Goldilocks::new(*word))
        })
        .collect();
    residues.push((Residue::constant(-Goldilocks::ONE), -Goldilocks::ONE));
    for _ in 0..600 {
        let [(a, a_value), (b, b_value), (c, c_value)] =
            [0; 3].map(|_| residues[rng.random_range(0..residues.len())].clone());
        let by = if rng.random() { random(&mut rng) } else { -Goldilocks::new(rng.random_range(0..9)) };
        let (residue, value) = match rng.random_range(0..6) {
            0 => (a.add(&mut circuit, &b), a_value + b_value),
            1 => (a.sub(&mut circuit, &b), a_value - b_value),
            2 => (a.scale(&mut circuit, by), a_value * by),
            3 => (a.mul(&mut circuit, &b), a_value * b_value),
            4 => (c.add_products(&mut circuit, [(&a, &b), (&b, &b)]), c_value + a_value * b_value + b_value * b_value),
            _ => (a.reduced(&mut circuit), a_value),
        };
        assert_eq!(residue.value(&circuit), value);
        residues.push((residue, value));
    }
    for (residue, value) in &residues {
        residue.sub(&mut circuit, &Residue::constant(*value)).assert_zero(&mut circuit);
    }
    circuit.check().expect("all hold");
    for (residue, value) in residues.iter().rev().take(20) {
        let mut circuit = new_circuit();
        let variable = circuit.witness(Fr::from(residue.value(&circuit_of(&circuit, value)).to_canonical()));
        circuit.range(variable, 64);
        let wrong = Residue::constant(*value + Goldilocks::ONE);
        Residue::of(variable, 64).sub(&mut circuit, &wrong).assert_zero(&mut circuit);
        assert!(circuit.check().is_err());
    }
}
