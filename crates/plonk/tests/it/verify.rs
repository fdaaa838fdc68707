//! Every change to a proof, a key or the public inputs is refused, as wrong or as malformed.

use crate::fixtures::{outside_the_subgroup, public_inputs, snarkjs_proof, snarkjs_verifying_key};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, bn254::G1};
use proofmill_field::{
    Field,
    bn254::{Fq, Fr},
};
use proofmill_plonk::{MalformedError, Proof, VerifyError, VerifyingKey, verify};

fn check(key: &VerifyingKey, public: &[Fr], proof: &Proof) -> Result<(), VerifyError> {
    verify(Level::best(), key, public, proof)
}

fn points_of(proof: &mut Proof) -> Vec<&mut Affine<G1>> {
    let Proof { commitments, quotient, opening, shifted_opening, .. } = proof;
    commitments.iter_mut().flatten().chain(quotient).chain([opening, shifted_opening]).collect()
}

fn scalars_of(proof: &mut Proof) -> Vec<&mut Fr> {
    proof.evaluations.iter_mut().collect()
}

/// The element with one bit of a byte of its encoding flipped, or `None` if the result is not an element.
fn flip(element: Fr, byte: usize) -> Option<Fr> {
    let mut bytes = element.to_bytes_le();
    bytes[byte] ^= 1 << (byte % 8);
    Fr::from_bytes_le(&bytes).ok()
}

fn flip_coordinate(coordinate: Fq, byte: usize) -> Option<Fq> {
    let mut bytes = coordinate.to_bytes_le();
    bytes[byte] ^= 1 << (byte % 8);
    Fq::from_bytes_le(&bytes).ok()
}

#[test]
fn a_change_of_any_byte_of_a_proof_is_refused() {
    let (key, public) = (snarkjs_verifying_key(), public_inputs());
    assert_eq!(check(&key, &public, &snarkjs_proof()), Ok(()));
    let points = points_of(&mut snarkjs_proof()).len();
    let scalars = scalars_of(&mut snarkjs_proof()).len();
    assert_eq!((points, scalars), (9, 6));
    for byte in 0..32 {
        for index in 0..points {
            for ordinate in [false, true] {
                let mut proof = snarkjs_proof();
                let point = &mut *points_of(&mut proof)[index];
                let coordinate = if ordinate { &mut point.y } else { &mut point.x };
                let Some(changed) = flip_coordinate(*coordinate, byte) else { continue };
                *coordinate = changed;
                let result = check(&key, &public, &proof);
                assert!(
                    matches!(result, Err(VerifyError::Malformed(MalformedError::Point { .. }))),
                    "point {index}: {result:?}"
                );
            }
        }
        for index in 0..scalars {
            let mut proof = snarkjs_proof();
            let scalar = &mut *scalars_of(&mut proof)[index];
            let Some(changed) = flip(*scalar, byte) else { continue };
            *scalar = changed;
            assert_eq!(check(&key, &public, &proof), Err(VerifyError::Rejected), "scalar {index}");
        }
    }
}

#[test]
fn other_points_are_rejected() {
    let (key, public) = (snarkjs_verifying_key(), public_inputs());
    for index in 0..9 {
        let replacements = |point: Affine<G1>| [-point, Affine::INFINITY, G1::GENERATOR];
        for choice in 0..3 {
            let mut proof = snarkjs_proof();
            let point = &mut *points_of(&mut proof)[index];
            *point = replacements(*point)[choice];
            assert_eq!(
                check(&key, &public, &proof),
                Err(VerifyError::Rejected),
                "point {index}, replacement {choice}"
            );
        }
    }
    let mut swapped = snarkjs_proof();
    swapped.commitments[0].swap(0, 1);
    assert_eq!(check(&key, &public, &swapped), Err(VerifyError::Rejected));
}

#[test]
fn public_inputs_are_bound() {
    let (key, proof) = (snarkjs_verifying_key(), snarkjs_proof());
    for index in 0..2 {
        for byte in 0..32 {
            let mut public = public_inputs();
            let Some(changed) = flip(public[index], byte) else { continue };
            public[index] = changed;
            assert_eq!(check(&key, &public, &proof), Err(VerifyError::Rejected));
        }
    }
    let mut public = public_inputs();
    public.push(Fr::ZERO);
    let expected = Err(MalformedError::PublicInputs { expected: 2, found: 3 }.into());
    assert_eq!(check(&key, &public, &proof), expected);
    assert_eq!(check(&key, &[], &proof), Err(MalformedError::PublicInputs { expected: 2, found: 0 }.into()));
}

#[test]
fn the_key_is_bound() {
    let (public, proof) = (public_inputs(), snarkjs_proof());
    let refused = |change: &dyn Fn(&mut VerifyingKey)| {
        let mut key = snarkjs_verifying_key();
        change(&mut key);
        check(&key, &public, &proof) != Ok(())
    };
    for index in 0..5 {
        assert!(refused(&|key| key.fixed[index] = G1::GENERATOR), "selector {index}");
        assert!(refused(&|key| key.fixed[index].x += Fq::ONE), "selector {index} off the curve");
    }
    for index in 0..3 {
        assert!(refused(&|key| key.fixed[5 + index] = -key.fixed[5 + index]), "S{index}");
    }
    for index in 0..2 {
        assert!(refused(&|key| key.multipliers[1 + index] += Fr::ONE), "k{index}");
    }
    assert!(refused(&|key| key.log_n += 1));
    assert!(refused(&|key| key.tau = -key.tau));
    assert!(refused(&|key| key.tau.x.c0 += Fq::ONE));
    let key = VerifyingKey { tau: outside_the_subgroup(), ..snarkjs_verifying_key() };
    assert_eq!(check(&key, &public, &proof), Err(MalformedError::Point { name: "X_2".into() }.into()));
}

#[test]
fn keys_with_impossible_sizes_are_malformed() {
    let (public, proof) = (public_inputs(), snarkjs_proof());
    for (log_n, inputs) in [(29, 2), (u32::MAX, 2), (3, 9), (3, u32::MAX)] {
        let key = VerifyingKey { log_n, public: inputs, ..snarkjs_verifying_key() };
        let expected = Err(MalformedError::Key { log_n, public: inputs }.into());
        assert_eq!(check(&key, &public, &proof), expected);
    }
}

#[test]
fn an_all_zero_proof_is_rejected() {
    // All-zero proofs satisfy the pairing equation of verifiers that do not bind everything.
    let key = snarkjs_verifying_key();
    let mut proof = snarkjs_proof();
    points_of(&mut proof).into_iter().for_each(|point| *point = Affine::INFINITY);
    scalars_of(&mut proof).into_iter().for_each(|scalar| *scalar = Fr::ZERO);
    assert_eq!(check(&key, &public_inputs(), &proof), Err(VerifyError::Rejected));
}
