//! Files with one byte changed: keys, proofs and public inputs of every system are refused, either by the
//! parser or by the verifier.
//!
//! The content of a JSON file is its text without the white space between tokens. Only a change of this white
//! space has no effect.

use crate::fixtures::{
    path,
    proven::{PROVEN, Proven, SRS, systems},
    r1cs, toy_witness,
};
use proofmill_circom::{AnyPlonkProof, AnyPlonkVerificationKey, BinFile, parse_public, public_text};
use proofmill_cpu::Level;
use proofmill_field::bn254::Fr;
use proofmill_plonk::{
    Arithmetisation, CircuitKey, Derivations, Layout, Memory, PlonkError, Proof, ProveOptions, ProvingKey,
    VerifyingKey, prove, r1cs::layout, setup_circuit, verify,
};
use proofmill_run::Run;
use proofmill_srs::Srs;
use rayon::prelude::*;
use std::{fs, sync::Arc};

/// The texts of a verification key, public inputs and a proof.
fn texts(proven: &Proven) -> [Vec<u8>; 3] {
    // Without the mark of an insecure setup, which provers and verifiers may ignore.
    let key = VerifyingKey { insecure_setup: false, ..proven.key.clone() };
    [key.text(), public_text(&proven.public), proven.proof.text(&proven.key)].map(String::into_bytes)
}

/// Whether the texts parse as a key, public inputs and a valid proof.
fn accepted([key, public, proof]: [&[u8]; 3]) -> bool {
    let Ok(key) = AnyPlonkVerificationKey::parse("key", key) else { return false };
    let (Ok(key), Ok(public)) = (VerifyingKey::try_from(&key), parse_public("public", public)) else {
        return false;
    };
    let proof = match AnyPlonkProof::parse("proof", proof) {
        Ok(AnyPlonkProof::Snarkjs(proof)) => Proof::from(&proof),
        Ok(AnyPlonkProof::Circuit(proof)) => Proof::from(proof),
        Err(_) => return false,
    };
    verify(Level::best(), &key, &public, &proof).is_ok()
}

/// A text without the white space outside of strings. The files contain no escapes.
fn significant(text: &[u8]) -> Vec<u8> {
    let mut in_string = false;
    let mut keep = |byte: &u8| {
        in_string ^= *byte == b'"';
        in_string || !b" \t\r\n".contains(byte)
    };
    text.iter().copied().filter(|byte| keep(byte)).collect()
}

/// The range of the name that early snarkjs files do not have.
fn optional(text: &[u8]) -> std::ops::Range<usize> {
    let name = b"\"curve\"";
    let start = text.windows(name.len()).position(|window| window == name);
    start.map_or(0..0, |start| start + 1..start + name.len() - 1)
}

#[test]
fn a_change_of_any_byte_of_keys_public_inputs_and_proofs_is_refused() {
    for proven in PROVEN.iter() {
        let texts = texts(proven);
        assert!(accepted(texts.each_ref().map(Vec::as_slice)), "{}", proven.name);
        for (file, text) in texts.iter().enumerate() {
            let optional = if proven.key.system.is_standard() { optional(text) } else { 0..0 };
            let with = |changed: &[u8]| {
                let mut files = texts.each_ref().map(Vec::as_slice);
                files[file] = changed;
                accepted(files)
            };
            let positions = (0..text.len()).filter(|position| !optional.contains(position));
            positions.collect::<Vec<_>>().into_par_iter().for_each(|position| {
                for change in [1 << (position % 8), b'\t' ^ text[position]] {
                    let mut changed = text.clone();
                    changed[position] ^= change;
                    assert_eq!(
                        with(&changed),
                        significant(&changed) == significant(text),
                        "{}, file {file}: {:?} for {:?} at {position}",
                        proven.name,
                        char::from(changed[position]),
                        char::from(text[position]),
                    );
                }
            });
        }
    }
}

#[test]
fn truncated_files_are_refused() {
    for proven in PROVEN.iter() {
        let texts = texts(proven);
        for (file, text) in texts.iter().enumerate() {
            for length in 0..text.len() {
                let mut files = texts.each_ref().map(Vec::as_slice);
                files[file] = &text[..length];
                assert!(!accepted(files), "{}, file {file}: {length} bytes", proven.name);
            }
        }
    }
}

/// The bytes of a circuit's proving key.
fn proving_key(layout: Layout, derivations: &Derivations, srs: &Arc<Srs>) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("made.key");
    setup_circuit(Level::best().into(), layout, derivations, srs, &file).expect("a key");
    fs::read(&file).expect("made")
}

fn prove_with(bytes: Vec<u8>, witness: &[Fr]) -> Result<Proof, PlonkError> {
    let file = CircuitKey::read(BinFile::from_bytes("changed.key", bytes)?)?;
    let key = ProvingKey::of_circuit(Run { memory: Some(Memory::Balanced), ..Level::best().into() }, &file)?;
    // A proof that is returned was verified with the changed key.
    prove(Level::best().into(), &key, witness, ProveOptions::default()).map(|(proof, _)| proof)
}

#[test]
fn no_changed_byte_of_a_proving_key_gives_a_proof() {
    let srs = Arc::new(Srs::open(&path("powers-2e5.ptau")).expect("powers of tau"));
    let (toy, derivations) = layout(&r1cs("toy.circuit.r1cs"), Arithmetisation::Turbo).expect("rows");
    // (whole, step): the first `whole` bytes, which include the header, and then every `step`-th byte are
    // changed.
    let mut cases = vec![("toy".to_owned(), proving_key(toy, &derivations, &srs), toy_witness(), (1000, 1))];
    for (name, layout, values) in systems() {
        let derivations = Derivations::new(layout.variables);
        cases.push((name, proving_key(layout, &derivations, &SRS), values, (600, 29)));
    }
    for (name, bytes, witness, (whole, step)) in cases {
        assert!(prove_with(bytes.clone(), &witness).is_ok(), "{name}");
        // The empty section after the file's header marks an insecure setup; provers may ignore it.
        let mark = if bytes[12..14] == 1000u16.to_le_bytes() { 12..24 } else { 0..0 };
        let positions = (0..whole).chain((whole..bytes.len()).step_by(step));
        let positions: Vec<usize> = positions.filter(|position| !mark.contains(position)).collect();
        positions.into_par_iter().for_each(|position| {
            let mut changed = bytes.clone();
            changed[position] ^= 1 << (position % 8);
            assert!(prove_with(changed, &witness).is_err(), "{name}: byte {position}");
        });
    }
}
