//! Proofs of the builder's operations verify, and a witness that violates one constraint of one gate has no
//! proof.

use proofmill_cpu::Level;
use proofmill_field::{Field, Invert, bn254::Fr};
use proofmill_plonk::{
    Arithmetisation, Circuit, Column, FixedColumns, Gate, Layout, Memory, PlonkError, ProveOptions,
    ProvingKey, Selector, Unsatisfied, Variable, prove, verify,
};
use proofmill_run::Run;
use proofmill_srs::Srs;
use std::sync::{Arc, LazyLock};

static SRS: LazyLock<Arc<Srs>> = LazyLock::new(|| {
    Arc::new(Srs::insecure_from_known_tau(Level::best(), Fr::from(0x1234_5678_9abc), 1 << 10))
});

fn key(layout: Layout) -> ProvingKey {
    let columns = FixedColumns::new(Run { memory: Some(Memory::Balanced), ..Level::best().into() }, layout)
        .expect("columns");
    columns.commit(Level::best().into(), SRS.clone()).expect("a key")
}

/// Every operation once, with small tables.
fn operations(circuit: &mut Circuit) {
    circuit.set_range_table_bits(6);
    circuit.set_logic_table_bits(3);
    let x = circuit.public_input(Fr::from(0xabcd));
    let y = circuit.public_input(Fr::from(0x1234));
    circuit.range(x, 16);
    let (and, xor) = (circuit.and(x, y, 17), circuit.xor(x, y, 16));
    let digits = circuit.decompose(xor, 16, 5);
    let terms: Vec<_> =
        digits.iter().chain([&and, &x, &y]).map(|variable| (*variable, Fr::from(3))).collect();
    let sum = circuit.linear(&terms, Fr::from(7));
    let product = circuit.quadratic((Fr::from(2), sum, and), &terms, Fr::ONE);
    let same = circuit.is_equal(sum, product);
    let bits = circuit.bits(digits[0], 5);
    let bit = circuit.bit_or(same, bits[0]);
    let chosen = circuit.select(bit, sum, product);
    let inverse = circuit.inverse(chosen);
    circuit.publish(inverse);
}

#[test]
fn operations_are_proven() {
    for arithmetisation in Arithmetisation::ALL {
        let mut circuit = Circuit::new(arithmetisation);
        operations(&mut circuit);
        circuit.check().unwrap_or_else(|unsatisfied| panic!("{arithmetisation}: {unsatisfied}"));
        let expected = circuit.public_values();
        let (layout, values) = circuit.into_layout();
        let key = key(layout);
        let (proof, public) = prove(Level::best().into(), &key, &values, ProveOptions::default())
            .unwrap_or_else(|error| panic!("{arithmetisation}: {error}"));
        assert_eq!(public, expected, "{arithmetisation}");
        assert_eq!(verify(Level::best(), key.verifying_key(), &public, &proof), Ok(()), "{arithmetisation}");
    }
}

/// Two rows of these values; the first has a gate.
fn two_rows(gate: Gate, exclusive: bool, rows: [[Fr; 4]; 2]) -> Circuit {
    let mut circuit = Circuit::new(Arithmetisation::Turbo);
    let [here, next] = rows.map(|row| row.map(|value| circuit.witness(value)));
    let mut fixed = vec![(Column::Selector(Selector::Gate(gate)), Fr::ONE)];
    if exclusive {
        fixed.push((Column::Data(0), Fr::ONE));
    }
    circuit.row(here, &fixed);
    circuit.row(next, &[]);
    circuit.row([Variable::NONE; 4], &[]);
    circuit
}

fn range(digits: [u64; 4]) -> Circuit {
    let mut accumulators = [Fr::ZERO; 5];
    for (i, digit) in digits.into_iter().enumerate() {
        accumulators[i + 1] = accumulators[i] * Fr::from(4) + Fr::from(digit);
    }
    let [a0, a1, a2, a3, a4] = accumulators;
    two_rows(Gate::Range, false, [[a3, a2, a1, a0], [Fr::ZERO, Fr::ZERO, Fr::ZERO, a4]])
}

/// A row of two digits, their product and the result.
fn words([x, y, product, result]: [u64; 4], exclusive: bool) -> Circuit {
    let [x, y, product, result] = [x, y, product, result].map(Fr::from);
    let rows = [[Fr::ZERO, Fr::ZERO, product, Fr::ZERO], [x, y, Fr::ZERO, result]];
    two_rows(Gate::Logic, exclusive, rows)
}

#[test]
fn a_broken_constraint_has_no_proof() {
    // A circuit's key does not depend on its values, so one key serves valid and invalid witnesses.
    let ranges = [[4, 0, 0, 0], [0, 4, 0, 0], [0, 0, 7, 0], [0, 0, 0, 4]].map(range);
    let ands = [[4, 0, 0, 0], [0, 5, 0, 0], [3, 3, 9, 2], [1, 2, 2, 1]].map(|values| words(values, false));
    let xors = [[4, 0, 0, 4], [0, 5, 0, 5], [3, 3, 9, 1], [1, 2, 2, 0]].map(|values| words(values, true));
    let product = [[3, 1, 2], [0, 0, 1]].map(|[x, y, product]| {
        // The value of x AND y by its polynomial for this product: w (83 - 81 s + 45 w + 18 s^2 - 18 s w + 4
        // w^2) / 6.
        let (s, w) = (i64::from(x + y), i64::from(product));
        let sixfold = w * (83 - 81 * s + 45 * w + 18 * s * s - 18 * s * w + 4 * w * w);
        let magnitude = Fr::from(sixfold.unsigned_abs()) * Fr::from(6).invert_vartime().expect("not zero");
        let result = if sixfold < 0 { -magnitude } else { magnitude };
        let [x, y, product] = [x, y, product].map(|value: u32| Fr::from(u64::from(value)));
        let rows = [[Fr::ZERO, Fr::ZERO, product, Fr::ZERO], [x, y, Fr::ZERO, result]];
        two_rows(Gate::Logic, false, rows)
    });
    let cases = [
        (range([3, 1, 0, 2]), ranges.to_vec()),
        (words([3, 2, 6, 2], false), [&ands[..], &product[..]].concat()),
        (words([3, 2, 6, 1], true), xors.to_vec()),
    ];
    for (right, wrong) in cases {
        let key = key(right.layout());
        prove(Level::best().into(), &key, right.values(), ProveOptions::default()).expect("a proof");
        for wrong in wrong {
            assert_eq!(wrong.layout(), right.layout());
            let proven = |check_witness| {
                let options = ProveOptions { check_witness };
                prove(Level::best().into(), &key, wrong.values(), options).map(|_| ())
            };
            assert!(
                matches!(proven(true), Err(PlonkError::Unsatisfied(Unsatisfied::Gate { row: 0, .. }))),
                "named"
            );
            assert!(
                matches!(proven(false), Err(PlonkError::NotProven)),
                "the verifier refuses an unchecked proof"
            );
        }
    }
}
