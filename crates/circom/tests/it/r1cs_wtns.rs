//! Circuits and witnesses are read and rewritten; errors of malformed ones.

use proofmill_circom::{BinFile, CircomError, R1cs, R1csFile, read_witness, write_r1cs, write_witness};
use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    bn254::{Fr, FrParams},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

#[test]
fn the_toy_circuit_holds_for_its_witness() {
    let r1cs = <R1cs>::open(&data("circuit.r1cs")).unwrap();
    assert_eq!((r1cs.header.wires, r1cs.header.public(), r1cs.header.constraints), (7, 2, 5));
    // -x * x = 1 - s1, with x on wire 2 and s1 on wire 3.
    assert_eq!(r1cs.a.row(0).collect::<Vec<_>>(), [(2, -Fr::ONE)]);
    assert_eq!(r1cs.b.row(0).collect::<Vec<_>>(), [(2, Fr::ONE)]);
    assert_eq!(r1cs.c.row(0).collect::<Vec<_>>(), [(0, Fr::ONE), (3, -Fr::ONE)]);
    for level in proofmill_field::prime_field_levels() {
        let mut witness = read_witness::<FrParams>(&data("witness.wtns"), level).unwrap();
        assert_eq!(witness[2], Fr::from(3));
        assert_eq!(r1cs.first_unsatisfied(&witness), None);
        witness[5] += Fr::ONE;
        assert_eq!(r1cs.first_unsatisfied(&witness), Some(2));
    }
}

#[test]
fn rewritten_files_are_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("rewritten");
    let witness = read_witness::<FrParams>(&data("witness.wtns"), Level::best()).unwrap();
    write_witness(&target, &witness).unwrap();
    assert_eq!(fs::read(&target).unwrap(), fs::read(data("witness.wtns")).unwrap());

    let r1cs = <R1cs>::open(&data("circuit.r1cs")).unwrap();
    write_r1cs(&target, &r1cs).unwrap();
    assert_eq!(<R1cs>::open(&target).unwrap(), r1cs);
    let ours = BinFile::open(&target).unwrap();
    let circoms = BinFile::open(&data("circuit.r1cs")).unwrap();
    assert_eq!(ours.sections(), circoms.sections());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// `o <== a * a` of circom 2.2.3, with a private input of eight values that no constraint has, and which have no wires.
#[test]
fn unused_private_inputs_have_no_wires() {
    let r1cs = <R1cs>::open(&data("unused.r1cs")).unwrap();
    assert_eq!((r1cs.header.wires, r1cs.header.private_inputs), (3, 9));
    assert_eq!(r1cs.first_unsatisfied(&[1, 9, 3].map(Fr::from)), None);
    assert_eq!(r1cs.first_unsatisfied(&[1, 8, 3].map(Fr::from)), Some(0));
    let file = <R1csFile>::open(&data("unused.r1cs")).unwrap();
    assert_eq!(*file.header(), r1cs.header);
}

#[test]
fn another_kind_of_file_is_named() {
    let error = <R1cs>::open(&data("witness.wtns")).unwrap_err();
    assert!(matches!(error, CircomError::Kind { .. }));
    assert!(error.to_string().ends_with("witness.wtns: expected r1cs, found wtns"), "{error}");
}
