//! Circuits built in Rust: their proofs verify in every arithmetisation and memory mode and with both lookup
//! arguments, and every part is bound.

use proofmill_cpu::Level;
use proofmill_field::{Algebra, Field, bn254::Fr};
use proofmill_plonk::{
    Arithmetisation, Circuit, Column, FixedColumns, Layout, LookupArgument, Memory, PlonkError, Proof,
    ProveOptions, ProvingKey, Selector, Unsatisfied, Variable, VerifyError, prove, prove_with_rng, verify,
};
use proofmill_run::Run;
use proofmill_srs::Srs;
use proofmill_testing::{for_each_level, for_each_pool};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use std::{
    path::Path,
    sync::{Arc, LazyLock, Mutex},
};

static SRS: LazyLock<Arc<Srs>> = LazyLock::new(|| {
    Arc::new(Srs::insecure_from_known_tau(Level::best(), Fr::from(0x1234_5678_9abc), 1 << 10))
});

fn selector(selector: Selector, value: Fr) -> (Column, Fr) {
    (Column::Selector(selector), value)
}

/// Public inputs: `x`, and the result of applying `x^3 + 5` `rounds` times.
fn cubes(arithmetisation: Arithmetisation, rounds: usize) -> Circuit {
    let mut circuit = Circuit::new(arithmetisation);
    let none = Variable::NONE;
    let mut x = circuit.public_input(Fr::from(3));
    let mut values = vec![];
    for _ in 0..rounds {
        let value = circuit.value(x);
        values.push(value);
        let square = circuit.witness(value.square());
        let next = circuit.witness(value.square() * value + Fr::from(5));
        let product = [selector(Selector::Product, Fr::ONE), selector(Selector::Wire(2), -Fr::ONE)];
        circuit.row([x, x, square, none], &product);
        let with_constant = [product[0], product[1], selector(Selector::Constant, Fr::from(5))];
        circuit.row([square, x, next, none], &with_constant);
        x = next;
    }
    let result = circuit.public_input(circuit.value(x));
    circuit.row(
        [x, result, none, none],
        &[selector(Selector::Wire(0), Fr::ONE), selector(Selector::Wire(1), -Fr::ONE)],
    );
    circuit
}

/// Sums that use the next row, and lookups of (a, b, a ^ b) in a table of four-bit words.
fn lookups(argument: LookupArgument) -> (Layout, Vec<Fr>) {
    let mut circuit = Circuit::new(Arithmetisation::Ultra);
    let zero = circuit.witness(Fr::ZERO);
    let none = Variable::NONE;
    circuit.row([zero, none, none, none], &[selector(Selector::Wire(0), Fr::ONE)]);
    for (a, b) in [(1u64, 2u64), (15, 15), (7, 9), (7, 9), (0, 0), (12, 10)] {
        let [a, b, c] = [a, b, a ^ b].map(|value| circuit.witness(Fr::from(value)));
        circuit.row([a, b, c, zero], &[selector(Selector::Lookup, Fr::ONE), (Column::Data(3), Fr::from(2))]);
    }
    // 21 = 5 + 16 as digits of a running sum: 21 - 16 * 1 is looked up in the first column of table 1.
    let [whole, rest] = [21u64, 1].map(|value| circuit.witness(Fr::from(value)));
    let digits =
        [selector(Selector::Lookup, Fr::ONE), (Column::Data(0), -Fr::from(16)), (Column::Data(3), Fr::ONE)];
    circuit.row([whole, zero, zero, zero], &digits);
    circuit.row([rest, none, none, none], &[]);
    let public = circuit.public_input(Fr::from(21));
    circuit.row(
        [public, whole, none, none],
        &[selector(Selector::Wire(0), Fr::ONE), selector(Selector::Wire(1), -Fr::ONE)],
    );
    let mut layout = circuit.layout();
    let mut columns: [Vec<Fr>; 4] = Default::default();
    for value in 0..16u64 {
        [value, 0, 0, 1].into_iter().zip(&mut columns).for_each(|(value, column)| column.push(value.into()));
    }
    for (a, b) in (0..16u64).flat_map(|a| (0..16).map(move |b| (a, b))) {
        [a, b, a ^ b, 2].into_iter().zip(&mut columns).for_each(|(value, column)| column.push(value.into()));
    }
    for (index, column) in (0..).zip(columns) {
        layout.fixed.insert(Column::TableColumn(index), column);
    }
    layout.lookup = Some(argument);
    (layout, circuit.values().to_vec())
}

fn key(layout: &Layout, memory: Memory) -> ProvingKey {
    key_in(layout, memory, None)
}

fn key_in(layout: &Layout, memory: Memory, scratch: Option<&Path>) -> ProvingKey {
    let run = Run { memory: Some(memory), scratch, ..Level::best().into() };
    let columns = FixedColumns::new(run, layout.clone()).expect("columns");
    columns.commit(Level::best().into(), SRS.clone()).expect("a key")
}

fn seeded(level: Level, key: &ProvingKey, values: &[Fr], seed: u64) -> Result<(Proof, Vec<Fr>), PlonkError> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    prove_with_rng(level.into(), key, values, ProveOptions::default(), &mut rng)
}

