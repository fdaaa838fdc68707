//! Ranges, digits, AND and XOR against integers.

use super::*;

/// Values around the limits of `bits` bits (at most 62), inside and outside.
fn edges(bits: u32) -> Vec<u64> {
    let top = 1u64 << bits;
    let mut values = vec![0, 1, top / 2, top - 1, top, top + 1, 2 * top, u64::MAX];
    values.dedup();
    values
}

#[test]
fn ranges_are_those_of_integers() {
    for bits in (0..=18).chain([31, 32, 33, 62]) {
        for value in edges(bits) {
            let program = |circuit: &mut Circuit| {
                let variable = circuit.witness(value.into());
                circuit.range(variable, bits);
            };
            if value >> bits == 0 {
                for_each_arithmetisation(&[], program);
            } else {
                refused_by_each_arithmetisation(program);
            }
        }
    }
}

#[test]
fn words_are_those_of_integers() {
    for bits in (1..=14).chain([31, 32, 33]) {
        let mut values = edges(bits);
        values.truncate(5);
        for (&a, &b) in values.iter().flat_map(|a| values.iter().map(move |b| (a, b))) {
            let program = |circuit: &mut Circuit| {
                let [a, b] = [a, b].map(|value| circuit.witness(value.into()));
                let and = circuit.and(a, b, bits);
                let xor = circuit.xor(a, b, bits);
                circuit.publish(and);
                circuit.publish(xor);
            };
            if (a | b) >> bits == 0 {
                for_each_arithmetisation(&[(a & b).into(), (a ^ b).into()], program);
            } else {
                refused_by_each_arithmetisation(program);
            }
        }
    }
}

#[test]
fn the_widest_range_contains_no_negative_number() {
    let most = Circuit::MAX_BITS;
    let largest = super::range::power_of_two(most) - Fr::ONE;
    for bits in [most, most - 1, 128] {
        let fits = super::range::power_of_two(bits) - Fr::ONE;
        for_each_arithmetisation(&[], |circuit| {
            let variable = circuit.witness(fits);
            circuit.range(variable, bits);
        });
        for wrong in [fits + Fr::ONE, -Fr::ONE, largest + Fr::ONE] {
            refused_by_each_arithmetisation(|circuit| {
                let variable = circuit.witness(wrong);
                circuit.range(variable, bits);
            });
        }
    }
}

#[test]
fn digits_are_those_of_integers() {
    let value = 0x0123_4567_89ab_cdefu64;
    for (bits, digit) in [(57u32, 1u32), (57, 4), (60, 13), (57, 20), (57, 57), (61, 100)] {
        let count = if bits <= digit { 1 } else { bits.div_ceil(digit) };
        let mask = if digit >= 64 { u64::MAX } else { (1 << digit) - 1 };
        let expected: Vec<_> = (0..count).map(|i| Fr::from(value >> (i * digit) & mask)).collect();
        for_each_arithmetisation(&expected, |circuit| {
            let variable = circuit.witness(Fr::from(value));
            let digits = circuit.decompose(variable, bits, digit);
            digits.into_iter().for_each(|digit| _ = circuit.publish(digit));
        });
        refused_by_each_arithmetisation(|circuit| {
            let variable = circuit.witness(Fr::from(value | 1 << 62));
            circuit.decompose(variable, bits, digit);
        });
    }
}

#[test]
fn one_word_as_both_operands() {
    for bits in [2, 7, 16] {
        for_each_arithmetisation(&[Fr::from(3), Fr::ZERO], |circuit| {
            let a = circuit.witness(Fr::from(3));
            let and = circuit.and(a, a, bits);
            let xor = circuit.xor(a, a, bits);
            circuit.publish(and);
            circuit.publish(xor);
        });
    }
}

#[test]
fn every_variable_of_words_is_constrained() {
    for bits in [1, 2, 3, 8, 13, 14, 29] {
        every_variable_is_constrained(|circuit| {
            let variable = circuit.witness(Fr::ONE);
            circuit.range(variable, bits);
            circuit.assert_constant(variable, Fr::ONE);
        });
        every_variable_is_constrained(|circuit| {
            let [a, b] = [1, 1].map(|value| circuit.witness(Fr::from(value)));
            circuit.assert_constant(a, Fr::ONE);
            circuit.assert_constant(b, Fr::ONE);
            circuit.and(a, b, bits);
            circuit.xor(a, b, bits);
        });
    }
}

#[test]
fn rows_of_words() {
    let rows = |program: &dyn Fn(&mut Circuit, Variable, Variable)| {
        for_each_arithmetisation(&[], |circuit| {
            let [a, b] = [77, 99].map(|value| circuit.witness(Fr::from(value)));
            program(circuit, a, b);
        })
    };
    assert_eq!(rows(&|circuit, a, b| _ = circuit.mul_add(a, b, a)), [1, 1, 1], "a is a factor");
    assert_eq!(rows(&|circuit, a, _| _ = circuit.is_zero(a)), [2, 2, 2]);
    let selection = |circuit: &mut Circuit, a, b| {
        let bit = circuit.boolean(true);
        circuit.select(bit, a, b);
    };
    assert_eq!(rows(&selection), [4, 3, 3], "with the bit's own row");
    // One of these rows is the constant zero.
    assert_eq!(rows(&|circuit, a, _| circuit.range(a, 8)), [11, 3, 2]);
    assert_eq!(rows(&|circuit, a, _| circuit.range(a, 32)), [47, 6, 4]);
    assert_eq!(rows(&|circuit, a, _| circuit.range(a, 64)), [95, 10, 6]);
    assert_eq!(rows(&|circuit, a, _| circuit.range(a, 128)), [191, 18, 11]);
    assert_eq!(rows(&|circuit, a, b| _ = circuit.and(a, b, 32)), [189, 18, 7]);
    assert_eq!(rows(&|circuit, a, b| _ = circuit.xor(a, b, 32)), [189, 18, 7]);
}
