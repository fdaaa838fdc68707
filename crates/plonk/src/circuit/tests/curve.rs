//! Grumpkin's gadgets against plain integers, and against provers who decompose otherwise.

use super::*;
use num_bigint::BigInt;
use proofmill_curve::{Affine, Curve, grumpkin::Grumpkin};
use proofmill_field::{Prime, bn254::FrParams};
use proofmill_hash::pedersen::{GENERATORS, ORIGIN, pedersen};
use proofmill_testing::{IntegerCurve, rng};

fn integer(x: Fr) -> BigInt {
    x.to_string().parse().expect("decimal digits")
}

fn coordinates(point: Affine<Grumpkin>) -> Option<[BigInt; 2]> {
    Some([point.x, point.y].map(integer))
}

/// `x + r`, if that is below 2^254.
fn wrapped(x: Fr) -> Option<[u64; 4]> {
    let mut carry = 0;
    let words = x.to_canonical();
    let sum = std::array::from_fn(|i| {
        let word = u128::from(words[i]) + u128::from(FrParams::MODULUS[i]) + carry;
        carry = word >> 64;
        word as u64
    });
    (sum[3] >> 62 == 0).then_some(sum)
}

/// r without its lowest bits and with others there.
fn near_modulus(shift: u32, low: Fr) -> Fr {
    range::window(&FrParams::MODULUS, shift, 254 - shift) * range::power_of_two(shift) + low
}

/// 0, 1, both sides of powers of two and of where prefixes begin to agree with those of r, and a few of anything.
fn scalars() -> Vec<Fr> {
    let power = range::power_of_two;
    let mut scalars = vec![Fr::ZERO, Fr::ONE, Fr::from(2), Fr::from(3), -Fr::ONE, -Fr::from(2), power(253)];
    for shift in [18, 63, 64, 70, 127, 128, 140, 191, 192, 210, 252] {
        let low_half = near_modulus(shift, Fr::ZERO);
        scalars.extend([
            power(shift),
            power(shift) - Fr::ONE,
            low_half,
            low_half - Fr::ONE,
            low_half + Fr::ONE,
        ]);
    }
    let mut rng = rng(4);
    scalars.extend((0..8).map(|_| Fr::random(&mut rng)));
    scalars
}

/// The point, if there is one, by plain integers.
fn reference(terms: &[(Fr, Affine<Grumpkin>)], origin: Option<Affine<Grumpkin>>) -> Option<[BigInt; 2]> {
    let curve = IntegerCurve::grumpkin();
    let multiples = terms.iter().map(|(scalar, base)| curve.multiply(&integer(*scalar), &coordinates(*base)));
    multiples.fold(origin.and_then(coordinates), |sum, multiple| curve.add(&sum, &multiple))
}

/// A circuit of one hash, and its output.
fn hash(arithmetisation: Arithmetisation, [a, b]: [Fr; 2]) -> (Circuit, Fr) {
    let mut circuit = Circuit::new(arithmetisation);
    let inputs = [circuit.public_input(a), circuit.public_input(b)];
    let output = circuit.pedersen(inputs[0], inputs[1]);
    let output = circuit.value(output);
    (circuit, output)
}

#[test]
fn pedersen_is_its_definition() {
    let scalars = scalars();
    for (index, a) in scalars.iter().enumerate() {
        let b = scalars[(7 * index + 3) % scalars.len()];
        let expected = pedersen(*a, b);
        for arithmetisation in Arithmetisation::ALL {
            let (circuit, output) = hash(arithmetisation, [*a, b]);
            assert_eq!(output, expected, "{arithmetisation}: {a}, {b}");
            // Checking Ultra means laying its tables out.
            if arithmetisation != Arithmetisation::Ultra || index % 4 == 0 {
                assert_eq!(circuit.check(), Ok(()), "{arithmetisation}: {a}, {b}");
            }
        }
        if index % 4 == 0 {
            let terms = [(*a, GENERATORS[0]), (b, GENERATORS[1])];
            assert_eq!(reference(&terms, Some(ORIGIN)).map(|[x, _]| x), Some(integer(expected)));
        }
    }
}

#[test]
fn pedersen_rows() {
    // What depends on the arithmetisation alone; tables and constants come once.
    let rows = Arithmetisation::ALL.map(|arithmetisation| {
        let mut circuit = Circuit::new(arithmetisation);
        let inputs = [circuit.witness(Fr::from(5)), circuit.witness(Fr::from(6))];
        circuit.pedersen(inputs[0], inputs[1]);
        let one = circuit.rows();
        circuit.pedersen(inputs[1], inputs[0]);
        circuit.rows() - one
    });
    assert_eq!(rows, [2653, 275, 68]);
}