/// A circuit of each kind.
fn circuits() -> Vec<(String, Layout, Vec<Fr>)> {
    let mut all = Vec::new();
    for arithmetisation in Arithmetisation::ALL {
        let circuit = cubes(arithmetisation, 20);
        all.push((arithmetisation.to_string(), circuit.layout(), circuit.values().to_vec()));
    }
    for argument in LookupArgument::ALL {
        let (layout, values) = lookups(argument);
        all.push((argument.to_string(), layout, values));
    }
    all
}

#[test]
fn proofs_verify_and_bind_public_inputs_and_key() {
    for (name, layout, values) in circuits() {
        let key = key(&layout, Memory::Balanced);
        let (proof, public) = prove(Level::best().into(), &key, &values, ProveOptions::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let verifying_key = key.verifying_key();
        assert_eq!(verify(Level::best(), verifying_key, &public, &proof), Ok(()), "{name}");
        let mut other = public.clone();
        other[0] += Fr::ONE;
        assert_eq!(
            verify(Level::best(), verifying_key, &other, &proof),
            Err(VerifyError::Rejected),
            "{name}"
        );
        for index in 0..proof.evaluations.len() {
            let mut changed = proof.clone();
            changed.evaluations[index] += Fr::ONE;
            assert_eq!(
                verify(Level::best(), verifying_key, &public, &changed),
                Err(VerifyError::Rejected),
                "{name}, value {index}"
            );
        }
        for index in 0..verifying_key.fixed.len() {
            let mut changed = verifying_key.clone();
            changed.fixed[index] = proof.opening;
            assert_eq!(
                verify(Level::best(), &changed, &public, &proof),
                Err(VerifyError::Rejected),
                "{name}, column {index}"
            );
        }
    }
}

#[test]
fn one_proof_at_every_level_number_of_threads_and_memory_mode() {
    let folder = tempfile::tempdir().expect("a folder");
    let places = [None, Some(folder.path())];
    let storages: Vec<_> =
        Memory::ALL.into_iter().flat_map(|memory| places.map(|scratch| (memory, scratch))).collect();
    for (name, layout, values) in circuits() {
        let first = Mutex::new(None);
        for &(memory, scratch) in &storages {
            let key = key_in(&layout, memory, scratch);
            for_each_pool(&[1, 2, 5], |_| {
                for_each_level(|level| {
                    let (proof, _) = seeded(level, &key, &values, 1).expect("a proof");
                    let mut first = first.lock().expect("not poisoned");
                    assert_eq!(
                        *first.get_or_insert(proof.clone()),
                        proof,
                        "{name} at {level}, {memory}, {scratch:?}"
                    );
                });
            });
        }
    }
}

#[test]
fn scratch_files_that_cannot_be_created_are_an_error() {
    let (_, layout, values) = circuits().swap_remove(0);
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("missing");
    let error = FixedColumns::new(
        Run { memory: Some(Memory::Low), scratch: Some(&missing), ..Level::best().into() },
        layout.clone(),
    )
    .map(|_| ())
    .expect_err("no folder")
    .to_string();
    assert!(error.contains("missing: cannot keep") && error.lines().count() == 1, "{error}");

    // The folder is removed between the key and the proof.
    let key = key_in(&layout, Memory::Low, Some(folder.path()));
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 0, "files have no names");
    folder.close().expect("removed");
    let error = seeded(Level::best(), &key, &values, 1).expect_err("no folder");
    assert!(matches!(error, PlonkError::Scratch { .. }), "{error}");
}

#[test]
fn two_proofs_share_no_point_or_value() {
    for (name, layout, values) in circuits() {
        let key = key(&layout, Memory::Fast);
        let [one, two] = [1, 2].map(|seed| seeded(Level::best(), &key, &values, seed).expect("a proof").0);
        for (left, right) in one.points().iter().zip(two.points()) {
            assert!(!left.is_infinity() && *left != right, "{name}");
        }
    }
}

#[test]
fn a_lookup_outside_the_tables_is_reported() {
    for argument in LookupArgument::ALL {
        let (layout, mut values) = lookups(argument);
        let key = key(&layout, Memory::Low);
        let place = values.iter().position(|value| *value == Fr::from(6)).expect("12 ^ 10");
        values[place] += Fr::ONE;
        let error = seeded(Level::best(), &key, &values, 1).expect_err("refused");
        assert!(matches!(error, PlonkError::Unsatisfied(Unsatisfied::Lookup { row: 7, .. })), "{error}");
    }
}

#[test]
fn an_unsatisfied_gate_is_reported() {
    for arithmetisation in Arithmetisation::ALL {
        let circuit = cubes(arithmetisation, 20);
        let mut values = circuit.values().to_vec();
        let last = values.len() - 2;
        values[last] += Fr::ONE;
        let key = key(&circuit.layout(), Memory::Balanced);
        let error = seeded(Level::best(), &key, &values, 1).expect_err("refused");
        assert!(matches!(error, PlonkError::Unsatisfied(Unsatisfied::Gate { row: 41, .. })), "{error}");
        let gate = arithmetisation.arithmetic().name();
        let row = format!("the witness does not satisfy row 41: constraint 0 of gate {gate} does not hold");
        for (message, cells) in [(format!("{error}"), " for w1, w2"), (format!("{error:#}"), " with w1 = ")] {
            assert!(
                message.starts_with(&format!("{row}{cells}")) && message.lines().count() == 1,
                "{message}"
            );
        }
    }
}
