//! Sums, products and booleans against the field.

use super::*;
use proofmill_field::{Algebra, Invert};
use rand::Rng;

fn numbers(rng: &mut impl Rng, count: usize) -> Vec<Fr> {
    (0..count).map(|_| Fr::from(rng.random_range(0..1u64 << 40))).collect()
}

#[test]
fn sums_of_any_length() {
    let mut rng = proofmill_testing::rng(1);
    for count in 0..20 {
        for constant in [Fr::ZERO, Fr::from(9)] {
            let (values, factors) = (numbers(&mut rng, count), numbers(&mut rng, count));
            let sum =
                values.iter().zip(&factors).fold(constant, |sum, (value, factor)| sum + *value * *factor);
            let product = values.first().copied().unwrap_or(Fr::from(2)).square();
            let program = |circuit: &mut Circuit| {
                let square = values.first().copied().unwrap_or(Fr::from(2));
                let square = circuit.witness(square);
                let variables: Vec<_> = values.iter().map(|value| circuit.witness(*value)).collect();
                let terms: Vec<_> = variables.into_iter().zip(factors.iter().copied()).collect();
                let linear = circuit.linear(&terms, constant);
                circuit.publish(linear);
                let quadratic = circuit.quadratic((Fr::from(3), square, square), &terms, constant);
                circuit.publish(quadratic);
                // Terms of a factor have no wire of their own.
                let mut more = terms;
                more.extend([(square, Fr::from(7)), (square, Fr::ONE)]);
                let shared = circuit.quadratic((Fr::ONE, square, square), &more, constant);
                circuit.publish(shared);
            };
            let square = values.first().copied().unwrap_or(Fr::from(2));
            let expected = [sum, sum + product * Fr::from(3), sum + product + square * Fr::from(8)];
            for_each_arithmetisation(&expected, program);
        }
    }
}

#[test]
fn rows_of_sums() {
    for count in 2..20usize {
        let rows = |quadratic: bool| {
            for_each_arithmetisation(&[], |circuit: &mut Circuit| {
                let terms: Vec<_> =
                    (0..count).map(|i| (circuit.witness(Fr::from(i as u64)), Fr::ONE)).collect();
                if quadratic {
                    let [a, b] = [2, 3].map(|value| circuit.witness(Fr::from(value)));
                    circuit.quadratic((Fr::ONE, a, b), &terms, Fr::ZERO);
                } else {
                    circuit.linear(&terms, Fr::ZERO);
                }
            })
        };
        let shared = usize::from(count % 3 == 1);
        let wide = (count - 1).div_ceil(3) + shared;
        assert_eq!(rows(false), [count - 1, wide, wide], "sum of {count}");
        let shared = usize::from(count % 3 == 2);
        let wide = (count + 1).div_ceil(3) + shared;
        assert_eq!(rows(true), [count + 1, wide, wide], "product and {count}");
    }
}

#[test]
fn small_operations() {
    let mut rng = proofmill_testing::rng(2);
    for _ in 0..20 {
        let [a, b, c] = std::array::from_fn(|_| Fr::random(&mut rng));
        let inverse = a.invert_vartime().expect("not zero");
        let expected = [a + b, a - b, a * b, a * b + c, a * a + a, inverse, a + a];
        for_each_arithmetisation(&expected, |circuit| {
            let [a, b, c] = [a, b, c].map(|value| circuit.witness(value));
            let results = [
                circuit.add(a, b),
                circuit.sub(a, b),
                circuit.mul(a, b),
                circuit.mul_add(a, b, c),
                circuit.mul_add(a, a, a),
                circuit.inverse(a),
                circuit.add(a, a),
            ];
            circuit.assert_different(a, b);
            results.into_iter().for_each(|result| _ = circuit.publish(result));
        });
    }
    for value in [0, 1, 5] {
        let program = |circuit: &mut Circuit| {
            let a = circuit.witness(Fr::from(value));
            circuit.inverse(a);
        };
        if value == 0 {
            refused_by_each_arithmetisation(program);
        } else {
            every_variable_is_constrained(program);
        }
    }
    refused_by_each_arithmetisation(|circuit| {
        let [a, b] = [3, 3].map(|value| circuit.witness(Fr::from(value)));
        circuit.assert_different(a, b);
    });
}

