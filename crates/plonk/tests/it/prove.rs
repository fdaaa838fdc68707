//! Proofs verify, do not depend on levels and threads, are blinded, and are not made for wrong witnesses.

use crate::fixtures::{
    assert_wrong_witnesses_are_refused_by_gate, key_from, outside_the_subgroup, path, public_inputs,
    snarkjs_proof, snarkjs_verifying_key, text, toy_key, toy_witness,
};
use proofmill_circom::PlonkProof;
use proofmill_cpu::Level;
use proofmill_curve::{Affine, bn254::G1, msm};
use proofmill_field::bn254::{Fq, Fr};
use proofmill_plonk::{
    Commit, PlonkError, Progress, Proof, ProveOptions, prove, prove_with_commitments, prove_with_rng, verify,
};
use proofmill_run::Run;
use proofmill_testing::{for_each_level, for_each_pool};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use std::{cell::RefCell, fs, sync::Mutex};

fn seeded(level: Level, seed: u64) -> Proof {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let options = ProveOptions::default();
    let (proof, public) =
        prove_with_rng(level.into(), &toy_key(), &toy_witness(), options, &mut rng).expect("a proof");
    assert_eq!(public, public_inputs());
    proof
}

fn committed_by(commit: Commit<'_>) -> Result<(Proof, Vec<Fr>), PlonkError> {
    let options = ProveOptions::default();
    prove_with_commitments(Level::best().into(), &toy_key(), &toy_witness(), options, commit)
}

#[test]
fn commitments_can_be_made_elsewhere() {
    let (level, key) = (Level::best(), toy_key());
    let range = key.powers().expect("a file");
    let bytes = &key.file().expect("a file").bytes()[range];
    let coordinate = |bytes: &[u8]| Fq::from_montgomery_le(bytes).expect("a coordinate");
    let powers: Vec<_> = bytes
        .chunks(64)
        .map(|point| Affine::<G1> { x: coordinate(&point[..32]), y: coordinate(&point[32..]) })
        .collect();
    let sum = |coefficients: &[Fr]| msm::<G1>(level, &powers[..coefficients.len()], coefficients).to_affine();
    let (proof, public) = committed_by(&|coefficients| Ok(sum(coefficients))).expect("a proof");
    assert_eq!(verify(level, key.verifying_key(), &public, &proof), Ok(()));
    // Two proofs share nothing: these are blinded, too.
    assert_ne!(committed_by(&|coefficients| Ok(sum(coefficients))).expect("a proof").0, proof);

    let wrong = committed_by(&|coefficients| Ok(sum(&coefficients[1..])));
    assert!(matches!(wrong, Err(PlonkError::NotProven)), "{wrong:?}");
    let none = committed_by(&|_| Err("no machine".into()));
    assert!(
        matches!(&none, Err(PlonkError::Commitment(error)) if error.to_string() == "no machine"),
        "{none:?}"
    );
}

#[test]
fn the_key_in_the_file_is_the_exported_one() {
    assert_eq!(*toy_key().verifying_key(), snarkjs_verifying_key());
    let exported = toy_key().verifying_key().snarkjs().expect("a standard key").text();
    assert_eq!(exported, text("toy.plonk.vk.json"));
}

#[test]
fn a_proof_read_from_its_file_is_unchanged() {
    let proof = seeded(Level::best(), 3);
    let written = proof.snarkjs().expect("a standard proof").text();
    let read = PlonkProof::parse("proof.json", written.as_bytes()).expect("a proof");
    assert_eq!(Proof::from(&read), proof);
    assert_eq!(snarkjs_proof().snarkjs().expect("a standard proof").text(), text("toy.plonk.proof.json"));
}

#[test]
fn snarkjss_proof_verifies() {
    for_each_level(|level| {
        let valid = verify(level, &snarkjs_verifying_key(), &public_inputs(), &snarkjs_proof());
        assert_eq!(valid, Ok(()));
    });
}

#[test]
fn one_proof_at_every_level_and_number_of_threads() {
    let first = Mutex::new(None);
    for_each_pool(&[1, 2, 5], |_| {
        for_each_level(|level| {
            let proof = seeded(level, 1);
            assert_eq!(verify(level, &snarkjs_verifying_key(), &public_inputs(), &proof), Ok(()));
            let mut first = first.lock().expect("not poisoned");
            assert_eq!(*first.get_or_insert(proof.clone()), proof, "{level}");
        });
    });
}

