//! Prover and verifier against snarkjs's files, and against each other.

use proofmill_circom::{
    BinFile, Groth16Proof, Groth16VerificationKey, Groth16Zkey, read_public, read_witness,
};
use proofmill_cpu::Level;
use proofmill_curve::{
    Curve,
    bn254::{G1, G2},
};
use proofmill_field::{Algebra, Field, bn254::Fr};
use proofmill_groth16::{
    Groth16Error, Progress, Sums, assemble, assemble_with_rng, prove, prove_with_rng, quotient, verify,
    verifying_key, verifying_key_text,
};
use proofmill_testing::{for_each_level, for_each_pool};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use std::{cell::RefCell, fs, ops::Range, path::PathBuf};

/// snarkjs's files of two circuits: the smallest one, and Merkle membership.
const CIRCUITS: [[&str; 5]; 2] = [
    ["../circom/tests/data", "groth16.zkey", "groth16.vk.json", "groth16.proof.json", "public.json"],
    [
        "../../examples/membership-small",
        "groth16.zkey",
        "groth16.vk.json",
        "groth16.proof.json",
        "public.json",
    ],
];

struct Fixture {
    key: Groth16Zkey,
    key_text: String,
    verifying_key: Groth16VerificationKey,
    proof: Groth16Proof,
    witness: Vec<Fr>,
    public: Vec<Fr>,
}

fn fixtures() -> Vec<Fixture> {
    let fixtures = CIRCUITS.iter().map(|[folder, key, verifying_key, proof, public]| {
        let path = |name: &str| [env!("CARGO_MANIFEST_DIR"), folder, name].iter().collect::<PathBuf>();
        Fixture {
            key: Groth16Zkey::open(&path(key)).unwrap(),
            key_text: fs::read_to_string(path(verifying_key)).unwrap(),
            verifying_key: Groth16VerificationKey::open(&path(verifying_key)).unwrap(),
            proof: Groth16Proof::open(&path(proof)).unwrap(),
            witness: read_witness(&path("witness.wtns"), Level::best()).unwrap(),
            public: read_public(&path(public)).unwrap(),
        }
    });
    fixtures.collect()
}

fn rejected(result: Result<(), Groth16Error>) -> bool {
    matches!(result, Err(Groth16Error::Rejected))
}

#[test]
fn snarkjs_proofs_verify() {
    for fixture in fixtures() {
        for_each_level(|level| {
            verify(level, &fixture.verifying_key, &fixture.public, &fixture.proof).unwrap();
        });
    }
}

#[test]
fn verifying_keys_are_snarkjs_texts() {
    for fixture in fixtures() {
        for_each_level(|level| {
            assert_eq!(verifying_key(level, &fixture.key).unwrap(), fixture.verifying_key);
            assert_eq!(verifying_key_text(level, &fixture.verifying_key), fixture.key_text);
        });
    }
}

#[test]
fn same_proof_at_every_level_and_thread_count() {
    for fixture in fixtures() {
        let mut texts = Vec::new();
        for_each_pool(&[1, 2, 5], |_| {
            for_each_level(|level| {
                let mut rng = ChaCha20Rng::seed_from_u64(9);
                let proof =
                    prove_with_rng(level, &fixture.key, &fixture.witness, &mut rng, Progress::NONE).unwrap();
                verify(level, &fixture.verifying_key, &fixture.public, &proof).unwrap();
                assert_eq!(proof, first_proof(&fixture));
            });
        });
        texts.push(first_proof(&fixture).text());
        let phases = RefCell::new(Vec::new());
        let observer = |phase| phases.borrow_mut().push(phase);
        let progress = Progress::new(&observer);
        let other = prove(Level::best(), &fixture.key, &fixture.witness, progress).unwrap();
        let phases = phases.borrow();
        assert_ne!(other.text(), texts[0], "blinding");
        assert!(phases.contains(&"msm h") && phases.last() == Some(&"verify"));
    }
}

fn first_proof(fixture: &Fixture) -> Groth16Proof {
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    prove_with_rng(Level::available()[0], &fixture.key, &fixture.witness, &mut rng, Progress::NONE).unwrap()
}

