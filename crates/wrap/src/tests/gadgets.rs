//! Pieces of the verifier, each on its own, against values that are computed outside of the circuit, and against forged witnesses.

use super::*;
use crate::{
    challenger::{self, Challenger},
    element::{Cubic, CubicElement},
    fri,
    powers::{Elements, PowerLookup},
    residue::{self, Bound, Residue},
    tree::OpenedRow,
};
use num_bigint::BigUint;
use proofmill_field::{Algebra, Invert};
use proofmill_plonk::Bit;
use proofmill_stark::{Challenger as _, DRAW_BITS, PoseidonBn254Challenger, protocol::coset};
use proofmill_testing::rng;
use rand::Rng;

const P: u64 = proofmill_field::goldilocks::MODULUS;

/// Tables that are too small for some indices.
const DOMAIN: PowerLookup = PowerLookup { table_bits: 10 };

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

fn witness(circuit: &mut Circuit, element: Cubic) -> CubicElement {
    CubicElement(element.0.map(|coordinate| Residue::witness(circuit, coordinate)))
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
            4 => (
                c.add_products(&mut circuit, [(&a, &b), (&b, &b)]),
                c_value + a_value * b_value + b_value * b_value,
            ),
            _ => (a.reduced(&mut circuit), a_value),
        };
        assert_eq!(residue.value(&circuit), value);
        residues.push((residue, value));
    }
    for (residue, value) in &residues {
        residue.sub(&mut circuit, &Residue::constant(*value)).assert_zero(&mut circuit);
    }
    circuit.check().expect("all hold");
    for (residue, value) in residues.iter().skip(1).step_by(29) {
        let mut circuit = circuit.clone();
        residue.sub(&mut circuit, &Residue::constant(*value + Goldilocks::ONE)).assert_zero(&mut circuit);
        assert!(circuit.check().is_err());
    }
}

/// A quotient and a rest that are right modulo r only, or out of their ranges.
#[test]
fn forged_quotients_are_refused() {
    let build = |product: &dyn Fn(Fr, u64) -> (Fr, Fr)| {
        let mut circuit = new_circuit();
        let [a, b] = [u64::MAX, P + 5].map(|word| {
            let variable = circuit.witness(Fr::from(word));
            circuit.range(variable, 64);
            Residue::of(variable, 64)
        });
        let square = a.mul(&mut circuit, &b);
        let (quotient, rest) = {
            let integer = BigUint::from(u64::MAX) * (P + 5);
            (element(&(&integer / P)), (integer % P).iter_u64_digits().next().unwrap_or(0))
        };
        let (quotient, rest) = product(quotient, rest);
        let [quotient, rest] = [quotient, rest].map(|value| circuit.witness(value));
        square.assert_divided(&mut circuit, quotient, rest);
        circuit.check()
    };
    let of_p = Fr::from(P).invert_vartime().expect("not 0");
    build(&|quotient, rest| (quotient, Fr::from(rest))).expect("honest");
    // The equation holds modulo r: p times the inverse of p is 1.
    for change in [1, 2, P - 1] {
        let forged =
            |quotient: Fr, rest| (quotient - of_p * Fr::from(change), Fr::from(rest) + Fr::from(change));
        assert!(build(&forged).is_err());
    }
    // As integers it holds, too, but the rest has 65 bits, or is negative.
    assert!(
        build(&|quotient, rest| (quotient - Fr::from(2_u64), Fr::from(rest) + Fr::from(P).double())).is_err()
    );
    assert!(build(&|quotient, rest| (quotient + Fr::ONE, Fr::from(rest) - Fr::from(P))).is_err());
}

/// The largest quotient that a range admits, times p, and a word: no overflow.
#[test]
fn both_sides_of_a_division_are_below_r() {
    assert_eq!(of_bound(Bound::LARGEST), BigUint::from(1_u32) << 252);
    let right = (BigUint::from(1_u32) << Bound::LARGEST.quotient_bits()) * P + u64::MAX;
    assert!(right < r());
}