#[test]
fn booleans_are_those_of_logic() {
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        let expected = [a & b, a | b, a ^ b, !a, a == b, b].map(|bit| Fr::from(u64::from(bit))).into_iter();
        let chosen = Fr::from(if a { 10 } else { 20 });
        let expected: Vec<_> = expected.chain([chosen]).collect();
        let program = |circuit: &mut Circuit| {
            let [a, b] = [a, b].map(|value| circuit.boolean(value));
            let [ten, twenty] = [10, 20].map(|value| circuit.constant(Fr::from(value)));
            let results = [
                circuit.bit_and(a, b),
                circuit.bit_or(a, b),
                circuit.bit_xor(a, b),
                circuit.bit_not(a),
                circuit.is_equal(a.variable(), b.variable()),
                b,
            ];
            results.into_iter().for_each(|bit| _ = circuit.publish(bit.variable()));
            let chosen = circuit.select(a, ten, twenty);
            circuit.publish(chosen);
        };
        for_each_arithmetisation(&expected, program);
    }
    for wrong in [2, 3, u64::MAX] {
        refused_by_each_arithmetisation(|circuit| {
            let wrong = circuit.witness(Fr::from(wrong));
            circuit.assert_boolean(wrong);
        });
    }
}

#[test]
fn is_zero_cannot_be_forged() {
    for value in [0, 1, 9] {
        let expected = [Fr::from(u64::from(value == 0))];
        for_each_arithmetisation(&expected, |circuit| {
            let variable = circuit.witness(Fr::from(value));
            let zero = circuit.is_zero(variable);
            circuit.publish(zero.variable());
        });
    }
    for arithmetisation in Arithmetisation::ALL {
        // A forged result, with the inverse that satisfies the first of the two constraints.
        for (value, forged) in [(9, 1), (0, 0), (9, 2)] {
            let [value, forged] = [value, forged].map(Fr::from);
            let mut circuit = Circuit::new(arithmetisation);
            let variable = circuit.witness(value);
            let zero = circuit.is_zero(variable).variable();
            let inverse = (1..circuit.values().len()).find(|i| *i != variable.index() && *i != zero.index());
            let mut values = circuit.values().to_vec();
            values[inverse.expect("three variables")] =
                (Fr::ONE - forged) * value.invert_vartime().unwrap_or_default();
            values[zero.index()] = forged;
            assert!(check_layout(&circuit.layout(), &values).is_err(), "{arithmetisation}");
        }
    }
}

#[test]
fn bits_are_those_of_integers() {
    let value = 0b1_0110_1101u64;
    let expected: Vec<_> = (0..9).map(|i| Fr::from(value >> i & 1)).collect();
    let program = |circuit: &mut Circuit| {
        let variable = circuit.witness(Fr::from(value));
        let bits = circuit.bits(variable, 9);
        bits.into_iter().for_each(|bit| _ = circuit.publish(bit.variable()));
    };
    for_each_arithmetisation(&expected, program);
    every_variable_is_constrained(program);
    refused_by_each_arithmetisation(|circuit| {
        let variable = circuit.witness(Fr::from(value));
        circuit.bits(variable, 8);
    });
    for value in [-Fr::ONE, Fr::ZERO] {
        let program = |circuit: &mut Circuit| {
            let variable = circuit.witness(value);
            circuit.bits(variable, Circuit::MAX_BITS);
        };
        if value == Fr::ZERO {
            for_each_arithmetisation(&[], program);
        } else {
            refused_by_each_arithmetisation(program);
        }
    }
}

#[test]
fn equal_variables_are_one() {
    for_each_arithmetisation(&[Fr::from(6)], |circuit| {
        let [a, b, c] = [6, 6, 6].map(|value| circuit.witness(Fr::from(value)));
        circuit.assert_equal(a, b);
        circuit.assert_equal(c, b);
        circuit.assert_equal(a, a);
        circuit.publish(c);
        circuit.add(a, c);
        let layout = circuit.layout();
        let first = &layout.variables_of[0];
        assert_eq!(first[0], a.index() as u32, "the public input's, which is a's");
    });
    for arithmetisation in Arithmetisation::ALL {
        let mut circuit = Circuit::new(arithmetisation);
        let [a, b] = [6, 7].map(|value| circuit.witness(Fr::from(value)));
        circuit.gadget("outer", |circuit| circuit.gadget("inner", |circuit| circuit.assert_equal(a, b)));
        let unsatisfied = circuit.check().expect_err("6 is not 7");
        let expected = Unsatisfied::Equality {
            gadget: Some("outer > inner".to_owned()),
            values: [Fr::from(6), Fr::from(7)],
        };
        assert_eq!(unsatisfied, expected);
        let message = "two variables in outer > inner are asserted to be equal, but differ";
        assert_eq!(unsatisfied.to_string(), message);
        assert_eq!(format!("{unsatisfied:#}"), format!("{message}: 6 and 7"));
    }
}