#[test]
fn what_is_changed_is_refused() {
    let level = Level::best();
    for Fixture { verifying_key: key, proof, public, .. } in fixtures() {
        for i in 0..public.len() {
            let mut public = public.clone();
            public[i] += Fr::ONE;
            assert!(rejected(verify(level, &key, &public, &proof)));
        }
        let g1 = |point: proofmill_curve::Affine<G1>| {
            [-point, proofmill_curve::Jacobian::from(point).add_affine(&G1::GENERATOR).to_affine()]
        };
        let g2 = |point: proofmill_curve::Affine<G2>| {
            [-point, proofmill_curve::Jacobian::from(point).add_affine(&G2::GENERATOR).to_affine()]
        };
        for (a, c) in g1(proof.a).into_iter().zip(g1(proof.c)) {
            assert!(rejected(verify(level, &key, &public, &Groth16Proof { a, ..proof })));
            assert!(rejected(verify(level, &key, &public, &Groth16Proof { c, ..proof })));
        }
        for b in g2(proof.b) {
            assert!(rejected(verify(level, &key, &public, &Groth16Proof { b, ..proof })));
        }
        for i in 0..key.ic.len() {
            let mut key = key.clone();
            key.ic[i] = key.ic[i].mul_vartime(&Fr::from(2u64)).to_affine();
            // A change of a point that is multiplied by a zero signal has no effect.
            let silent = i > 0 && public[i - 1].is_zero();
            assert_eq!(verify(level, &key, &public, &proof).is_ok(), silent);
        }
        for change in 0..4 {
            let mut key = key.clone();
            match change {
                0 => key.alpha_1 = -key.alpha_1,
                1 => key.beta_2 = -key.beta_2,
                2 => key.gamma_2 = -key.gamma_2,
                _ => key.delta_2 = -key.delta_2,
            }
            assert!(rejected(verify(level, &key, &public, &proof)));
        }
    }
}

#[test]
fn what_is_malformed_is_named() {
    let level = Level::best();
    for Fixture { verifying_key: key, proof, public, .. } in fixtures() {
        let fewer = &public[1..];
        assert!(matches!(verify(level, &key, fewer, &proof), Err(Groth16Error::PublicLength { .. })));
        let mut off_curve = proof;
        off_curve.a.y = off_curve.a.y.double();
        assert!(matches!(verify(level, &key, &public, &off_curve), Err(Groth16Error::MalformedProof(_))));
        let mut off_twist = proof;
        off_twist.b.x = off_twist.b.x.double();
        assert!(matches!(verify(level, &key, &public, &off_twist), Err(Groth16Error::MalformedProof(_))));
    }
}

#[test]
fn witnesses_that_do_not_satisfy_are_refused() {
    for mut fixture in fixtures() {
        let last = fixture.witness.len() - 1;
        fixture.witness[last] += Fr::ONE;
        let result = prove(Level::best(), &fixture.key, &fixture.witness, Progress::NONE);
        assert!(matches!(result, Err(Groth16Error::Unsatisfied)));
        fixture.witness.pop();
        let result = prove(Level::best(), &fixture.key, &fixture.witness, Progress::NONE);
        assert!(matches!(result, Err(Groth16Error::WitnessLength { .. })));
    }
}

/// `0..length`, cut at these places.
fn parts(length: usize, cuts: &[usize]) -> Vec<Range<usize>> {
    let mut ends: Vec<_> = cuts.iter().map(|cut| (*cut).min(length)).collect();
    ends.sort_unstable();
    let starts = std::iter::once(0).chain(ends.clone());
    starts.zip(ends.iter().copied().chain([length])).map(|(start, end)| start..end).collect()
}

