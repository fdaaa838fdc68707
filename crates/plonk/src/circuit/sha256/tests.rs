//! SHA-256 against NIST's test vectors and another implementation; words out of range; values changed one at
//! a time.

use super::{Functions, tables::SpreadTables, words::LogicGates, *};
use crate::{
    Layout, check_layout,
    circuit::tests::{for_each_arithmetisation, refused_by_each_arithmetisation},
};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{RngCore, SeedableRng},
};
use sha2::{Digest, Sha256};

fn elements(bytes: &[u8]) -> Vec<Fr> {
    bytes.iter().map(|byte| Fr::from(u64::from(*byte))).collect()
}

fn hashed(circuit: &mut Circuit, message: &[u8]) {
    let message: Vec<Variable> = elements(message).into_iter().map(|byte| circuit.witness(byte)).collect();
    for byte in circuit.sha256(&message) {
        circuit.publish(byte);
    }
}

#[test]
fn nist_agrees() {
    let answers = include_str!("../../../tests/data/sha256.rsp");
    let fields = |name: &str| {
        let name = format!("{name} = ");
        answers.lines().filter_map(move |line| line.strip_prefix(&name).map(str::to_owned))
    };
    let mut cases = 0;
    for ((length, message), digest) in fields("Len").zip(fields("Msg")).zip(fields("MD")) {
        let mut message = hex::decode(&message).unwrap();
        message.truncate(length.parse::<usize>().unwrap() / 8);
        for_each_arithmetisation(&elements(&hex::decode(&digest).unwrap()), |circuit| {
            hashed(circuit, &message)
        });
        cases += 1;
    }
    assert_eq!(cases, 7);
}

#[test]
fn random_messages_agree_with_another_implementation() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for length in [1, 54, 63, 64, 119, 120] {
        let mut message = vec![0; length];
        rng.fill_bytes(&mut message);
        let digest = elements(&Sha256::digest(&message));
        let mut circuit = Circuit::new(Arithmetisation::Ultra);
        hashed(&mut circuit, &message);
        circuit.check().unwrap();
        assert_eq!(circuit.public_values(), digest, "{length} bytes");
    }
}

/// One compression. `change` may replace words.
fn compressed(circuit: &mut Circuit, change: impl Fn(usize, u64) -> u64) {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let mut word = |i| circuit.witness(Fr::from(change(i, u64::from(rng.next_u32()))));
    let state = std::array::from_fn(&mut word);
    let block = std::array::from_fn(|i| word(8 + i));
    circuit.sha256_compression(state, block);
}

#[test]
fn rows_are_as_documented() {
    let rows = for_each_arithmetisation(&[], |circuit| compressed(circuit, |_, word| word));
    let mut circuit = Circuit::new(Arithmetisation::Ultra);
    compressed(&mut circuit, |_, word| word);
    let table_rows = circuit.report().tables.iter().map(|table| table.rows).sum::<u64>();
    assert_eq!((rows, table_rows), ([42032, 14379, 3653], 9633));
    let digest = elements(&Sha256::digest([7; 64]));
    let rows = for_each_arithmetisation(&digest, |circuit| hashed(circuit, &[7; 64]));
    assert_eq!(rows, [85031, 29002, 7459], "two blocks, and bytes");
}

#[test]
fn words_out_of_range_are_refused() {
    for wrong in 0..24 {
        let change = |i, word| if i == wrong { word + (1 << 32) } else { word };
        refused_by_each_arithmetisation(|circuit| compressed(circuit, change));
    }
    refused_by_each_arithmetisation(|circuit| {
        let byte = circuit.witness(Fr::from(256));
        circuit.sha256(&[byte]);
    });
}

#[test]
fn carries_are_of_few_bits() {
    for (carries, holds) in [([7, 0], true), ([0, 7], true), ([32, 0], false), ([0, 32], false)] {
        fn program(circuit: &mut Circuit, functions: &mut impl Functions, carries: [u64; 2]) -> bool {
            let carries = carries.map(|carry| circuit.witness(Fr::from(carry)));
            functions.carries(circuit, carries);
            circuit.check().is_ok()
        }
        let mut circuits = Arithmetisation::ALL.map(Circuit::new);
        let [standard, turbo, ultra] = &mut circuits;
        assert_eq!(program(standard, &mut Bits, carries), holds, "{carries:?}");
        assert_eq!(program(turbo, &mut LogicGates::default(), carries), holds, "{carries:?}");
        let mut tables = SpreadTables::new(ultra);
        assert_eq!(program(ultra, &mut tables, carries), holds, "{carries:?}");
    }
}

/// `2^k r = (2^32 - 1) l + x` also holds for r = 2^32 - 1, l = 2^k and x = 0.
#[test]
fn zero_rotates_to_zero_only() {
    let all = Fr::from(u64::from(u32::MAX));
    for rotation in 1..32 {
        let mut circuit = Circuit::new(Arithmetisation::Turbo);
        let x = circuit.witness(Fr::ZERO);
        let rotated = LogicGates::rotated(&mut circuit, x, rotation);
        let low = rotated.index() + 1;
        let (layout, mut values) = circuit.into_layout();
        check_layout(&layout, &values).unwrap();
        let (zero, ones) = if rotation <= 16 { (x, rotated) } else { (rotated, x) };
        values[zero.index()] = Fr::ZERO;
        values[ones.index()] = all;
        let bits = rotation.min(32 - rotation).next_multiple_of(2);
        values[low] = power_of_two(bits);
        assert!(check_layout(&layout, &values).is_err(), "{rotation}");
    }
}

fn layout_of_one(arithmetisation: Arithmetisation) -> (Layout, Vec<Fr>) {
    let mut circuit = Circuit::new(arithmetisation);
    compressed(&mut circuit, |_, word| word);
    circuit.into_layout()
}

/// Samples the variables, because each takes a check of all rows.
#[test]
fn every_variable_is_bound() {
    for arithmetisation in Arithmetisation::ALL {
        let (layout, values) = layout_of_one(arithmetisation);
        check_layout(&layout, &values).unwrap();
        let step = values.len() / 60;
        for variable in (1..values.len()).step_by(step) {
            for change in [Fr::ONE, -Fr::ONE, power_of_two(32)] {
                let mut values = values.clone();
                values[variable] += change;
                assert!(check_layout(&layout, &values).is_err(), "{arithmetisation}: variable {variable}");
            }
        }
    }
}
