//! Circuits in key files: reading returns what was written, and a changed byte is refused or gives another
//! circuit.

use crate::fixtures::r1cs;
use proofmill_circom::{BinFile, FileKind, describe};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve,
    bn254::{G1, G2},
};
use proofmill_field::{Field, bn254::Fr};
use proofmill_plonk::{
    Arithmetisation, CircuitKey, Column, Derivations, Layout, LookupArgument, Memory, PlonkError, Progress,
    ProvingKey, Selector, circuit_file, r1cs::layout,
};
use proofmill_run::Run;
use std::{fs, sync::Mutex};

/// The bytes of a key whose commitments and powers are arbitrary points.
fn bytes(layout: &Layout, derivations: &Derivations) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.key");
    let file = circuit_file::create(&path, layout, derivations, G2::GENERATOR, false).expect("a file");
    let commitments = vec![G1::GENERATOR; layout.fixed.len() + layout.wires as usize];
    let powers = vec![G1::GENERATOR; layout.rows() + 6];
    file.finish(&commitments, |out| out.points(&powers)).expect("written");
    let description = describe(&path).expect("described");
    assert_eq!(description.kind, FileKind::Pmpk);
    assert!(description.counts.contains(&("rows", layout.rows() as u64)));
    assert!(description.sections.iter().all(|section| section.content != "unknown"));
    fs::read(&path).expect("made")
}

/// Reads everything that the prover reads.
fn read(bytes: Vec<u8>) -> Result<(Layout, Derivations, Vec<Affine<G1>>), PlonkError> {
    let key = CircuitKey::read(BinFile::from_bytes("changed.key", bytes)?)?;
    let (layout, derivations) = circuit_file::circuit(&key, Level::best())?;
    let mut points = key.commitments(Level::best())?;
    points.extend(key.powers(Level::best())?);
    Ok((layout, derivations, points))
}

fn circuit(arithmetisation: Arithmetisation) -> (Layout, Derivations) {
    layout(&r1cs("odd.r1cs"), arithmetisation).expect("rows")
}

#[test]
fn a_circuit_read_from_its_file_is_unchanged() {
    for arithmetisation in Arithmetisation::ALL {
        let (layout, derivations) = circuit(arithmetisation);
        assert!(!derivations.is_empty());
        let (read, read_derivations, points) = read(bytes(&layout, &derivations)).expect("a key");
        assert_eq!(read_derivations, derivations);
        assert_eq!(format!("{read:?}"), format!("{layout:?}"));
        assert!(points.iter().all(|point| *point == G1::GENERATOR));
    }
}

#[test]
fn columns_of_gates_and_tables_are_unchanged() {
    let (mut layout, derivations) = circuit(Arithmetisation::Ultra);
    layout.lookup = Some(LookupArgument::LogDerivative);
    for gate in proofmill_plonk::Gate::ALL.iter().filter(|gate| **gate > layout.gates[0]).collect::<Vec<_>>()
    {
        layout.gates.push(*gate);
        layout.fixed.insert(Column::Selector(Selector::Gate(*gate)), vec![Fr::ONE]);
    }
    layout.fixed.insert(Column::Selector(Selector::Lookup), vec![Fr::ZERO, Fr::ONE]);
    for index in 0..4 {
        layout.fixed.insert(Column::Data(index), vec![Fr::from(7); layout.rows()]);
        layout.fixed.insert(Column::TableColumn(index), (0..1000).map(Fr::from).collect());
    }
    let (read, ..) = read(bytes(&layout, &derivations)).expect("a key");
    assert_eq!(format!("{read:?}"), format!("{layout:?}"));
}

#[test]
fn a_key_with_too_few_powers_is_refused_before_its_domain_is_used() {
    // A table of a million rows beside a few rows of the circuit: columns of 2^20 values would be made from 4 bytes each.
    let (mut layout, derivations) = circuit(Arithmetisation::Ultra);
    layout.lookup = Some(LookupArgument::LogDerivative);
    layout.fixed.insert(Column::Selector(Selector::Lookup), vec![Fr::ONE]);
    layout.fixed.insert(Column::TableColumn(0), vec![Fr::ONE; 1 << 20]);
    let file = BinFile::from_bytes("long.key", bytes(&layout, &derivations)).expect("a container");
    let key = CircuitKey::read(file).expect("a key");
    let phases = Mutex::new(Vec::new());
    let observer = |phase| phases.lock().expect("phases").push(phase);
    let made = ProvingKey::of_circuit(
        Run { memory: Some(Memory::Fast), progress: Progress::new(&observer), ..Level::best().into() },
        &key,
    );
    assert!(matches!(made, Err(PlonkError::ShortReference { .. })), "{:?}", made.err());
    assert_eq!(*phases.lock().expect("phases"), ["read key"]);
}

#[test]
fn inconsistent_circuits_are_refused() {
    type Change = fn(&mut Layout);
    let changes: [(Change, &str); 7] = [
        (
            |layout| layout.lookup = Some(LookupArgument::Plookup),
            "expected no lookups in an arithmetisation of 3 wires",
        ),
        (|layout| layout.gates.push(proofmill_plonk::Gate::Range), "gates of an arithmetisation of 3 wires"),
        (|layout| layout.gates.clear(), "gates of an arithmetisation of 4 wires"),
        (
            |layout| layout.gates = vec![proofmill_plonk::Gate::Arithmetic],
            "gates of an arithmetisation of 4 wires",
        ),
        (
            |layout| drop(layout.fixed.insert(Column::Sigma(0), vec![Fr::ONE])),
            "expected a fixed column, found \"s1\"",
        ),
        (
            |layout| drop(layout.fixed.insert(Column::TableColumn(0), vec![Fr::ONE])),
            "expected a fixed column, found \"t1\"",
        ),
        (|layout| drop(layout.fixed.insert(Column::Data(0), vec![Fr::ONE; 5000])), "5000 values of d1 on "),
    ];
    for (change, expected) in changes {
        let standard = expected.contains("3 wires");
        let arithmetisation = if standard { Arithmetisation::Standard } else { Arithmetisation::Turbo };
        let (mut layout, derivations) = circuit(arithmetisation);
        assert!(layout.public > 0 && layout.rows() > 1);
        change(&mut layout);
        let message = read(bytes(&layout, &derivations)).expect_err("refused").to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn changed_and_truncated_files_are_refused_or_give_other_circuits() {
    let (layout, derivations) = circuit(Arithmetisation::Turbo);
    let bytes = bytes(&layout, &derivations);
    for length in 0..bytes.len() {
        assert!(read(bytes[..length].to_vec()).is_err(), "{length} bytes");
    }
    let (mut same, mut refused) = (0, 0);
    for position in 0..bytes.len() {
        for bit in [0, 3, 7] {
            let mut changed = bytes.clone();
            changed[position] ^= 1 << bit;
            match read(changed) {
                Err(error) => {
                    refused += 1;
                    assert!(!error.to_string().contains('\n'), "{error}");
                }
                Ok((read, read_derivations, points)) => {
                    let as_before =
                        format!("{read:?}") == format!("{layout:?}") && read_derivations == derivations;
                    same += usize::from(as_before && points.iter().all(|point| *point == G1::GENERATOR));
                }
            }
        }
    }
    // Every byte of the file has a meaning.
    assert_eq!(same, 0);
    assert!(refused > bytes.len(), "{refused}");
}