#[test]
fn sums_of_parts_are_those_of_the_proof() {
    let level = Level::best();
    for fixture in fixtures() {
        let Fixture { key, witness, public, .. } = &fixture;
        let quotient = quotient(level, key, witness, Progress::NONE).unwrap();
        let first_private = public.len() + 1;
        for cuts in
            [vec![], vec![0, 1, 1], vec![first_private], vec![first_private - 1, first_private + 1, 7]]
        {
            let mut sums = Sums::ZERO;
            for wires in parts(witness.len(), &cuts) {
                let values = &witness[wires.clone()];
                let part = Sums::of_wires(level, key, wires.start, values, Progress::NONE).unwrap();
                sums = Sums::from_bytes(&part.to_bytes()).unwrap() + sums;
            }
            for points in parts(quotient.len(), &cuts) {
                let values = &quotient[points.clone()];
                let part = Sums::of_quotient(level, key, points.start, values, Progress::NONE).unwrap();
                sums = sums + Sums::from_bytes(&part.to_bytes()).unwrap();
            }
            let mut rng = ChaCha20Rng::seed_from_u64(9);
            let proof = assemble_with_rng(level, key, public, &sums, &mut rng, Progress::NONE).unwrap();
            assert_eq!(proof, first_proof(&fixture));
            let twice = assemble(level, key, public, &(sums + sums), Progress::NONE);
            assert!(matches!(twice, Err(Groth16Error::Unsatisfied)));
            let fewer = assemble(level, key, &public[1..], &sums, Progress::NONE);
            assert!(matches!(fewer, Err(Groth16Error::PublicLength { .. })));
        }
        for (first, count) in [(1, witness.len()), (usize::MAX, 1), (witness.len() + 1, 0)] {
            let sums = Sums::of_wires(level, key, first, &witness[..count], Progress::NONE);
            assert!(matches!(sums, Err(Groth16Error::Range { .. })), "{first}, {count}");
        }
        let sums = Sums::of_quotient(level, key, 1, &quotient, Progress::NONE);
        assert!(matches!(sums, Err(Groth16Error::Range { .. })));
    }
}

#[test]
fn sums_off_their_curves_are_refused() {
    let zero = Sums::ZERO.to_bytes();
    assert_eq!(Sums::from_bytes(&zero).unwrap().to_bytes(), zero);
    for position in [0, 64, 128, 256] {
        let mut bytes = zero;
        bytes[position + 31] = 1;
        assert!(Sums::from_bytes(&bytes).is_err());
        bytes[position] = 255;
        assert!(Sums::from_bytes(&bytes).is_err());
    }
}

#[test]
fn a_slice_of_a_key_has_what_its_sums_read() {
    let level = Level::best();
    for Fixture { key, witness, .. } in fixtures() {
        let quotient = quotient(level, &key, &witness, Progress::NONE).unwrap();
        let public = key.header().public as usize;
        for wires in [0..0, 0..witness.len(), 0..public + 2, public + 2..witness.len(), 3..usize::MAX] {
            for points in [0..quotient.len(), 0..0, 1..2, quotient.len() - 1..usize::MAX] {
                let mut bytes = vec![0; key.file().len()];
                for range in key.slice(wires.clone(), points.clone()) {
                    bytes[range.clone()].copy_from_slice(&key.file().bytes()[range]);
                }
                let slice = Groth16Zkey::read(BinFile::from_bytes("slice", bytes).unwrap()).unwrap();
                assert_eq!(slice.header(), key.header());
                assert_eq!(verifying_key(level, &slice).unwrap(), verifying_key(level, &key).unwrap());
                let sums = |key: &Groth16Zkey| {
                    let values = &witness[wires.start..wires.end.min(witness.len())];
                    let of_wires = Sums::of_wires(level, key, wires.start, values, Progress::NONE).unwrap();
                    let values = &quotient[points.start..points.end.min(quotient.len())];
                    let rest = Sums::of_quotient(level, key, points.start, values, Progress::NONE).unwrap();
                    (of_wires + rest).to_bytes()
                };
                assert_eq!(sums(&slice), sums(&key));
                let reversed = key.slice(wires.end..wires.start, points.end..points.start);
                assert!(reversed.iter().all(|range| range.start < range.end));
            }
        }
        let whole = key.slice(0..usize::MAX, 0..usize::MAX);
        let bytes: usize = whole.iter().map(|range| range.len()).sum();
        assert_eq!(key.file().len() - bytes, 44 * key.coefficients().unwrap().len());
        let half = key.slice(0..witness.len() / 2, 0..quotient.len() / 2);
        let half: usize = half.iter().map(|range| range.len()).sum();
        assert!(half < bytes * 3 / 4);
    }
}
