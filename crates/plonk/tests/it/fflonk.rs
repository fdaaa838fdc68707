//! fflonk: keys are snarkjs's, proofs verify and do not depend on levels and threads, and everything changed is refused.
//!
//! The files `*.fflonk.*` were made by snarkjs 0.7.6 with `fflonk setup`, `zkey export verificationkey` and `fflonk prove`
//! from powers of tau with one contribution of random bytes that were not kept.

use crate::fixtures::{
    assert_wrong_witnesses_are_refused_by_gate, change_counts, path, public_inputs, r1cs, text, toy_witness,
};
use proofmill_circom::{
    BinFile, FflonkZkey, PointCheck, Ptau, PtauHeader, PtauPoints, PtauWriter, R1cs, R1csHeader,
    SparseMatrix, parse_public,
};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, bn254::G2};
use proofmill_field::{Field, bn254::Fr};
use proofmill_plonk::{
    MalformedError, PlonkError, ProveOptions, VerifyError,
    fflonk::{Proof, ProvingKey, VerifyingKey, prove, prove_with_rng, setup, verify},
};
use proofmill_testing::{for_each_level, for_each_pool};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use rayon::prelude::*;
use std::{fs, sync::Mutex};

fn bytes(name: &str) -> Vec<u8> {
    fs::read(path(name)).expect("a file")
}

fn key_from(bytes: Vec<u8>) -> Result<ProvingKey, PlonkError> {
    ProvingKey::read(BinFile::from_bytes("changed.zkey", bytes)?)
}

fn toy_key() -> ProvingKey {
    ProvingKey::open(&path("toy.fflonk.zkey")).expect("a key")
}

fn verifying_key() -> VerifyingKey {
    VerifyingKey::open(&path("toy.fflonk.vk.json")).expect("a key")
}

fn snarkjs_proof() -> Proof {
    Proof::open(&path("toy.fflonk.proof.json")).expect("a proof")
}

/// The powers of tau that a key was made from, as far as setup needs them.
fn powers_of(zkey: &FflonkZkey) -> Ptau {
    let (header, mut bytes) = (PtauHeader { power: 8, ceremony_power: 8 }, Vec::new());
    let powers = zkey.gates().ptau().decode(Level::best(), PointCheck::OnCurve).expect("points");
    let mut writer = <PtauWriter>::create(&mut bytes, &header, 2).expect("memory");
    writer.points(PtauPoints::TauG1, |out| out.points(&powers)).expect("memory");
    writer.points(PtauPoints::TauG2, |out| out.points(&[G2::GENERATOR, zkey.header().x_2])).expect("memory");
    // Contributions, as the real powers have: without any, the key would be marked.
    let others: Ptau = Ptau::open(&path("powers-2e5.ptau")).expect("powers of tau");
    let count = others.contributions().expect("a count");
    writer.contributions(count, others.encoded_contributions().expect("a list")).expect("memory");
    writer.finish().expect("memory");
    Ptau::read(BinFile::from_bytes("powers", bytes).expect("a container")).expect("powers of tau")
}

#[test]
fn keys_are_snarkjss_byte_for_byte() {
    for (circuit, expected) in [("toy.circuit.r1cs", "toy.fflonk.zkey"), ("odd.r1cs", "odd.fflonk.zkey")] {
        let zkey = FflonkZkey::open(&path(expected)).expect("a key");
        let (ptau, circuit, expected) = (powers_of(&zkey), r1cs(circuit), bytes(expected));
        for_each_pool(&[1, 2, 5], |threads| {
            for_each_level(|level| {
                let mut made = Vec::new();
                setup(level.into(), &circuit, &ptau, &mut made).expect("a key");
                assert_eq!(made.len(), expected.len());
                let differs = made.iter().zip(&expected).position(|(ours, theirs)| ours != theirs);
                assert_eq!(differs, None, "{level} with {threads} threads");
            });
        });
    }
}

