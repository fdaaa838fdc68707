//! Exports as JSON are the bytes of snarkjs 0.7.6, for circuits of any shape; malformed input leaves nothing behind.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use proofmill_circom::{
    BinFile, CircomError, Groth16Zkey, R1cs, R1csFile, SparseMatrix, describe_json, write_groth16_json,
    write_r1cs, write_r1cs_json,
};
use proofmill_curve::bls12_381;
use proofmill_field::bn254::Fr;
use std::{
    fs,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

#[test]
fn a_circuit_is_exported_as_snarkjs_does() {
    let folder = TempDir::new().unwrap();
    let made = folder.path().join("made");
    write_r1cs_json(&<R1csFile>::open(&data("circuit.r1cs")).unwrap(), &made).unwrap();
    assert_eq!(fs::read_to_string(made).unwrap(), fs::read_to_string(data("circuit.json")).unwrap());
}

#[test]
fn a_groth16_key_is_exported_as_snarkjs_does() {
    let folder = TempDir::new().unwrap();
    for level in proofmill_field::prime_field_levels() {
        let made = folder.path().join("made");
        write_groth16_json(level, &<Groth16Zkey>::open(&data("groth16.zkey")).unwrap(), &made).unwrap();
        assert_eq!(fs::read_to_string(&made).unwrap(), fs::read_to_string(data("groth16.json")).unwrap());
        let second = Groth16Zkey::<bls12_381::G1>::open(&data("bls12-381/groth16.zkey")).unwrap();
        write_groth16_json(level, &second, &made).unwrap();
        let expected = fs::read_to_string(data("bls12-381/groth16.json")).unwrap();
        assert_eq!(fs::read_to_string(&made).unwrap(), expected);
    }
}

#[test]
fn constraints_one_by_one_are_those_of_the_matrices() {
    let file = <R1csFile>::open(&data("circuit.r1cs")).unwrap();
    let whole = <R1cs>::open(&data("circuit.r1cs")).unwrap();
    let mut row = 0;
    file.each(|terms| {
        for (terms, matrix) in terms.into_iter().zip([&whole.a, &whole.b, &whole.c]) {
            assert_eq!(*terms, matrix.row(row).collect::<Vec<_>>());
        }
        row += 1;
        Ok::<_, CircomError>(())
    })
    .unwrap();
    assert_eq!(row, whole.a.rows());
}

#[test]
fn empty_combinations_and_unordered_wires_are_exported() {
    let mut circuit = <R1cs>::open(&data("circuit.r1cs")).unwrap();
    circuit.header.constraints = 1;
    circuit.a = SparseMatrix::from_rows([[(5, Fr::from(3)), (2, Fr::from(1))]]);
    circuit.b = SparseMatrix::from_rows([[]]);
    circuit.c = SparseMatrix::from_rows([[]]);
    let mut bytes = Vec::new();
    write_r1cs(&mut bytes, &circuit).unwrap();
    let file = <R1csFile>::read(BinFile::from_bytes("circuit", bytes).unwrap()).unwrap();
    let folder = TempDir::new().unwrap();
    let made = folder.path().join("made");
    write_r1cs_json(&file, &made).unwrap();
    let text = fs::read_to_string(made).unwrap();
    // An empty object of snarkjs's has two lines.
    let expected =
        "\n  [\n   {\n    \"2\": \"1\",\n    \"5\": \"3\"\n   },\n   {\n   },\n   {\n   }\n  ]\n ],";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_malformed_circuit_leaves_no_file() {
    let folder = TempDir::new().unwrap();
    let made = folder.path().join("made");
    let whole = fs::read(data("circuit.r1cs")).unwrap();
    // The last bytes of the first coefficient, beyond the modulus.
    let at = whole.windows(4).position(|bytes| bytes == [0x64, 0x30, 1, 0]).unwrap();
    let mut changed = whole;
    changed[at + 1] = 0xff;
    let file = <R1csFile>::read(BinFile::from_bytes("circuit", changed).unwrap()).unwrap();
    let error = write_r1cs_json(&file, &made).unwrap_err().to_string();
    assert!(error.contains("section 2 (constraints)") && error.contains("not below the modulus"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn json_files_are_recognised() {
    let curve = |name: &str| describe_json(&data(name)).unwrap().curve;
    assert_eq!(curve("groth16.vk.json"), "bn254");
    assert_eq!(curve("bls12-381/groth16.vk.json"), "bls12-381");
    assert_eq!(curve("bls12-381/groth16.proof.json"), "bls12-381");
    let described = |name: &str| {
        let description = describe_json(&data(name)).unwrap();
        (description.kind, description.protocol, description.counts)
    };
    let system = |name: &str| Some(name.to_owned());
    assert_eq!(described("groth16.proof.json"), ("proof", system("groth16"), vec![]));
    assert_eq!(described("plonk.proof.json"), ("proof", system("plonk"), vec![]));
    let counts = vec![("public signals", 2)];
    assert_eq!(described("groth16.vk.json"), ("verification key", system("groth16"), counts.clone()));
    assert_eq!(described("public.json"), ("public signals", None, counts));
    let counts = vec![("public signals", 2), ("domain size", 8)];
    assert_eq!(described("plonk.vk.json"), ("verification key", system("plonk"), counts));
    let error = describe_json(&data("circuit.json")).unwrap_err().to_string();
    assert!(
        error.ends_with("expected the protocol groth16, plonk, fflonk or proofmill-plonk, found none"),
        "{error}"
    );
}
