//! Setup writes snarkjs's bytes at every level and number of threads, and its keys prove.

use proofmill_circom::{
    Groth16Zkey, Ptau, PtauHeader, PtauPoints, PtauWriter, R1cs, R1csHeader, SparseMatrix, read_witness,
};
use proofmill_cpu::Level;
use proofmill_curve::{Curve, bls12_381, bn254::G1};
use proofmill_field::{Field, bn254::Fr};
use proofmill_groth16::{Groth16Error, prove, setup, verify, verifying_key};
use proofmill_testing::{for_each_level, for_each_pool};
use std::{fs, path::PathBuf};

fn path(relative: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", relative].iter().collect()
}

fn powers() -> Ptau {
    Ptau::open(&path("examples/membership-small/pot8.ptau")).unwrap()
}

/// Circuits, and their keys from `snarkjs groth16 setup` 0.7.6 with pot8.ptau.
const CIRCUITS: [[&str; 2]; 3] = [
    ["crates/circom/tests/data/circuit.r1cs", "toy.zkey"],
    ["crates/plonk/tests/data/odd.r1cs", "odd.zkey"],
    ["examples/membership-small/circuit.r1cs", "membership-small.zkey"],
];

#[test]
fn keys_are_snarkjss_byte_for_byte() {
    for_each_pool(&[1, 2, 5], |threads| {
        for_each_level(|level| {
            for [circuit, expected] in CIRCUITS {
                let folder = tempfile::tempdir().unwrap();
                let zkey = folder.path().join("made.zkey");
                setup(level.into(), &<R1cs>::open(&path(circuit)).unwrap(), &powers(), &zkey).unwrap();
                let expected = fs::read(path("crates/groth16/tests/data").join(expected)).unwrap();
                assert!(fs::read(&zkey).unwrap() == expected, "{circuit} at {level} with {threads} threads");
            }
        });
    });
}

#[test]
fn keys_over_the_second_curve_are_snarkjss_byte_for_byte() {
    let file = |name: &str| path("crates/circom/tests/data/bls12-381").join(name);
    let powers = Ptau::<bls12_381::G1>::open(&file("powers.ptau")).unwrap();
    let circuit = R1cs::open(&file("circuit.r1cs")).unwrap();
    let expected = fs::read(file("initial.zkey")).unwrap();
    for_each_level(|level| {
        let folder = tempfile::tempdir().unwrap();
        let zkey = folder.path().join("made.zkey");
        setup(level.into(), &circuit, &powers, &zkey).unwrap();
        assert!(fs::read(&zkey).unwrap() == expected, "at {level}");
    });
}

#[test]
fn keys_prove() {
    for folder in ["crates/circom/tests/data", "examples/membership-small"] {
        let output = tempfile::tempdir().unwrap();
        let zkey = output.path().join("made.zkey");
        let level = Level::best();
        let r1cs = <R1cs>::open(&path(folder).join("circuit.r1cs")).unwrap();
        setup(level.into(), &r1cs, &powers(), &zkey).unwrap();
        let key = <Groth16Zkey>::open(&zkey).unwrap();
        let witness = read_witness(&path(folder).join("witness.wtns"), level).unwrap();
        let proof = prove(level.into(), &key, &witness).unwrap();
        let public = &witness[1..=r1cs.header.public() as usize];
        verify(level, &verifying_key(level, &key).unwrap(), public, &proof).unwrap();
    }
}

/// A circuit of `constraints` times `x * x = x`, without public signals.
fn squares(constraints: u32) -> R1cs {
    let row = || SparseMatrix::from_rows((0..constraints).map(|_| [(1, Fr::ONE)]));
    let header =
        R1csHeader { wires: 2, outputs: 0, public_inputs: 0, private_inputs: 1, labels: 2, constraints };
    R1cs { header, a: row(), b: row(), c: row() }
}

fn failure(circuit: &R1cs, ptau: &Ptau) -> Groth16Error {
    let folder = tempfile::tempdir().unwrap();
    let zkey = folder.path().join("made.zkey");
    let error = setup(Level::best().into(), circuit, ptau, &zkey).unwrap_err();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
    error
}

#[test]
fn powers_that_do_not_suffice_are_refused() {
    let message = failure(&squares(256), &powers()).to_string();
    assert_eq!(
        message,
        "the circuit's 257 constraints and public signals need powers of tau of 2^9, found 2^8"
    );

    let folder = tempfile::tempdir().unwrap();
    let unprepared = folder.path().join("unprepared.ptau");
    let mut file = <PtauWriter>::create(&unprepared, &PtauHeader { power: 8, ceremony_power: 8 }, 1).unwrap();
    file.points(PtauPoints::TauG1, |out| out.points(&[G1::GENERATOR])).unwrap();
    file.no_contributions().unwrap();
    file.finish().unwrap();
    let error = failure(&squares(255), &Ptau::open(&unprepared).unwrap());
    assert!(matches!(error, Groth16Error::Unprepared), "{error}");
}
