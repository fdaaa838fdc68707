//! Ranges, digits, AND and XOR against integers.

use super::*;

/// Values about the edges of `bits` bits (at most 62), within and without.
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
