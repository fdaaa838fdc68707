//! Arbitrary text as proofs, verification keys and public signals, for verifiers of those that can be read: none accepts
//! anything but the key's own proof.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmill_circom::{
    AnyPlonkProof, AnyPlonkVerificationKey, FflonkProof, FflonkVerificationKey, Groth16Proof,
    Groth16VerificationKey, parse_public,
};
use proofmill_cpu::Level;
use proofmill_curve::{bls12_381, bn254};
use proofmill_field::bn254::Fr;
use proofmill_groth16::{Groth16Curve, Statement};
use proofmill_plonk::{Proof, VerifyingKey, fflonk};
use std::sync::LazyLock;

/// A PLONK key with public signals and a proof, of each kind.
struct Plonk {
    key: VerifyingKey,
    public: Vec<Fr>,
    proof: Proof,
}

macro_rules! texts {
    ($($folder:literal $key:literal $public:literal $proof:literal),* $(,)?) => {
        [$([
            include_bytes!(concat!("../../", $folder, "/", $key)) as &[u8],
            include_bytes!(concat!("../../", $folder, "/", $public)),
            include_bytes!(concat!("../../", $folder, "/", $proof)),
        ]),*]
    };
}

static PLONK: LazyLock<Vec<Plonk>> = LazyLock::new(|| {
    let texts = texts![
        "examples/membership-small" "plonk.vk.json" "public.json" "plonk.proof.json",
        "crates/plonk/tests/data" "turbo.vk.json" "words.public.json" "turbo.proof.json",
        "crates/plonk/tests/data" "logup.vk.json" "words.public.json" "logup.proof.json",
        "crates/plonk/tests/data" "plookup.vk.json" "words.public.json" "plookup.proof.json",
    ];
    let read = texts.map(|[key, public, proof]| {
        Some(Plonk {
            key: plonk_key(key)?,
            public: parse_public("public", public).ok()?,
            proof: plonk_proof(proof)?,
        })
    });
    read.into_iter().map(|plonk| plonk.expect("files that can be read")).collect()
});

fn plonk_key(text: &[u8]) -> Option<VerifyingKey> {
    VerifyingKey::try_from(&AnyPlonkVerificationKey::parse("key", text).ok()?).ok()
}

fn plonk_proof(text: &[u8]) -> Option<Proof> {
    match AnyPlonkProof::parse("proof", text).ok()? {
        AnyPlonkProof::Snarkjs(proof) => Some(Proof::from(&proof)),
        AnyPlonkProof::Circuit(proof) => Some(Proof::from(proof)),
    }
}

/// fflonk's key, public signals and proof.
static FFLONK: LazyLock<(FflonkVerificationKey, Vec<Fr>, FflonkProof)> = LazyLock::new(|| {
    let [key, public, proof] =
        texts!["examples/membership-small" "fflonk.vk.json" "public.json" "fflonk.proof.json"][0];
    (
        FflonkVerificationKey::parse("key", key).expect("a key"),
        parse_public("public", public).expect("signals"),
        FflonkProof::parse("proof", proof).expect("a proof"),
    )
});

/// Verifies fflonk's proof with the text in place of key, public signals or proof.
fn verify_fflonk(level: Level, text: &[u8], public: Option<&[Fr]>) {
    let (honest_key, honest_public, honest_proof) = &*FFLONK;
    let verify = |key: &FflonkVerificationKey, public: &[Fr], proof: &FflonkProof| {
        let accepted = fflonk::verify(level, key, public, proof).is_ok();
        let same = key == honest_key && public == honest_public && proof == honest_proof;
        assert!(!accepted || same, "another proof of fflonk is accepted");
    };
    if let Ok(key) = FflonkVerificationKey::parse("input", text) {
        verify(&key, honest_public, honest_proof);
        drop(fflonk::solidity::verifier(&key));
    }
    if let Some(public) = public {
        verify(honest_key, public, honest_proof);
    }
    if let Ok(proof) = FflonkProof::parse("input", text) {
        verify(honest_key, honest_public, &proof);
    }
}

/// Groth16's keys, public signals and proofs over both curves.
const GROTH16: [[&[u8]; 3]; 2] = texts![
    "examples/membership-small" "groth16.vk.json" "public.json" "groth16.proof.json",
    "crates/circom/tests/data/bls12-381" "groth16.vk.json" "public.json" "groth16.proof.json",
];

/// Verifies Groth16's proof with the text in place of key, public signals or proof. Anyone can make another proof of one.
fn verify_groth16<C: Groth16Curve>(level: Level, text: &[u8], [key, public, proof]: [&[u8]; 3]) {
    let honest_key = Groth16VerificationKey::<C>::parse("key", key).expect("a key");
    let honest_public = parse_public("public", public).expect("signals");
    let honest_proof = Groth16Proof::parse("proof", proof).expect("a proof");
    if let Ok(key) = Groth16VerificationKey::<C>::parse("input", text) {
        drop(proofmill_groth16::verify(level, &key, &honest_public, &honest_proof));
    }
    if let Ok(public) = parse_public::<C::ScalarPrime>("input", text) {
        let accepted = proofmill_groth16::verify(level, &honest_key, &public, &honest_proof).is_ok();
        assert!(!accepted || public == honest_public, "other signals of groth16 are accepted");
    }
    if let Ok(proof) = Groth16Proof::parse("input", text) {
        let accepted = proofmill_groth16::verify(level, &honest_key, &honest_public, &proof).is_ok();
        let statements = [&honest_proof, &proof].map(|proof| Statement { public: &honest_public, proof });
        let invalid = proofmill_groth16::find_invalid(level, &honest_key, &statements).expect("an honest key");
        let indices: Vec<_> = invalid.into_iter().map(|(index, _)| index).collect();
        assert_eq!(indices.is_empty(), accepted, "a batch decides otherwise");
        assert!(!indices.contains(&0), "an honest proof is refused");
    }
}

fuzz_target!(|text: &[u8]| {
    let level = Level::best();
    let public = parse_public("input", text);
    verify_fflonk(level, text, public.as_deref().ok());
    verify_groth16::<bn254::G1>(level, text, GROTH16[0]);
    verify_groth16::<bls12_381::G1>(level, text, GROTH16[1]);
    let (key, proof) = (plonk_key(text), plonk_proof(text));
    for honest in PLONK.iter() {
        let verify = |key: &VerifyingKey, public: &[Fr], proof: &Proof| {
            let accepted = proofmill_plonk::verify(level, key, public, proof).is_ok();
            let same = *key == honest.key && public == honest.public && *proof == honest.proof;
            assert!(!accepted || same, "another proof is accepted");
        };
        if let Some(key) = &key {
            verify(key, &honest.public, &honest.proof);
            drop(proofmill_plonk::solidity::verifier(key));
        }
        if let Ok(public) = &public {
            verify(&honest.key, public, &honest.proof);
        }
        if let Some(proof) = &proof {
            verify(&honest.key, &honest.public, proof);
        }
    }
});
