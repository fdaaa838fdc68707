//! Prover and verifier against snarkjs's files, and against each other.

use proofmill_circom::{
    BinFile, CircomCurve, Groth16Proof, Groth16VerificationKey, Groth16Zkey, read_public, read_witness,
};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, Jacobian, bls12_381, bn254};
use proofmill_field::{Algebra, Field};
use proofmill_groth16::{
    DividedQuotient, Groth16Curve, Groth16Error, Progress, Sums, assemble, assemble_with_rng, constraints,
    prove, prove_with_rng, quotient, verify, verifying_key, verifying_key_text,
};
use proofmill_run::Run;
use proofmill_testing::{for_each_level, for_each_pool};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use std::{cell::RefCell, fs, ops::Range, path::PathBuf};

/// The curves and folders of snarkjs's files: the smallest circuit over both curves, and Merkle membership.
const CIRCUITS: [[&str; 2]; 3] = [
    [bn254::G1::SNARKJS, "../circom/tests/data"],
    [bn254::G1::SNARKJS, "../../examples/membership-small"],
    [bls12_381::G1::SNARKJS, "../circom/tests/data/bls12-381"],
];

struct Fixture<C: CircomCurve = bn254::G1> {
    key: Groth16Zkey<C>,
    key_text: String,
    verifying_key: Groth16VerificationKey<C>,
    proof: Groth16Proof<C>,
    witness: Vec<C::Scalar>,
    public: Vec<C::Scalar>,
}

fn fixtures<C: CircomCurve>() -> Vec<Fixture<C>> {
    let folders = CIRCUITS.iter().filter(|[curve, _]| *curve == C::SNARKJS).map(|[_, folder]| folder);
    let fixtures = folders.map(|folder| {
        let path = |name: &str| [env!("CARGO_MANIFEST_DIR"), folder, name].iter().collect::<PathBuf>();
        let (key, proof) = ("groth16.vk.json", "groth16.proof.json");
        Fixture {
            key: Groth16Zkey::open(&path("groth16.zkey")).unwrap(),
            key_text: fs::read_to_string(path(key)).unwrap(),
            verifying_key: Groth16VerificationKey::open(&path(key)).unwrap(),
            proof: Groth16Proof::open(&path(proof)).unwrap(),
            witness: read_witness(&path("witness.wtns"), Level::best()).unwrap(),
            public: read_public(&path("public.json")).unwrap(),
        }
    });
    fixtures.collect()
}

/// Other points than this one.
fn others<C: Curve>(point: Affine<C>) -> [Affine<C>; 2] {
    [-point, Jacobian::from(point).add_affine(&C::GENERATOR).to_affine()]
}

fn rejected(result: Result<(), Groth16Error>) -> bool {
    matches!(result, Err(Groth16Error::Rejected))
}

#[test]
fn snarkjs_proofs_verify() {
    fn check<C: Groth16Curve>() {
        for fixture in fixtures::<C>() {
            for_each_level(|level| {
                verify(level, &fixture.verifying_key, &fixture.public, &fixture.proof).unwrap();
            });
        }
    }
    check::<bn254::G1>();
    check::<bls12_381::G1>();
}

#[test]
fn verifying_keys_are_snarkjs_texts() {
    fn check<C: Groth16Curve>() {
        for fixture in fixtures::<C>() {
            for_each_level(|level| {
                assert_eq!(verifying_key(level, &fixture.key).unwrap(), fixture.verifying_key);
                assert_eq!(verifying_key_text(level, &fixture.verifying_key), fixture.key_text);
            });
        }
    }
    check::<bn254::G1>();
    check::<bls12_381::G1>();
}

#[test]
fn same_proof_at_every_level_and_thread_count() {
    fn check<C: Groth16Curve>() {
        for fixture in fixtures::<C>() {
            let mut texts = Vec::new();
            for_each_pool(&[1, 2, 5], |_| {
                for_each_level(|level| {
                    let mut rng = ChaCha20Rng::seed_from_u64(9);
                    let proof =
                        prove_with_rng(level.into(), &fixture.key, &fixture.witness, &mut rng).unwrap();
                    verify(level, &fixture.verifying_key, &fixture.public, &proof).unwrap();
                    assert_eq!(proof, first_proof(&fixture));
                });
            });
            texts.push(first_proof(&fixture).text());
            let phases = RefCell::new(Vec::new());
            let observer = |phase| phases.borrow_mut().push(phase);
            let progress = Progress::new(&observer);
            let other =
                prove(Run { progress, ..Level::best().into() }, &fixture.key, &fixture.witness).unwrap();
            let phases = phases.borrow();
            assert_ne!(other.text(), texts[0], "blinding");
            assert!(phases.contains(&"msm h") && phases.last() == Some(&"verify"));
        }
    }
    check::<bn254::G1>();
    check::<bls12_381::G1>();
}