/// A program of random operations on random values.
fn random_program(circuit: &mut Circuit, seed: u64, scale: u64) {
    let mut rng = proofmill_testing::rng(seed);
    let mut variables: Vec<_> = (1..5).map(|value| circuit.witness(Fr::from(scale * value))).collect();
    let mut words: Vec<_> =
        (0..4).map(|i| circuit.witness(Fr::from((scale * 977 + i * 31) % (1 << 16)))).collect();
    let mut bits = vec![circuit.boolean(scale % 2 == 1), circuit.constant_bit(true)];
    for _ in 0..60 {
        let mut pick = || variables[rng.random_range(0..variables.len())];
        let (a, b, c, d) = (pick(), pick(), pick(), pick());
        let (x, y) = (words[rng.random_range(0..words.len())], words[rng.random_range(0..words.len())]);
        let (p, q) = (bits[rng.random_range(0..bits.len())], bits[rng.random_range(0..bits.len())]);
        let [k, l, m] = std::array::from_fn(|_| Fr::from(rng.random_range(0..4u64)));
        match rng.random_range(0..13) {
            0 => variables.push(circuit.add(a, b)),
            1 => variables.push(circuit.mul(a, b)),
            2 => variables.push(circuit.linear(&[(a, k), (b, l), (c, m), (d, k), (a, -l)], m)),
            3 => variables.push(circuit.quadratic((k, a, b), &[(c, l), (d, m)], k)),
            4 => variables.push(circuit.select(p, a, b)),
            5 => bits.push(circuit.is_equal(a, b)),
            6 => bits.push(circuit.bit_xor(p, q)),
            7 => bits.push(circuit.bit_or(p, q)),
            8 => words.push(circuit.xor(x, y, 16)),
            9 => words.push(circuit.and(x, y, 17)),
            10 => circuit.range(x, 16),
            11 => words.extend(circuit.decompose(x, 16, 5)),
            _ => variables.push(circuit.constant(k)),
        }
    }
    let last: Vec<_> =
        variables.iter().chain(&words).copied().chain(bits.iter().map(|bit| bit.variable())).collect();
    last.into_iter().for_each(|variable| _ = circuit.publish(variable));
}

#[test]
fn random_programs_agree() {
    for seed in 0..20 {
        let expected = satisfied(Arithmetisation::Standard, |circuit| random_program(circuit, seed, 3));
        for_each_arithmetisation(&expected.public_values(), |circuit| random_program(circuit, seed, 3));
    }
}

#[test]
fn every_variable_is_constrained_by_operations() {
    every_variable_is_constrained(|circuit| {
        let constants: Vec<_> = (3..14).map(|value| circuit.constant(Fr::from(value))).collect();
        let terms: Vec<_> = constants.iter().map(|constant| (*constant, circuit.value(*constant))).collect();
        for count in 2..terms.len() {
            circuit.linear(&terms[..count], Fr::ONE);
            circuit.quadratic((Fr::from(2), constants[0], constants[1]), &terms[2..count], Fr::ONE);
            circuit.quadratic((Fr::from(2), constants[1], constants[1]), &terms[..count], Fr::ONE);
        }
        let [no, yes] = [false, true].map(|value| circuit.constant_bit(value));
        for (a, b) in [(no, no), (no, yes), (yes, no), (yes, yes)] {
            circuit.bit_and(a, b);
            circuit.bit_or(a, b);
            circuit.bit_xor(a, b);
            circuit.bit_not(a);
        }
        circuit.select(yes, constants[0], constants[1]);
        circuit.select(no, constants[0], constants[1]);
        circuit.is_equal(constants[0], constants[1]);
        circuit.assert_different(constants[0], constants[1]);
        circuit.decompose(constants[5], 9, 3);
    });
}

#[test]
fn rows_do_not_depend_on_values() {
    for (seed, arithmetisation) in (0..10).flat_map(|seed| Arithmetisation::ALL.map(|each| (seed, each))) {
        let [one, other, zero] = [3, 40, 0]
            .map(|scale| satisfied(arithmetisation, |circuit| random_program(circuit, seed, scale)));
        assert_eq!(one.layout(), other.layout());
        assert_eq!(one.layout(), zero.layout());
        assert_ne!(one.values(), other.values());
    }
}
