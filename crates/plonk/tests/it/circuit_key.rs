//! Proofs of an R1CS circuit in every arithmetisation, with a key read from its file.

use crate::fixtures::{path, public_inputs, r1cs, toy_key, toy_witness};
use proofmill_circom::{AnyPlonkVerificationKey, BinFile, CircuitProof};
use proofmill_cpu::Level;
use proofmill_field::{Field, bn254::Fr};
use proofmill_plonk::{
    Arithmetisation, CircuitKey, Memory, PlonkError, Proof, ProveOptions, ProvingKey, VerifyError,
    VerifyingKey, prove, prove_with_rng, r1cs::layout, setup_circuit, verify,
};
use proofmill_run::Run;
use proofmill_srs::Srs;
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use std::{fs, path::Path, sync::Arc};

/// The bytes of the toy circuit's key.
fn key(arithmetisation: Arithmetisation) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("toy.key");
    let srs = Arc::new(Srs::open(&path("powers-2e5.ptau")).expect("powers of tau"));
    let (layout, derivations) = layout(&r1cs("toy.circuit.r1cs"), arithmetisation).expect("rows");
    setup_circuit(Level::best().into(), layout, &derivations, &srs, &file).expect("a key");
    fs::read(&file).expect("made")
}

fn open(bytes: Vec<u8>) -> Result<ProvingKey, PlonkError> {
    open_in(bytes, Memory::default(), None)
}

fn open_in(bytes: Vec<u8>, memory: Memory, scratch: Option<&Path>) -> Result<ProvingKey, PlonkError> {
    let file = CircuitKey::read(BinFile::from_bytes("toy.key", bytes)?)?;
    ProvingKey::of_circuit(Run { memory: Some(memory), scratch, ..Level::best().into() }, &file)
}

#[test]
fn a_key_from_its_file_gives_one_proof_for_every_storage() {
    let folder = tempfile::tempdir().expect("a folder");
    let seeded = |key: &ProvingKey| {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let options = ProveOptions::default();
        prove_with_rng(Level::best().into(), key, &toy_witness(), options, &mut rng).expect("a proof").0
    };
    for arithmetisation in Arithmetisation::ALL {
        let bytes = key(arithmetisation);
        let expected = seeded(&open(bytes.clone()).expect("a key"));
        for memory in Memory::ALL {
            for scratch in [None, Some(folder.path())] {
                let key = open_in(bytes.clone(), memory, scratch).expect("a key");
                assert_eq!(seeded(&key), expected, "{arithmetisation}, {memory}, {scratch:?}");
            }
        }
    }
    let scratch = Some(folder.path().to_owned());
    assert_eq!(seeded(&toy_key().with_scratch(scratch)), seeded(&toy_key()), "snarkjs's key");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn a_key_from_its_file_proves() {
    for arithmetisation in Arithmetisation::ALL {
        let bytes = key(arithmetisation);
        let key = open(bytes.clone()).expect("a key");
        let options = ProveOptions::default();
        let (proof, public) = prove(Level::best().into(), &key, &toy_witness(), options).expect("a proof");
        assert_eq!(public, public_inputs(), "{arithmetisation}");

        let verifying_key = key.verifying_key();
        let text = verifying_key.text();
        let file = AnyPlonkVerificationKey::parse("key", text.as_bytes()).expect("a key");
        let read = VerifyingKey::try_from(&file).expect("a key");
        assert_eq!(read, *verifying_key);
        let file = CircuitKey::read(BinFile::from_bytes("toy.key", bytes).expect("a file")).expect("a key");
        assert_eq!(VerifyingKey::of_circuit(Level::best(), &file).expect("a key"), read);
        let text = proof.text(verifying_key);
        if verifying_key.system.is_standard() {
            continue;
        }
        let read_proof = Proof::from(CircuitProof::parse("proof", text.as_bytes()).expect("a proof"));
        assert_eq!(read_proof, proof);
        assert_eq!(verify(Level::best(), &read, &public, &read_proof), Ok(()));
        let wrong: Vec<Fr> = public.iter().map(|value| *value + Fr::ONE).collect();
        assert_eq!(verify(Level::best(), &read, &wrong, &read_proof), Err(VerifyError::Rejected));
    }
}

#[test]
fn a_wrong_witness_is_refused_by_row() {
    let key = open(key(Arithmetisation::Turbo)).expect("a key");
    for signal in 1..toy_witness().len() {
        let mut wrong = toy_witness();
        wrong[signal] += Fr::ONE;
        let attempt = |check_witness| {
            prove(Level::best().into(), &key, &wrong, ProveOptions { check_witness }).map(|_| ())
        };
        assert!(matches!(attempt(true), Err(PlonkError::Unsatisfied(_))), "signal {signal}");
        assert!(matches!(attempt(false), Err(PlonkError::NotProven)), "signal {signal}");
    }
}

#[test]
fn names_that_describe_no_arithmetisation_are_refused() {
    let key = open(key(Arithmetisation::Turbo)).expect("a key");
    let text = key.verifying_key().text();
    for (name, other) in [("wide_arithmetic", "arithmetic"), ("q_m", "q_x"), ("\"wires\": 4", "\"wires\": 5")]
    {
        assert!(text.contains(name), "{text}");
        let changed = text.replacen(name, other, 1);
        let file = AnyPlonkVerificationKey::parse("key", changed.as_bytes()).expect("a key");
        let error = VerifyingKey::try_from(&file).expect_err("refused").to_string();
        assert!(error.starts_with("verification key: ") && error.lines().count() == 1, "{error}");
    }
}