fn of_bound(bound: Bound) -> BigUint {
    bound.0.iter().rev().fold(BigUint::default(), |sum, word| (sum << 64) + word)
}

#[test]
fn bounds_are_those_of_integers() {
    let mut rng = rng(8);
    let mut random = || {
        let bits = rng.random_range(0..=252);
        let exact = [Bound::of_bits(bits), Bound::power(bits)];
        let mask = Bound::of_bits(bits).0;
        let random = Bound(mask.map(|word| word & rng.random::<u64>()));
        assert_eq!(of_bound(exact[0]) + 1_u32, of_bound(exact[1]));
        [exact[0], exact[1], random][rng.random_range(0..3)]
    };
    for _ in 0..10_000 {
        let (a, b) = (random(), random());
        let (x, y) = (of_bound(a), of_bound(b));
        assert_eq!(of_bound(a.plus(b)), &x + &y);
        assert_eq!(a.cmp(&b), x.cmp(&y));
        assert_eq!(u64::from(a.bits()), x.bits());
        assert_eq!(u64::from(a.quotient_bits()), (&x / P).bits());
        let (found, exact) = (of_bound(a.times(b)), x * y);
        // Products that are too large stay so.
        assert!(found == exact || (found > of_bound(Bound::LARGEST) && exact > of_bound(Bound::LARGEST)));
        assert!(found == exact || exact.bits() > 253);
    }
}

/// An integer that can be a little more than a word is not one, however a float rounds its bound.
#[test]
fn a_word_and_a_small_constant_is_reduced() {
    for constant in [1, 2, 1024, 2047, 2048, 2049, 1 << 32] {
        for word in [0, P - 1, u64::MAX - 1, u64::MAX] {
            let mut circuit = new_circuit();
            let variable = circuit.witness(Fr::from(word));
            circuit.range(variable, 64);
            let sum = Residue::of(variable, 64);
            let sum = sum.add(&mut circuit, &Residue::constant(Goldilocks::new(constant)));
            let reduced = sum.reduced(&mut circuit);
            let variable = reduced.variable(&mut circuit);
            let value = integer(circuit.value(variable));
            assert!(value.bits() <= 64, "{word} + {constant} is reduced to {value}");
            assert_eq!(reduced.value(&circuit), Goldilocks::new(word) + Goldilocks::new(constant));
            circuit.check().expect("all hold");
        }
    }
}

#[test]
fn words_of_p_and_more_are_not_canonical() {
    for word in WORDS {
        let mut circuit = new_circuit();
        let variable = circuit.witness(Fr::from(word));
        circuit.range(variable, 64);
        residue::assert_canonical(&mut circuit, variable);
        assert_eq!(circuit.check().is_ok(), word < P, "{word}");
    }
}

/// The pair of halves of an integer, which may be r or more.
fn halves(integer: &BigUint) -> [Fr; 2] {
    let low = integer % (BigUint::from(1_u32) << DRAW_BITS);
    [element(&low), element(&(integer >> DRAW_BITS))]
}

#[test]
fn elements_are_split_in_one_way() {
    let mut rng = rng(3);
    let [low, high] = challenger::halves(-Fr::ONE);
    let edge = element(&(integer(high) << DRAW_BITS));
    let mut elements =
        vec![Fr::ZERO, Fr::ONE, -Fr::ONE, low, edge, edge - Fr::ONE, edge + low, edge + Fr::ONE];
    elements.extend((0..20).map(|_| Fr::random(&mut rng)));
    for value in elements {
        let build = |halves: [Fr; 2]| {
            let mut circuit = new_circuit();
            let variable = circuit.witness(value);
            let halves = halves.map(|half| circuit.witness(half));
            challenger::assert_split(&mut circuit, variable, halves);
            circuit.check().is_ok()
        };
        assert_eq!(challenger::halves(value), halves(&integer(value)));
        assert!(build(halves(&integer(value))), "{value}");
        let other = integer(value) + r();
        if other.bits() <= 254 {
            assert!(!build(halves(&other)), "{value}");
        }
        // A lower half out of its range.
        let [low, high] = halves(&integer(value));
        let step = challenger::power_of_two(DRAW_BITS);
        assert!(!build([low + step, high - Fr::ONE]), "{value}");
        assert!(!build([low - step, high + Fr::ONE]), "{value}");
    }
}