#[test]
fn two_proofs_share_no_point_or_value() {
    let (one, two) = (seeded(Level::best(), 1), seeded(Level::best(), 2));
    let points = Proof::points;
    // a, b, c and z; the other values are of the permutation's columns in the key.
    let scalars = |proof: &Proof| [&proof.evaluations[..3], &proof.evaluations[5..]].concat();
    let (ours, theirs) = (points(&one), points(&two));
    assert!(ours.iter().all(|point| !theirs.contains(point)));
    let (ours, theirs) = (scalars(&one), scalars(&two));
    assert!(ours.iter().all(|scalar| !theirs.contains(scalar)));
}

#[test]
fn the_phases_of_a_proof_are_reported() {
    let phases = RefCell::new(Vec::new());
    let options = ProveOptions::default();
    let observer = |phase| phases.borrow_mut().push(phase);
    let result = prove(
        Run { progress: Progress::new(&observer), ..Level::best().into() },
        &toy_key(),
        &toy_witness(),
        options,
    );
    let phases = phases.into_inner();
    assert!(result.is_ok());
    assert_eq!(phases.first(), Some(&"read zkey"));
    assert_eq!(phases.last(), Some(&"verify"));
}

#[test]
fn wrong_witnesses_are_refused_by_gate() {
    let key = toy_key();
    assert_wrong_witnesses_are_refused_by_gate(|witness, check_witness| {
        let options = ProveOptions { check_witness };
        prove(Level::best().into(), &key, witness, options).map(|_| ())
    });
}

/// The first byte of a section's content.
fn section(bytes: &[u8], id: u32) -> usize {
    let mut position = 12;
    loop {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        if word(position) == id {
            return position + 12;
        }
        position += 12 + word(position + 4) as usize;
    }
}

#[test]
fn a_permutation_that_contradicts_the_wire_maps_is_reported() {
    let mut bytes = fs::read(path("toy.plonk.zkey")).expect("a key");
    // S1 on row 3: in the third section of polynomials, the value at index 4 * 3 after 8 coefficients.
    let value = section(&bytes, 12) + 32 * (8 + 4 * 3);
    bytes[value] ^= 1;
    let key = key_from(bytes).expect("the header is as it was");
    let result = prove(Level::best().into(), &key, &toy_witness(), ProveOptions::default());
    assert!(matches!(result, Err(PlonkError::CopyConstraint { gate: 3 })), "{result:?}");
}

#[test]
fn a_changed_key_gives_an_error_or_a_valid_proof() {
    let (bytes, witness) = (fs::read(path("toy.plonk.zkey")).expect("a key"), toy_witness());
    let mut refused = 0;
    let positions = (0..bytes.len()).step_by(61);
    let count = positions.len();
    for position in positions {
        let mut changed = bytes.clone();
        changed[position] ^= 1 << (position % 8);
        // A proof that is returned was verified with the changed key.
        let result = key_from(changed)
            .map_err(PlonkError::from)
            .and_then(|key| prove(Level::best().into(), &key, &witness, ProveOptions::default()));
        refused += usize::from(result.is_err());
    }
    assert!(refused > count / 2, "{refused} of {count} were refused");
}

#[test]
fn a_truncated_key_does_not_open() {
    let bytes = fs::read(path("toy.plonk.zkey")).expect("a key");
    for length in (0..bytes.len()).step_by(97) {
        assert!(key_from(bytes[..length].to_vec()).is_err(), "{length} bytes");
    }
}

#[test]
fn a_key_with_tau_outside_the_subgroup_does_not_open() {
    let mut bytes = fs::read(path("toy.plonk.zkey")).expect("a key");
    let tau = outside_the_subgroup();
    let encoded = [tau.x.c0, tau.x.c1, tau.y.c0, tau.y.c1].map(Fq::to_montgomery_le).concat();
    let end = section(&bytes, 2) + 72 + 20 + 2 * 32 + 8 * 64 + encoded.len();
    bytes[end - encoded.len()..end].copy_from_slice(&encoded);
    let message = key_from(bytes).expect_err("refused").to_string();
    assert!(message.ends_with("not in the subgroup of prime order"), "{message}");
}