#[test]
fn circuits_that_do_not_fit_are_refused() {
    let ptau = powers_of(&FflonkZkey::open(&path("toy.fflonk.zkey")).expect("a key"));
    let failure = |constraints: u32| {
        let row = || SparseMatrix::from_rows((0..constraints).map(|_| [(1, Fr::ONE)]));
        let header =
            R1csHeader { wires: 2, outputs: 0, public_inputs: 0, private_inputs: 1, labels: 2, constraints };
        let circuit = R1cs { header, a: row(), b: row(), c: row() };
        let mut made = Vec::new();
        let result = setup(Level::best().into(), &circuit, &ptau, &mut made);
        assert!(made.is_empty() || result.is_ok());
        result.err()
    };
    assert!(failure(14).is_none(), "two rows are free");
    let message = failure(15).expect("too many").to_string();
    assert_eq!(message, "the circuit needs 306 powers of tau, found 162: a file of power 8 has enough");
    assert!(matches!(failure(0), Some(PlonkError::NoConstraints)));
}

#[test]
fn the_key_in_the_file_is_the_exported_one() {
    assert_eq!(*toy_key().verifying_key(), verifying_key());
    assert_eq!(toy_key().verifying_key().text(), text("toy.fflonk.vk.json"));
}

#[test]
fn snarkjss_proof_verifies() {
    for_each_level(|level| {
        assert_eq!(verify(level, &verifying_key(), &public_inputs(), &snarkjs_proof()), Ok(()));
    });
}

fn seeded(level: Level, seed: u64) -> Proof {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let options = ProveOptions::default();
    let (proof, public) =
        prove_with_rng(level.into(), &toy_key(), &toy_witness(), options, &mut rng).expect("a proof");
    assert_eq!(public, public_inputs());
    proof
}

#[test]
fn one_proof_at_every_level_and_number_of_threads() {
    let first = Mutex::new(None);
    for_each_pool(&[1, 2, 5], |_| {
        for_each_level(|level| {
            let proof = seeded(level, 1);
            assert_eq!(verify(level, &verifying_key(), &public_inputs(), &proof), Ok(()));
            let mut first = first.lock().expect("not poisoned");
            assert_eq!(*first.get_or_insert(proof), proof, "{level}");
        });
    });
}

#[test]
fn two_proofs_share_no_point_or_value_of_the_witness() {
    let (one, two) = (seeded(Level::best(), 1), seeded(Level::best(), 2));
    assert!(one.points.iter().all(|point| !two.points.contains(point)));
    assert!(one.evaluations[8..].iter().all(|scalar| !two.evaluations.contains(scalar)));
}

#[test]
fn wrong_witnesses_are_refused_by_gate() {
    let key = toy_key();
    assert_wrong_witnesses_are_refused_by_gate(|witness, check_witness| {
        let options = ProveOptions { check_witness };
        prove(Level::best().into(), &key, witness, options).map(|_| ())
    });
}

#[test]
fn a_proof_with_any_element_changed_is_refused() {
    let (key, public, proof) = (verifying_key(), public_inputs(), snarkjs_proof());
    let refused = |key: &VerifyingKey, public: &[Fr], proof: &Proof| {
        assert_eq!(verify(Level::best(), key, public, proof), Err(VerifyError::Rejected));
    };
    for index in 0..proof.points.len() {
        for other in [-proof.points[index], Affine::INFINITY, proof.points[(index + 1) % 4]] {
            let mut changed = proof;
            changed.points[index] = other;
            refused(&key, &public, &changed);
        }
        let mut changed = proof;
        changed.points[index].y += changed.points[index].x;
        let verdict = verify(Level::best(), &key, &public, &changed);
        assert!(matches!(verdict, Err(VerifyError::Malformed(MalformedError::Point { .. }))), "{verdict:?}");
    }
    for index in 0..proof.evaluations.len() {
        for change in [Fr::ONE, -Fr::ONE] {
            let mut changed = proof;
            changed.evaluations[index] += change;
            refused(&key, &public, &changed);
        }
    }
    refused(&key, &public, &Proof { inverse: proof.inverse + Fr::ONE, ..proof });
    for index in 0..public.len() {
        let mut changed = public.clone();
        changed[index] += Fr::ONE;
        refused(&key, &changed, &proof);
    }
    for changed in [
        VerifyingKey { k1: Fr::from(5), ..key.clone() },
        VerifyingKey { k2: Fr::from(5), ..key.clone() },
        VerifyingKey { power: key.power + 1, ..key.clone() },
        VerifyingKey { x_2: -key.x_2, ..key.clone() },
        VerifyingKey { c0: -key.c0, ..key.clone() },
        VerifyingKey { c0: Affine::INFINITY, ..key.clone() },
    ] {
        refused(&changed, &public, &proof);
    }
}