#[test]
fn the_transcript_is_that_of_the_engine() {
    let mut rng = rng(4);
    let mut circuit = new_circuit();
    let mut inner = Challenger::new(&mut circuit);
    let mut outer = PoseidonBn254Challenger::default();
    for _ in 0..200 {
        match rng.random_range(0..5) {
            0 | 1 => {
                let value = random(&mut rng);
                let word = residue::canonical(&mut circuit, value);
                inner.observe(&mut circuit, word);
                outer.observe(value);
            }
            2 => {
                let digest = Fr::random(&mut rng);
                let variable = circuit.witness(digest);
                inner.observe_digest(&mut circuit, variable);
                outer.observe_digest(&Digest(digest.to_canonical()));
            }
            3 => {
                let expected = Extension(std::array::from_fn(|_| outer.sample()));
                assert_eq!(inner.sample(&mut circuit).value(&circuit), expected);
            }
            _ => {
                let count = rng.random_range(1..30);
                let index = inner.sample_bits(&mut circuit, count);
                assert_eq!(crate::tree::index_value(&circuit, &index), outer.sample_bits(count));
            }
        }
    }
    circuit.check().expect("all hold");
}

#[test]
fn work_that_was_not_done_is_refused() {
    let message = Goldilocks::new(7);
    let mut outer = PoseidonBn254Challenger::default();
    outer.observe(message);
    let work = outer.clone().work(Level::best(), 4);
    for witness in (0..64).map(Goldilocks::new) {
        let mut circuit = new_circuit();
        let mut inner = Challenger::new(&mut circuit);
        let [word, variable] = [message, witness].map(|value| residue::canonical(&mut circuit, value));
        inner.observe(&mut circuit, word);
        inner.check_work(&mut circuit, 4, variable);
        assert_eq!(circuit.check().is_ok(), outer.clone().check_work(4, witness), "{witness}");
        assert!(witness.to_canonical() >= work.to_canonical() || circuit.check().is_err());
    }
}

#[test]
fn products_and_quotients_are_those_of_the_extension() {
    let mut rng = rng(5);
    for _ in 0..20 {
        let [a, b, c] = [0; 3].map(|_| random_cubic(&mut rng));
        let mut circuit = new_circuit();
        let [a_inside, b_inside, c_inside] = [a, b, c].map(|value| witness(&mut circuit, value));
        let sum = c_inside.add_products(&mut circuit, [(&a_inside, &b_inside)]);
        assert_eq!(sum.value(&circuit), c + a * b);
        let x = Extension([0, 1, 0].map(Goldilocks::new));
        assert_eq!(a_inside.shifted(&mut circuit).value(&circuit), a * x);
        let quotient = sum.quotient(&mut circuit, &b_inside);
        assert_eq!(quotient.value(&circuit) * b, c + a * b);
        circuit.check().expect("all hold");
    }
    // 1 / 0
    let mut circuit = new_circuit();
    CubicElement::one().quotient(&mut circuit, &CubicElement::zero());
    assert!(circuit.check().is_err());
}

/// The value of a polynomial.
fn evaluate(coefficients: &[Cubic], x: Cubic) -> Cubic {
    coefficients.iter().rev().fold(Extension::ZERO, |sum, coefficient| sum * x + *coefficient)
}

fn of_base(value: Goldilocks) -> Cubic {
    Extension([value, Goldilocks::ZERO, Goldilocks::ZERO])
}

/// The element of the subgroup at an index of the bit-reversed order.
fn subgroup(index: usize) -> Goldilocks {
    coset().element(index) * coset().element(0).invert_vartime().expect("not 0")
}