fn first_proof<C: Groth16Curve>(fixture: &Fixture<C>) -> Groth16Proof<C> {
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    prove_with_rng(Level::available()[0].into(), &fixture.key, &fixture.witness, &mut rng).unwrap()
}

#[test]
fn what_is_changed_is_refused() {
    fn check<C: Groth16Curve>() {
        let level = Level::best();
        for Fixture { verifying_key: key, proof, public, .. } in fixtures::<C>() {
            for i in 0..public.len() {
                let mut public = public.clone();
                public[i] += C::Scalar::ONE;
                assert!(rejected(verify(level, &key, &public, &proof)));
            }
            for (a, c) in others(proof.a).into_iter().zip(others(proof.c)) {
                assert!(rejected(verify(level, &key, &public, &Groth16Proof { a, ..proof })));
                assert!(rejected(verify(level, &key, &public, &Groth16Proof { c, ..proof })));
            }
            for b in others(proof.b) {
                assert!(rejected(verify(level, &key, &public, &Groth16Proof { b, ..proof })));
            }
            for i in 0..key.ic.len() {
                let mut key = key.clone();
                key.ic[i] = key.ic[i].mul_vartime(&C::Scalar::from(2u64)).to_affine();
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
    check::<bn254::G1>();
    check::<bls12_381::G1>();
}

#[test]
fn what_is_malformed_is_named() {
    fn check<C: Groth16Curve>() {
        let level = Level::best();
        for Fixture { verifying_key: key, proof, public, .. } in fixtures::<C>() {
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
    check::<bn254::G1>();
    check::<bls12_381::G1>();
}

/// A proof that satisfies the equation with C at infinity, for a key whose logarithms are known, and ones with the other points there.
#[test]
fn infinity_in_a_proof_is_refused() {
    fn check<C: Groth16Curve>() {
        let [alpha, beta, gamma, delta, constant] = [2, 3, 5, 7, 11].map(C::Scalar::from);
        fn point<G: Curve>(log: G::Scalar) -> Affine<G> {
            G::GENERATOR.mul_vartime(&log).to_affine()
        }
        let key = Groth16VerificationKey::<C> {
            alpha_1: point(alpha),
            beta_2: point(beta),
            gamma_2: point(gamma),
            delta_2: point(delta),
            ic: vec![point(constant)],
        };
        let of_inputs = alpha * beta + constant * gamma;
        let valid = Groth16Proof::<C> {
            a: point(C::Scalar::ONE),
            b: point(of_inputs + delta),
            c: point(C::Scalar::ONE),
        };
        verify(Level::best(), &key, &[], &valid).expect("the equation holds");
        let none = Affine::INFINITY;
        for proof in [
            Groth16Proof { b: point(of_inputs), c: Affine::INFINITY, ..valid },
            Groth16Proof { a: none, ..valid },
            Groth16Proof { b: Affine::INFINITY, ..valid },
        ] {
            let refused = verify(Level::best(), &key, &[], &proof);
            assert!(
                matches!(refused, Err(Groth16Error::MalformedProof(problem)) if problem.contains("infinity"))
            );
        }
    }
    check::<bn254::G1>();
    check::<bls12_381::G1>();
}

#[test]
fn points_outside_their_group_are_refused() {
    use proofmill_field::bls12_381::Fq;
    // Of order 3: a pairing with it is 1.
    let outside = Affine { x: Fq::ZERO, y: Fq::from(2u64) };
    assert!(outside.is_on_curve());
    let fixture = &fixtures::<bls12_381::G1>()[0];
    let add = |point: Affine<bls12_381::G1>| Jacobian::from(point).add_affine(&outside).to_affine();
    for_each_level(|level| {
        let Fixture { verifying_key: key, proof, public, .. } = fixture;
        for proof in [Groth16Proof { a: add(proof.a), ..*proof }, Groth16Proof { c: add(proof.c), ..*proof }]
        {
            let result = verify(level, key, public, &proof);
            assert!(matches!(result, Err(Groth16Error::MalformedProof(_))), "{result:?}");
        }
        for index in 0..key.ic.len() {
            let mut key = key.clone();
            key.ic[index] = add(key.ic[index]);
            let result = verify(level, &key, public, proof);
            assert!(matches!(result, Err(Groth16Error::Malformed(_))), "{result:?}");
        }
    });
}

#[test]
fn witnesses_that_do_not_satisfy_are_refused() {
    fn check<C: Groth16Curve>() {
        for mut fixture in fixtures::<C>() {
            let last = fixture.witness.len() - 1;
            fixture.witness[last] += C::Scalar::ONE;
            let result = prove(Level::best().into(), &fixture.key, &fixture.witness);
            assert!(matches!(result, Err(Groth16Error::Unsatisfied)));
            fixture.witness.pop();
            let result = prove(Level::best().into(), &fixture.key, &fixture.witness);
            assert!(matches!(result, Err(Groth16Error::WitnessLength { .. })));
        }
    }
    check::<bn254::G1>();
    check::<bls12_381::G1>();
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
    for fixture in fixtures::<bn254::G1>() {
        let Fixture { key, witness, public, .. } = &fixture;
        let quotient = quotient(level.into(), key, witness).unwrap();
        let first_private = public.len() + 1;
        for cuts in
            [vec![], vec![0, 1, 1], vec![first_private], vec![first_private - 1, first_private + 1, 7]]
        {
            let mut sums = Sums::ZERO;
            for wires in parts(witness.len(), &cuts) {
                let values = &witness[wires.clone()];
                let part = Sums::of_wires(level.into(), key, wires.start, values).unwrap();
                sums = Sums::from_bytes(&part.to_bytes()).unwrap() + sums;
            }
            for points in parts(quotient.len(), &cuts) {
                let values = &quotient[points.clone()];
                let part = Sums::of_quotient(level.into(), key, points.start, values).unwrap();
                sums = sums + Sums::from_bytes(&part.to_bytes()).unwrap();
            }
            let mut rng = ChaCha20Rng::seed_from_u64(9);
            let proof = assemble_with_rng(level.into(), key, public, &sums, &mut rng).unwrap();
            assert_eq!(proof, first_proof(&fixture));
            let twice = assemble(level.into(), key, public, &(sums + sums));
            assert!(matches!(twice, Err(Groth16Error::Unsatisfied)));
            let fewer = assemble(level.into(), key, &public[1..], &sums);
            assert!(matches!(fewer, Err(Groth16Error::PublicLength { .. })));
        }
        for (first, count) in [(1, witness.len()), (usize::MAX, 1), (witness.len() + 1, 0)] {
            let sums = Sums::of_wires(level.into(), key, first, &witness[..count]);
            assert!(matches!(sums, Err(Groth16Error::Range { .. })), "{first}, {count}");
        }
        let sums = Sums::of_quotient(level.into(), key, 1, &quotient);
        assert!(matches!(sums, Err(Groth16Error::Range { .. })));
    }
}

#[test]
fn a_divided_quotient_is_the_quotient() {
    fn check<C: Groth16Curve>() {
        for Fixture { key, witness, .. } in fixtures::<C>() {
            for_each_level(|level| {
                let expected = quotient(level.into(), &key, &witness).unwrap();
                let [a, b] = constraints(level.into(), &key, &witness).unwrap();
                let Some(steps) = DividedQuotient::<C>::new(a.len()) else { return assert!(a.len() < 64) };
                let (rows, columns) = (0..steps.rows(), 0..steps.columns());
                let values = steps.interpolate(level, columns.clone(), [&a, &b]);
                let values = steps.extend(level, rows, values.each_ref().map(Vec::as_slice));
                assert!(
                    steps.finish(level, columns, values.each_ref().map(Vec::as_slice)) == expected,
                    "{level}"
                );
            });
        }
        for points in [0, 1, 32, 63, 65, 1 << 63] {
            assert!(DividedQuotient::<C>::new(points).is_none(), "{points}");
        }
    }
    check::<bn254::G1>();
    check::<bls12_381::G1>();
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
    for Fixture { key, witness, .. } in fixtures::<bn254::G1>() {
        let quotient = quotient(level.into(), &key, &witness).unwrap();
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
                    let of_wires = Sums::of_wires(level.into(), key, wires.start, values).unwrap();
                    let values = &quotient[points.start..points.end.min(quotient.len())];
                    let rest = Sums::of_quotient(level.into(), key, points.start, values).unwrap();
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