#[test]
fn larger_windows_make_fewer_rows() {
    let mut rows = Vec::new();
    for bits in [4, 10, 13] {
        let mut circuit = Circuit::new(Arithmetisation::Ultra);
        circuit.set_window_bits(bits);
        let [a, b] = [Fr::from(5), -Fr::from(6)];
        let inputs = [a, b].map(|input| circuit.public_input(input));
        let output = circuit.pedersen(inputs[0], inputs[1]);
        assert_eq!(circuit.value(output), pedersen(a, b));
        assert_eq!(circuit.check(), Ok(()));
        let report = circuit.report();
        rows.push((report.gadgets[0].rows, report.tables.iter().map(|table| table.rows).sum::<u64>()));
    }
    assert_eq!(rows, [(142, 14_312), (68, 59_456), (54, 319_744)]);
}

#[test]
fn an_input_plus_the_modulus_is_refused() {
    // x + r is below 2^254 for x below 2^251 and somewhat above.
    let power = range::power_of_two;
    let inputs = [Fr::ZERO, Fr::ONE, power(64), power(128) - Fr::ONE, power(128), power(251)];
    for arithmetisation in Arithmetisation::ALL {
        for (place, input) in inputs.iter().enumerate() {
            let wrong = wrapped(*input).expect("a small input");
            let other = Fr::from(77);
            let values = if place % 2 == 0 { [*input, other] } else { [other, *input] };
            let mut integers = values.map(Fr::to_canonical);
            integers[place % 2] = wrong;
            let mut circuit = Circuit::new(arithmetisation);
            let variables = values.map(|value| circuit.witness(value));
            let output = circuit.pedersen_of_integers(variables, integers);
            // The sum is right for that integer: nothing but the comparison refuses it.
            let curve = IntegerCurve::grumpkin();
            let integers: [BigInt; 2] = integers.map(|words| {
                words.iter().rev().fold(BigInt::ZERO, |sum, word| (sum << 64) + BigInt::from(*word))
            });
            let multiple = |i: usize| curve.multiply(&integers[i], &coordinates(GENERATORS[i]));
            let sum = curve.add(&coordinates(ORIGIN), &curve.add(&multiple(0), &multiple(1)));
            assert_eq!(sum.map(|[x, _]| x), Some(integer(circuit.value(output))));
            assert_ne!(circuit.value(output), pedersen(values[0], values[1]));
            let refused = circuit.check().expect_err("an integer above the modulus").to_string();
            let expected = if arithmetisation == Arithmetisation::Standard { "arithmetic" } else { "any_of" };
            assert!(refused.contains(expected), "{arithmetisation}: {refused}");
        }
    }
}

/// Adds one to every `step`-th variable of a satisfied circuit in turn, and expects it to be refused.
fn assert_all_constrained(circuit: &Circuit, step: usize) {
    assert_eq!(circuit.check(), Ok(()));
    let layout = circuit.layout();
    for index in (1..circuit.values.len()).step_by(step) {
        let mut values = circuit.values.clone();
        values[index] += Fr::ONE;
        assert!(crate::check_layout(&layout, &values).is_err(), "variable {index}");
    }
}

#[test]
fn every_variable_of_a_hash_is_constrained() {
    for arithmetisation in Arithmetisation::ALL {
        let mut circuit = Circuit::new(arithmetisation);
        if arithmetisation == Arithmetisation::Ultra {
            circuit.set_window_bits(5);
            circuit.set_range_table_bits(8);
        }
        let inputs = [5, 6].map(|input| circuit.witness(Fr::from(input)));
        circuit.pedersen(inputs[0], inputs[1]);
        assert_all_constrained(&circuit, 1);
    }
}

#[test]
fn fixed_base_multiples_are_right() {
    let base = Grumpkin::GENERATOR.mul_words_vartime(&[12345]).to_affine();
    for arithmetisation in Arithmetisation::ALL {
        let width = if arithmetisation == Arithmetisation::Ultra { 6 } else { arithmetisation.window_bits() };
        let multiples = Multiples::with_window_bits(base, width);
        for scalar in scalars() {
            let mut circuit = Circuit::new(arithmetisation);
            let variable = circuit.witness(scalar);
            let product = circuit.mul_fixed_point(variable, &multiples);
            match reference(&[(scalar, base)], None) {
                Some(expected) => {
                    assert_eq!(coordinates(circuit.point_value(product)), Some(expected), "{scalar}");
                    assert_eq!(circuit.check(), Ok(()), "{arithmetisation}: {scalar}");
                }
                None => assert!(circuit.check().is_err(), "{scalar}"),
            }
        }
    }
}