#[test]
fn malformed_keys_and_numbers_of_inputs_are_named() {
    let (key, public, proof) = (verifying_key(), public_inputs(), snarkjs_proof());
    let problem = |key: &VerifyingKey, public: &[Fr]| match verify(Level::best(), key, public, &proof) {
        Err(VerifyError::Malformed(problem)) => problem.to_string(),
        verdict => panic!("{verdict:?}"),
    };
    assert_eq!(problem(&key, &public[1..]), "expected 2 public inputs, found 1");
    let sizes = VerifyingKey { public: 15, ..key.clone() };
    assert_eq!(problem(&sizes, &public), "verification key: 15 public inputs on a domain of 2^4");
    for power in [0, 2, 26, 28, u32::MAX] {
        let sizes = VerifyingKey { power, ..key.clone() };
        assert!(problem(&sizes, &public).contains("public inputs on a domain"));
    }
    let multipliers = VerifyingKey { k2: key.k1, ..key.clone() };
    assert!(problem(&multipliers, &public).contains("multipliers of wires 2 and 3"));
    let outside = VerifyingKey { x_2: crate::fixtures::outside_the_subgroup(), ..key.clone() };
    assert_eq!(problem(&outside, &public), "X_2 is not on its curve, or not in its subgroup");
    let no_secret = VerifyingKey { x_2: Affine::INFINITY, ..key.clone() };
    assert_eq!(problem(&no_secret, &public), "verification key: X_2 is infinity");
}

/// Whether the texts parse as a key, public inputs and a valid proof.
fn accepted([key, public, proof]: [&[u8]; 3]) -> bool {
    let (Ok(key), Ok(public), Ok(proof)) =
        (VerifyingKey::parse("key", key), parse_public("public", public), Proof::parse("proof", proof))
    else {
        return false;
    };
    verify(Level::best(), &key, &public, &proof).is_ok()
}

#[test]
fn a_change_of_any_byte_of_the_texts_is_refused() {
    let texts = ["toy.fflonk.vk.json", "toy.public.json", "toy.fflonk.proof.json"].map(bytes);
    assert!(accepted(texts.each_ref().map(Vec::as_slice)));
    for (file, text) in texts.iter().enumerate() {
        // A document of snarkjs's early versions has no curve.
        let curve = b"\"curve\"";
        let curve =
            text.windows(curve.len()).position(|window| window == curve).map_or(0..0, |at| at + 1..at + 6);
        let positions = (0..text.len()).filter(|at| !curve.contains(at) && !text[*at].is_ascii_whitespace());
        positions.collect::<Vec<_>>().into_par_iter().for_each(|at| {
            let mut changed = text.clone();
            changed[at] ^= 1 << (at % 8);
            let mut files = texts.each_ref().map(Vec::as_slice);
            files[file] = &changed;
            assert!(!accepted(files), "file {file}, byte {at}");
            files[file] = &text[..at];
            assert!(!accepted(files), "file {file}, {at} bytes");
        });
    }
}

#[test]
fn a_changed_key_gives_an_error_or_a_valid_proof() {
    let (bytes, witness) = (bytes("toy.fflonk.zkey"), toy_witness());
    let positions: Vec<usize> = (0..600).chain((600..bytes.len()).step_by(61)).collect();
    let refused = positions.par_iter().filter(|position| {
        let mut changed = bytes.clone();
        changed[**position] ^= 1 << (**position % 8);
        // A proof that is returned was verified with the changed key.
        let result = key_from(changed)
            .and_then(|key| prove(Level::best().into(), &key, &witness, ProveOptions::default()));
        result.is_err()
    });
    let (refused, count) = (refused.count(), positions.len());
    // Coefficients of single polynomials, the Lagrange polynomials and half of the selectors' values are not read.
    assert!(refused > count / 3, "{refused} of {count} were refused");
}

