//! Setup writes snarkjs's bytes, at every level and number of threads.

use crate::fixtures::{path, r1cs};
use proofmill_circom::{Ptau, R1cs, R1csHeader, SparseMatrix};
use proofmill_cpu::Level;
use proofmill_field::{Field, bn254::Fr};
use proofmill_plonk::{PlonkError, setup};
use proofmill_testing::{for_each_level, for_each_pool};
use std::fs;

#[test]
fn keys_are_snarkjss_byte_for_byte() {
    for_each_pool(&[1, 2, 5], |threads| {
        for_each_level(|level| {
            for (circuit, expected) in [("toy.circuit.r1cs", "toy.plonk.zkey"), ("odd.r1cs", "odd.zkey")] {
                let folder = tempfile::tempdir().expect("a folder");
                let zkey = folder.path().join("made.zkey");
                let ptau = Ptau::open(&path("powers-2e5.ptau")).expect("powers of tau");
                setup(level.into(), &r1cs(circuit), &ptau, &zkey).expect("a key");
                let same = fs::read(&zkey).expect("made") == fs::read(path(expected)).expect("committed");
                assert!(same, "{circuit} at {level} with {threads} threads");
            }
        });
    });
}

/// A circuit with this number of constraints `x * x = x`.
fn squares(constraints: u32) -> R1cs {
    let row = || SparseMatrix::from_rows((0..constraints).map(|_| [(1, Fr::ONE)]));
    let header =
        R1csHeader { wires: 2, outputs: 0, public_inputs: 0, private_inputs: 1, labels: 2, constraints };
    R1cs { header, a: row(), b: row(), c: row() }
}

fn failure(circuit: &R1cs) -> PlonkError {
    let folder = tempfile::tempdir().expect("a folder");
    let zkey = folder.path().join("made.zkey");
    let ptau = Ptau::open(&path("powers-2e5.ptau")).expect("powers of tau");
    let error = setup(Level::best().into(), circuit, &ptau, &zkey).expect_err("no key");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0, "nothing is left behind");
    error
}

#[test]
fn circuits_that_do_not_fit_are_refused() {
    let message = failure(&squares(33)).to_string();
    assert_eq!(message, "the circuit's 33 gates need powers of tau of 2^6, found 2^5");
    assert!(matches!(failure(&squares(0)), PlonkError::NoConstraints));
}
