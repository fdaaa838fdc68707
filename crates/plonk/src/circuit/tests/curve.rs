//! Grumpkin's gadgets against integer arithmetic, and against provers that use another decomposition.

use super::*;
use num_bigint::BigInt;
use proofmill_curve::{Affine, Curve, grumpkin::Grumpkin};
use proofmill_field::{Algebra, Prime, bn254::FrParams};
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

/// r with its lowest bits replaced.
fn near_modulus(shift: u32, low: Fr) -> Fr {
    range::window(&FrParams::MODULUS, shift, 254 - shift) * range::power_of_two(shift) + low
}

/// 0, 1, neighbours of powers of two and of values whose prefixes agree with those of r, and a few random
/// values.
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

/// The result by integer arithmetic; `None` for infinity.
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
fn pedersen_agrees_with_its_definition() {
    let scalars = scalars();
    for (index, a) in scalars.iter().enumerate() {
        let b = scalars[(7 * index + 3) % scalars.len()];
        let expected = pedersen(*a, b);
        for arithmetisation in Arithmetisation::ALL {
            let (circuit, output) = hash(arithmetisation, [*a, b]);
            assert_eq!(output, expected, "{arithmetisation}: {a}, {b}");
            // Checking in ultra lays out the tables, which is slow.
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
    // Only the rows that depend on the arithmetisation; tables and constants are counted once.
    let rows = Arithmetisation::ALL.map(|arithmetisation| {
        let mut circuit = Circuit::new(arithmetisation);
        let inputs = [circuit.witness(Fr::from(5)), circuit.witness(Fr::from(6))];
        circuit.pedersen(inputs[0], inputs[1]);
        let one = circuit.rows();
        circuit.pedersen(inputs[1], inputs[0]);
        circuit.rows() - one
    });
    assert_eq!(rows, [2543, 172, 53]);
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
    assert_eq!(rows, [(129, 2024), (53, 51_232), (41, 311_552)]);
}

/// The digits represent exactly the integers below r: the lower windows represent any integer below 2^R, and
/// the top window has values from 0 to r - 2^R in steps of at most 2^R.
#[test]
fn windows_represent_the_integers_below_the_modulus() {
    let integer_of = |x: &Fr| integer(*x);
    let modulus = integer(-Fr::ONE) + 1;
    for width in 2..=16 {
        let multiples = Multiples::with_window_bits(Grumpkin::GENERATOR, width);
        let below = BigInt::from(1) << (width * (multiples.windows() as u32 - 1));
        // The keys of the top window's table are its values.
        let tops: Vec<BigInt> = multiples.tables()[0].iter().map(|row| integer_of(&row[0])).collect();
        assert_eq!((tops.first(), tops.last()), (Some(&BigInt::ZERO), Some(&(&modulus - &below))), "{width}");
        assert!(tops.windows(2).all(|pair| pair[0] < pair[1] && &pair[1] - &pair[0] <= below), "{width}");
        for (window, table) in multiples.tables().iter().enumerate().skip(1) {
            let keys = table.iter().map(|row| row[0]);
            assert!(keys.eq((0..1 << width).map(|digit: u64| Fr::from(digit))), "{width}: {window}");
        }
        // Each point is half of an odd multiple of the base; the odd numbers add up to twice the integer
        // minus r - 1.
        let curve = IntegerCurve::grumpkin();
        let twice = |row: &[Fr; 3]| {
            curve.multiply(&BigInt::from(2), &Some([integer_of(&-row[1]), integer_of(&row[2])]))
        };
        // Only the upper half of the digits.
        let odd = |window: usize, digit: usize| match window {
            0 => &tops[digit] * 2 - &tops[tops.len() - 1],
            _ => BigInt::from(2 * digit as i64 + 1 - (1 << width)) << (width * (window as u32 - 1)),
        };
        for window in [0, 1, multiples.windows() - 1] {
            let table = &multiples.tables()[window];
            for digit in [table.len() / 2, table.len() - 1] {
                let expected = curve.multiply(&odd(window, digit), &coordinates(Grumpkin::GENERATOR));
                assert_eq!(twice(&table[digit]), expected, "{width}: {window}, {digit}");
                let [_, x, y] = table[table.len() - 1 - digit];
                assert_eq!([x, -y], table[digit][1..], "{width}: {window}, {digit}");
            }
        }
    }
}

/// The equations of a row of turbo hold for the eight (or four) points of a window with their own odd numbers
/// only.
#[test]
fn conics_distinguish_the_multiples() {
    let multiples = Multiples::new(GENERATORS[0], Arithmetisation::Turbo);
    for (window, [first, second, third]) in multiples.conics().iter().enumerate() {
        let points: Vec<(Fr, Affine<Grumpkin>)> = multiples.odd_points(window).collect();
        assert_eq!(points.len(), if window == 0 { 4 } else { 8 });
        for (odd, _) in &points {
            let u = odd.square();
            for (own, Affine { x, y }) in &points {
                let value = |pivot: Fr, [m1, m2, m3, m4]: &[Fr; 4]| {
                    pivot + *m1 * u.square() + *m2 * *x + *m3 * u + *m4
                };
                let values = [value(x.square(), first), value(u * *x, second), value(*odd * *y, third)];
                assert_eq!(values.iter().all(Fr::is_zero), odd == own, "window {window}");
            }
        }
    }
}

/// Adds one to every `step`-th variable of a satisfied circuit in turn, and expects each change to be
/// refused.
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
    // Equal and opposite points are refused.
    refused_by_each_arithmetisation(|circuit| {
        let [first, second] = [p, p].map(|point| circuit.point(point));
        circuit.add_points(first, second);
    });
    refused_by_each_arithmetisation(|circuit| {
        let [first, second] = [p, -p].map(|point| circuit.point(point));
        circuit.add_points(first, second);
    });
    // So is a point that is not on the curve.
    refused_by_each_arithmetisation(|circuit| {
        circuit.point(Affine { x: p.x, y: p.y + Fr::ONE });
    });
    refused_by_each_arithmetisation(|circuit| {
        circuit.point(Affine::INFINITY);
    });
}

#[test]
fn workloads_have_the_requested_rows() {
    for arithmetisation in Arithmetisation::ALL {
        for gates in [0, 1, 4, 1000] {
            let mut circuit = Circuit::new(arithmetisation);
            crate::circuit::workload::arithmetic(&mut circuit, gates);
            assert_eq!(circuit.report().rows, gates);
            assert_eq!(circuit.check(), Ok(()));
        }
        let mut circuit = Circuit::new(arithmetisation);
        let last = crate::circuit::workload::pedersen(&mut circuit, 3);
        let expected = (0..3).fold(Fr::ONE, |hash, _| pedersen(hash, hash));
        assert_eq!(circuit.value(last), expected);
        assert_eq!(circuit.public_values(), [expected]);
        assert_eq!(circuit.check(), Ok(()));
    }
}