#[test]
fn folds_are_values_of_polynomials() {
    let mut rng = rng(6);
    for log_arity in 1..=4_u32 {
        let polynomial: Vec<_> = (0..1 << log_arity).map(|_| random_cubic(&mut rng)).collect();
        for row_index in [0, 1, 5, 30] {
            let values: Vec<_> = (0..1 << log_arity)
                .map(|i| evaluate(&polynomial, of_base(subgroup(row_index << log_arity | i))))
                .collect();
            let beta = random_cubic(&mut rng);
            let place = rng.random_range(0..1_usize << log_arity);
            let build = |change: Goldilocks, word: usize| {
                let mut circuit = new_circuit();
                let mut words: Vec<_> = values.iter().flat_map(|value| value.0).collect();
                words[word] += change;
                let row = OpenedRow::witness(&mut circuit, &words);
                let known = witness(&mut circuit, values[place]);
                let place = bits(&mut circuit, place, log_arity);
                let index = bits(&mut circuit, row_index, 5);
                let beta = witness(&mut circuit, beta);
                let betas = fri::powers_of_challenge(&mut circuit, &beta, values.len());
                let folded = fri::fold(&mut circuit, DOMAIN, &row, &known, &place, &index, &betas);
                (folded.value(&circuit), circuit.check().is_ok())
            };
            assert_eq!(build(Goldilocks::ZERO, 0), (evaluate(&polynomial, beta), true));
            for word in 0..values.len() * DEGREE {
                let (value, holds) = build(Goldilocks::ONE, word);
                assert_eq!(holds, word / DEGREE != place);
                assert_ne!(value, evaluate(&polynomial, beta));
            }
        }
    }
}

#[test]
fn the_final_polynomial_has_the_last_values() {
    let mut rng = rng(7);
    for (log_length, index) in [(0, 0), (0, 3), (1, 1), (3, 13), (4, 6), (5, 15)] {
        let polynomial: Vec<_> = (0..1 << log_length).map(|_| random_cubic(&mut rng)).collect();
        let expected = evaluate(&polynomial, of_base(subgroup(index)));
        for (value, right) in [(expected, true), (expected + Extension::ONE, false)] {
            let mut circuit = new_circuit();
            let inside: Vec<_> = polynomial.iter().map(|value| witness(&mut circuit, *value)).collect();
            let value = witness(&mut circuit, value);
            let index = bits(&mut circuit, index, 4);
            fri::assert_final(&mut circuit, DOMAIN, &value, &index, &inside);
            assert_eq!(circuit.check().is_ok(), right);
        }
    }
}

#[test]
fn elements_of_domains_are_looked_up() {
    for (index, count, skip) in
        [(0, 0, 0), (0, 3, 0), (5, 3, 0), (777, 12, 0), (2047, 11, 3), ((1 << 25) - 2, 25, 0)]
    {
        let mut circuit = new_circuit();
        let bits = bits(&mut circuit, index, count);
        let expected = subgroup(index << skip);
        let element = DOMAIN.element(&mut circuit, Elements::Subgroup, &bits, skip);
        assert_eq!(element.value(&circuit), expected);
        let inverse = DOMAIN.element(&mut circuit, Elements::Inverses, &bits, skip);
        assert_eq!(inverse.value(&circuit) * expected, Goldilocks::ONE);
        for most in [1, 2, 3, 8, 30] {
            let powers = DOMAIN.powers(&mut circuit, Elements::Subgroup, &bits, skip, most);
            assert_eq!(powers.len(), most - 1);
            for (exponent, power) in (1..).zip(powers) {
                assert_eq!(power.value(&circuit), expected.pow_vartime(&[exponent]));
            }
        }
        circuit.check().expect("all hold");
    }
}

/// A challenge in the base field may be a query's point.
#[test]
fn challenges_in_the_base_field_are_refused() {
    for (coordinates, refused) in
        [([3, 0, 0], true), ([3, 1, 0], false), ([0, 0, 1], false), ([0, 0, 0], true)]
    {
        let mut circuit = new_circuit();
        let challenge = witness(&mut circuit, Extension(coordinates.map(Goldilocks::new)));
        crate::verifier::assert_not_in_base_field(&mut circuit, &challenge);
        assert_eq!(circuit.check().is_err(), refused, "{coordinates:?}");
    }
}
