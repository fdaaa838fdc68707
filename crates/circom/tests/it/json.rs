//! snarkjs's JSON files are read and rewritten byte for byte, and every change is detected.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use proofmill_circom::{
    AnyPlonkVerificationKey, CircuitProof, CircuitVerificationKey, FflonkProof, FflonkVerificationKey,
    Groth16Proof, Groth16VerificationKey, PlonkProof, PlonkVerificationKey, parse_public, public_text,
};
use proofmill_curve::{
    Affine, Curve, bls12_381,
    bn254::{G1, G2},
};
use proofmill_field::{Fp, Prime, Quadratic, bn254::FrParams};
use serde_json::Value;

const GROTH16_PROOF: &str = include_str!("../data/groth16.proof.json");
const GROTH16_KEY: &str = include_str!("../data/groth16.vk.json");
const PLONK_PROOF: &str = include_str!("../data/plonk.proof.json");
const PLONK_KEY: &str = include_str!("../data/plonk.vk.json");
const FFLONK_PROOF: &str = include_str!("../data/fflonk.proof.json");
const FFLONK_KEY: &str = include_str!("../data/fflonk.vk.json");
const BLS12_381_PROOF: &str = include_str!("../data/bls12-381/groth16.proof.json");
const BLS12_381_KEY: &str = include_str!("../data/bls12-381/groth16.vk.json");
const PUBLIC: &str = include_str!("../data/public.json");

/// The product of pairings in a key's text.
fn alpha_beta<P: Prime>(key: &str) -> [[Quadratic<Fp<P>>; 3]; 2] {
    let key: Value = serde_json::from_str(key).unwrap();
    let element = |value: &Value| value.as_str().unwrap().parse::<Fp<P>>().unwrap();
    [0, 1].map(|i| {
        [0, 1, 2].map(|j| {
            let pair = &key["vk_alphabeta_12"][i][j];
            Quadratic { c0: element(&pair[0]), c1: element(&pair[1]) }
        })
    })
}

#[test]
fn snarkjs_files_come_back_byte_for_byte() {
    assert_eq!(<Groth16Proof>::parse("proof", GROTH16_PROOF.as_bytes()).unwrap().text(), GROTH16_PROOF);
    assert_eq!(PlonkProof::parse("proof", PLONK_PROOF.as_bytes()).unwrap().text(), PLONK_PROOF);
    assert_eq!(PlonkVerificationKey::parse("key", PLONK_KEY.as_bytes()).unwrap().text(), PLONK_KEY);
    assert_eq!(FflonkProof::parse("proof", FFLONK_PROOF.as_bytes()).unwrap().text(), FFLONK_PROOF);
    assert_eq!(FflonkVerificationKey::parse("key", FFLONK_KEY.as_bytes()).unwrap().text(), FFLONK_KEY);
    let key = <Groth16VerificationKey>::parse("key", GROTH16_KEY.as_bytes()).unwrap();
    assert_eq!(key.text(alpha_beta(GROTH16_KEY)), GROTH16_KEY);
    assert_eq!(public_text(&parse_public::<FrParams>("public", PUBLIC.as_bytes()).unwrap()), PUBLIC);

    let proof = Groth16Proof::<bls12_381::G1>::parse("proof", BLS12_381_PROOF.as_bytes()).unwrap();
    assert_eq!(proof.text(), BLS12_381_PROOF);
    let key = Groth16VerificationKey::<bls12_381::G1>::parse("key", BLS12_381_KEY.as_bytes()).unwrap();
    assert_eq!(key.text(alpha_beta(BLS12_381_KEY)), BLS12_381_KEY);
}

#[test]
fn circuits_proofs_and_keys_survive_their_files() {
    let point = |k: u64| G1::GENERATOR.mul_vartime(&k.into()).to_affine();
    let proof = CircuitProof {
        commitments: [vec![point(1), point(2)], vec![], vec![Affine::INFINITY]],
        quotient: vec![point(3)],
        evaluations: vec![5.into(), 6.into()],
        openings: [point(4), point(5)],
    };
    assert_eq!(CircuitProof::parse("proof", proof.text().as_bytes()).unwrap(), proof);
    let key = CircuitVerificationKey {
        wires: 4,
        gates: vec!["one".to_owned(), "two".to_owned()],
        lookup: String::new(),
        columns: vec!["q_m".to_owned()],
        public: 3,
        power: 10,
        commitments: vec![point(6), point(7)],
        x_2: G2::GENERATOR,
        insecure_setup: true,
    };
    let text = key.text();
    let read = AnyPlonkVerificationKey::parse("key", text.as_bytes()).unwrap();
    assert_eq!(read, AnyPlonkVerificationKey::Circuit(key));
    let read = AnyPlonkVerificationKey::parse("key", PLONK_KEY.as_bytes()).unwrap();
    assert!(matches!(read, AnyPlonkVerificationKey::Snarkjs(_)));
    let error = CircuitProof::parse("proof", PLONK_PROOF.as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "proof: expected protocol proofmill-plonk, found plonk");
    for (name, value) in [
        ("wires", "\"4\""),
        ("gates", "[1]"),
        ("lookup", "null"),
        ("commitments", "[[1]]"),
        ("insecureSetup", "1"),
    ] {
        let mut changed: Value = serde_json::from_str(&text).unwrap();
        changed[name] = serde_json::from_str(value).unwrap();
        let error = CircuitVerificationKey::parse("key", changed.to_string().as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with(&format!("key: {name}")), "{error}");
    }
}

fn error_of(text: &str) -> String {
    <Groth16Proof>::parse("proof.json", text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn errors_name_the_file_and_the_value() {
    let changed = |edit: &dyn Fn(&mut Value)| {
        let mut proof = serde_json::from_str(GROTH16_PROOF).unwrap();
        edit(&mut proof);
        error_of(&proof.to_string())
    };
    let error = changed(&|proof| proof["pi_b"][1][0] = "7".into());
    assert!(error.starts_with("proof.json: pi_b: ") && error.contains("BN254 G2"), "{error}");
    let error = changed(&|proof| proof["pi_a"][0] = "x".into());
    assert!(error.starts_with("proof.json: pi_a[0]: "), "{error}");
    let error = changed(&|proof| proof["pi_b"][1][1] = "x".into());
    assert!(error.starts_with("proof.json: pi_b[1][1]: "), "{error}");
    let error = changed(&|proof| proof["pi_a"][2] = "2".into());
    assert!(error.starts_with("proof.json: pi_a: "), "{error}");
    let error = changed(&|proof| proof["protocol"] = "plonk".into());
    assert_eq!(error, "proof.json: expected protocol groth16, found plonk");
    let error = changed(&|proof| proof["curve"] = "bls12381".into());
    assert!(error.starts_with("proof.json: curve: "), "{error}");
    assert!(error_of("{").starts_with("proof.json: "));
    assert!(error_of(&"[".repeat(100_000)).starts_with("proof.json: "));
    assert_eq!(error_of("[1\n]").lines().count(), 1);
}

#[test]
fn signals_are_below_the_modulus() {
    let order = "21888242871839275222246405745257275088548364400416034343698204186575808495617";
    let below = "21888242871839275222246405745257275088548364400416034343698204186575808495616";
    assert_eq!(parse_public::<FrParams>("public", format!("[\"{below}\", 7]").as_bytes()).unwrap().len(), 2);
    for text in [order, "-1", "1.5", "", "0x1", " 1"] {
        let error =
            parse_public::<FrParams>("public", format!("[\"{text}\"]").as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("public: [0]: "), "{error}");
    }
}