/// The toy circuit's key with other counts, and sections as long as these counts require.
fn key_with(change: impl FnOnce(&mut [u32; 5])) -> Vec<u8> {
    let bytes = bytes("toy.fflonk.zkey");
    let file = BinFile::from_bytes("key", bytes.clone()).expect("a container");
    let header = file.sections().iter().find(|section| section.id == 2).expect("a header").range.start;
    /// The offset of the counts in the header: wires, public signals, domain, additions, constraints.
    const COUNTS: usize = 2 * (4 + 32);
    let mut counts = [0; 5];
    for (count, bytes) in counts.iter_mut().zip(bytes[header + COUNTS..].chunks_exact(4)) {
        *count = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    }
    let old = counts[2];
    change(&mut counts);
    let [_, public, domain, additions, constraints] = counts.map(|count| count as usize);
    let polynomial = 5 * 32 * domain;
    let mut key = bytes[..12].to_vec();
    for section in file.sections() {
        let mut content = bytes[section.range.clone()].to_vec();
        match section.id {
            2 => {
                for (count, bytes) in counts.iter().zip(content[COUNTS..].chunks_exact_mut(4)) {
                    bytes.copy_from_slice(&count.to_le_bytes());
                }
                if old != counts[2] {
                    // wr, after k1, k2, w3, w4, w8.
                    let root = Fr::root_of_unity(counts[2].ilog2()).expect("a root");
                    let cube_root = proofmill_field::Algebra::pow_vartime(&root, &[0x0aaa_aaab]);
                    let encoded = cube_root.to_montgomery().map(u64::to_le_bytes).concat();
                    content[COUNTS + 20 + 5 * 32..][..32].copy_from_slice(&encoded);
                }
            }
            3 => content.resize(72 * additions, 0),
            4..=6 => content.resize(4 * constraints, 0),
            7..=14 => content.resize(polynomial, 0),
            15 => content.resize(public.max(1) * polynomial, 0),
            16 => content.resize(64 * (9 * domain + 18), 0),
            17 => content.resize(32 * 8 * domain, 0),
            _ => {}
        }
        key.extend(section.id.to_le_bytes());
        key.extend((content.len() as u64).to_le_bytes());
        key.extend(content);
    }
    key
}

#[test]
fn contradicting_counts_are_refused_when_the_key_is_read() {
    assert!(key_with(|_| ()) == bytes("toy.fflonk.zkey"));
    let problem = |change: fn(&mut [u32; 5])| key_from(key_with(change)).expect_err("no key").to_string();
    let more_public: fn(&mut [u32; 5]) = |[wires, public, _, _, constraints]| {
        *wires += *constraints;
        *public = *constraints + 1;
    };
    assert!(problem(more_public).contains("public signals, but"));
    assert!(
        problem(|[.., domain, _, constraints]| *constraints = *domain - 1)
            .contains("constraints over a domain")
    );
    assert!(problem(|[wires, .., additions, _]| *additions = *wires).contains("additions among"));
    assert!(problem(|[_, _, domain, ..]| *domain = 4).contains("constraints over a domain"));
    let small: fn(&mut [u32; 5]) = |[_, public, domain, additions, constraints]| {
        (*public, *domain, *additions, *constraints) = (1, 4, 0, 2);
    };
    assert_eq!(problem(small), "proving key: expected a domain of 2^3 to 2^26, found 2^2");
}

#[test]
fn no_counts_lead_to_a_panic() {
    let mut rng = ChaCha20Rng::seed_from_u64(15);
    let mut accepted = 0;
    for _ in 0..300 {
        let key = key_with(|counts| change_counts(counts, &mut rng));
        let Ok(zkey) = FflonkZkey::read(BinFile::from_bytes("key", key.clone()).expect("a container")) else {
            continue;
        };
        accepted += 1;
        let wires = zkey.header().counts.circuit_wires() as usize;
        let key = key_from(key).expect("a key");
        for check_witness in [true, false] {
            for witness in [toy_witness(), vec![Fr::ONE; wires]] {
                // A proof by such a key may even be valid, if only unused parts changed.
                drop(prove(Level::best().into(), &key, &witness, ProveOptions { check_witness }));
            }
        }
    }
    assert!(accepted >= 20, "only {accepted} keys passed the checks of the header");
}

#[test]
fn vectors_in_files_give_the_same_proof() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = toy_key().with_scratch(Some(folder.path().to_owned()));
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let options = ProveOptions::default();
    let made = prove_with_rng(Level::best().into(), &key, &toy_witness(), options, &mut rng);
    assert_eq!(made.expect("a proof").0, seeded(Level::best(), 1));
}
