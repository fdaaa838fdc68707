//! For every kind of key that is found insecure, a proof of a statement that nobody has a witness for.

use proofmill_circom::{Groth16Proof, Groth16VerificationKey, Groth16Zkey};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve, Jacobian,
    bn254::{G1, G2},
    msm,
};
use proofmill_field::{Field, Invert, bn254::Fr};
use proofmill_groth16::{insecurity, verify, verifying_key};
use std::path::PathBuf;

/// snarkjs's key of a circuit, after a contribution or before.
fn key(path: &str) -> Groth16VerificationKey {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), path].iter().collect();
    verifying_key(Level::best(), &Groth16Zkey::open(&path).unwrap()).unwrap()
}

fn contributed() -> Groth16VerificationKey {
    key("../../examples/membership-small/groth16.zkey")
}

/// Any signals: the forgeries do not depend on the circuit.
fn signals(key: &Groth16VerificationKey) -> Vec<Fr> {
    (1..key.ic.len() as u64).map(|index| Fr::from(1_000_003 * index)).collect()
}

fn inputs(key: &Groth16VerificationKey, signals: &[Fr]) -> Affine<G1> {
    let (constant, others) = key.ic.split_first().unwrap();
    msm::<G1>(Level::best(), others, signals).add_affine(constant).to_affine()
}

fn sum<C: Curve>(left: Affine<C>, right: Affine<C>) -> Affine<C> {
    Jacobian::from(left).add_affine(&right).to_affine()
}

#[track_caller]
fn forged(key: &Groth16VerificationKey, signals: &[Fr], proof: &Groth16Proof, words: &str) {
    verify(Level::best(), key, signals, proof).expect("the forgery verifies");
    let reason = insecurity(key).expect("the key is found");
    assert!(reason.contains(words), "{reason}");
}

#[test]
fn keys_of_a_ceremony_are_not_found() {
    for path in ["../../examples/membership-small/groth16.zkey", "../circom/tests/data/groth16.zkey"] {
        assert_eq!(insecurity(&key(path)), None, "{path}");
    }
}

#[test]
fn delta_equals_gamma() {
    for path in ["tests/data/membership-small.zkey", "tests/data/odd.zkey", "tests/data/toy.zkey"] {
        let key = key(path);
        let signals = signals(&key);
        let proof = Groth16Proof { a: key.alpha_1, b: key.beta_2, c: -inputs(&key, &signals) };
        forged(&key, &signals, &proof, "delta equals gamma");
    }
}

#[test]
fn delta_is_the_negative_of_gamma() {
    let mut key = contributed();
    key.delta_2 = -key.gamma_2;
    let signals = signals(&key);
    let proof = Groth16Proof { a: key.alpha_1, b: key.beta_2, c: inputs(&key, &signals) };
    forged(&key, &signals, &proof, "delta equals gamma");
}

#[test]
fn alpha_and_beta_are_one() {
    // The logarithms of the signals' points, which everyone knows if tau is 1 too.
    let logarithms = [3, 5, 7, 11].map(Fr::from);
    let ic = logarithms.map(|log| G1::GENERATOR.mul_vartime(&log).to_affine()).to_vec();
    let (alpha_1, beta_2) = (G1::GENERATOR, G2::GENERATOR);
    let key = Groth16VerificationKey { alpha_1, beta_2, ic, ..contributed() };
    let signals = signals(&key);
    let log = signals.iter().zip(&logarithms[1..]).fold(logarithms[0], |sum, (x, log)| sum + *x * *log);
    let b = sum(G2::GENERATOR.mul_vartime(&(log + Fr::ONE)).to_affine(), key.delta_2);
    forged(&key, &signals, &Groth16Proof { a: alpha_1, b, c: G1::GENERATOR }, "alpha and beta are known");
    for key in [
        Groth16VerificationKey { alpha_1, ..contributed() },
        Groth16VerificationKey { beta_2: -beta_2, ..contributed() },
    ] {
        assert!(insecurity(&key).is_some(), "one of the two suffices");
    }
}

#[test]
fn the_point_of_the_constant_is_infinity() {
    let mut key = contributed();
    key.ic[0] = Affine::INFINITY;
    let zeros = vec![Fr::ZERO; key.ic.len() - 1];
    let proof = Groth16Proof { a: key.alpha_1, b: sum(key.beta_2, key.delta_2), c: key.alpha_1 };
    forged(&key, &zeros, &proof, "constant is infinity");
}

#[test]
fn delta_and_gamma_are_multiples_of_each_other() {
    for (factor, sign) in [(2u64, 1), (3, -1), (32, 1)] {
        let factor = if sign < 0 { -Fr::from(factor) } else { Fr::from(factor) };
        let mut key = contributed();
        key.gamma_2 = key.delta_2.mul_vartime(&factor).to_affine();
        let signals = signals(&key);
        let c = -inputs(&key, &signals).mul_vartime(&factor).to_affine();
        let proof = Groth16Proof { a: key.alpha_1, b: key.beta_2, c };
        forged(&key, &signals, &proof, "small multiple");
        let mut key = contributed();
        key.delta_2 = key.gamma_2.mul_vartime(&factor).to_affine();
        let c = -inputs(&key, &signals).mul_vartime(&factor.invert_vartime().unwrap()).to_affine();
        forged(&key, &signals, &Groth16Proof { a: key.alpha_1, b: key.beta_2, c }, "small multiple");
    }
    // Beyond what is searched for.
    let mut key = contributed();
    key.gamma_2 = key.delta_2.mul_vartime(&Fr::from(33u64)).to_affine();
    assert_eq!(insecurity(&key), None);
}

#[test]
fn beta_is_a_multiple_of_gamma_or_delta() {
    for factor in [Fr::from(2u64), -Fr::from(3u64), Fr::from(32u64), Fr::from(5u64).invert_vartime().unwrap()]
    {
        let key = contributed();
        let signals = signals(&key);
        let (inputs, alpha) = (inputs(&key, &signals), key.alpha_1.mul_vartime(&factor).to_affine());
        let of_gamma =
            Groth16VerificationKey { beta_2: key.gamma_2.mul_vartime(&factor).to_affine(), ..key.clone() };
        let a = sum(alpha, inputs);
        let proof = Groth16Proof { a, b: sum(key.gamma_2, key.delta_2), c: a };
        forged(&of_gamma, &signals, &proof, "beta is a small multiple");
        let of_delta =
            Groth16VerificationKey { beta_2: key.delta_2.mul_vartime(&factor).to_affine(), ..key.clone() };
        let proof = Groth16Proof { a: inputs, b: key.gamma_2, c: -alpha };
        forged(&of_delta, &signals, &proof, "beta is a small multiple");
    }
}

#[test]
fn a_point_is_infinity() {
    // The verifier refuses such keys, but Ethereum's pairing contract takes infinity.
    let without_alpha = Groth16VerificationKey { alpha_1: Affine::INFINITY, ..contributed() };
    assert!(insecurity(&without_alpha).expect("the key is found").contains("alpha and beta are known"));
    let [mut without_gamma, mut without_delta] = [contributed(), contributed()];
    (without_gamma.gamma_2, without_delta.delta_2) = (Affine::INFINITY, Affine::INFINITY);
    for key in [without_gamma, without_delta] {
        assert!(insecurity(&key).expect("the key is found").contains("infinity"));
    }
}