#[test]
fn multiples_are_right() {
    let base = Grumpkin::GENERATOR.mul_words_vartime(&[54321]).to_affine();
    let rows = Arithmetisation::ALL.map(|arithmetisation| {
        let mut rows = 0;
        for scalar in scalars() {
            let mut circuit = Circuit::new(arithmetisation);
            let (variable, point) = (circuit.witness(scalar), circuit.point(base));
            let product = circuit.mul_point(variable, point);
            rows = circuit
                .report()
                .gadgets
                .iter()
                .find(|gadget| gadget.name == "multiplication")
                .map_or(0, |found| found.rows);
            match reference(&[(scalar, base)], None) {
                Some(expected) => {
                    assert_eq!(coordinates(circuit.point_value(product)), Some(expected), "{scalar}");
                    assert_eq!(circuit.check(), Ok(()), "{arithmetisation}: {scalar}");
                }
                None => assert!(circuit.check().is_err(), "{scalar}"),
            }
        }
        rows
    });
    assert_eq!(rows, [4516, 1167, 1164]);
}

#[test]
fn multiplication_by_a_scalar_plus_the_modulus_is_refused() {
    for arithmetisation in Arithmetisation::ALL {
        for scalar in [Fr::ONE, Fr::from(2), range::power_of_two(200)] {
            let mut circuit = Circuit::new(arithmetisation);
            let (variable, point) = (circuit.witness(scalar), circuit.point(Grumpkin::GENERATOR));
            let product = circuit.mul_by_integer(variable, wrapped(scalar).expect("a small scalar"), point);
            let right = reference(&[(scalar, Grumpkin::GENERATOR)], None);
            assert_ne!(coordinates(circuit.point_value(product)), right);
            let refused = circuit.check().expect_err("an integer above the modulus").to_string();
            let expected = if arithmetisation == Arithmetisation::Standard { "arithmetic" } else { "any_of" };
            assert!(refused.contains(expected), "{arithmetisation}: {refused}");
        }
    }
}

#[test]
fn variables_of_a_multiplication_are_constrained() {
    for (arithmetisation, step) in [(Arithmetisation::Standard, 13), (Arithmetisation::Turbo, 1)] {
        let mut circuit = Circuit::new(arithmetisation);
        let scalar = circuit.witness(Fr::from(1_000_003));
        let point = circuit.point(Grumpkin::GENERATOR);
        circuit.mul_point(scalar, point);
        assert_all_constrained(&circuit, step);
    }
}

#[test]
fn sums_of_points() {
    let [p, q] = [3u64, 10].map(|k| Grumpkin::GENERATOR.mul_words_vartime(&[k]).to_affine());
    let of = |k: u64| Grumpkin::GENERATOR.mul_words_vartime(&[k]).to_affine();
    let expected = [of(13).x, of(13).y, of(6).x, of(6).y, of(3).x, -of(3).y];
    let rows = for_each_arithmetisation(&expected, |circuit| {
        let [p, q] = [p, q].map(|point| circuit.point(point));
        let sum = circuit.add_points(p, q);
        let twice = circuit.double_point(p);
        let opposite = circuit.negate_point(p);
        for point in [sum, twice, opposite] {
            circuit.publish(point.x);
            circuit.publish(point.y);
        }
    });
    assert_eq!(rows, [25, 11, 11]);
    // Equal and opposite points have no sum here.
    refused_by_each_arithmetisation(|circuit| {
        let [first, second] = [p, p].map(|point| circuit.point(point));
        circuit.add_points(first, second);
    });
    refused_by_each_arithmetisation(|circuit| {
        let [first, second] = [p, -p].map(|point| circuit.point(point));
        circuit.add_points(first, second);
    });
    // Nor is a point off the curve one.
    refused_by_each_arithmetisation(|circuit| {
        circuit.point(Affine { x: p.x, y: p.y + Fr::ONE });
    });
    refused_by_each_arithmetisation(|circuit| {
        circuit.point(Affine::INFINITY);
    });
}

#[test]
fn workloads_have_the_rows_that_are_asked_for() {
    for arithmetisation in Arithmetisation::ALL {
        for gates in [0, 1, 4, 1000] {
            let mut circuit = Circuit::new(arithmetisation);
            crate::workload::arithmetic(&mut circuit, gates);
            assert_eq!(circuit.report().rows, gates);
            assert_eq!(circuit.check(), Ok(()));
        }
        let mut circuit = Circuit::new(arithmetisation);
        let last = crate::workload::pedersen(&mut circuit, 3);
        let expected = (0..3).fold(Fr::ONE, |hash, _| pedersen(hash, hash));
        assert_eq!(circuit.value(last), expected);
        assert_eq!(circuit.public_values(), [expected]);
        assert_eq!(circuit.check(), Ok(()));
    }
}
