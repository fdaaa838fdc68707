//! Proofs, verification keys and public signals of any text, and verifiers of what can be read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmill_circom::{
    Groth16Proof, Groth16VerificationKey, PlonkProof, PlonkVerificationKey, parse_public,
};
use proofmill_plonk::{Proof, VerifyingKey};
use proofmill_simd::Level;

const GROTH16_KEY: &[u8] = include_bytes!("../../examples/membership-small/groth16.vk.json");
const PLONK_KEY: &[u8] = include_bytes!("../../examples/membership-small/plonk.vk.json");
const PUBLIC: &[u8] = include_bytes!("../../examples/membership-small/public.json");

fuzz_target!(|text: &[u8]| {
    let level = Level::best();
    drop(parse_public("input", text));
    drop(Groth16VerificationKey::parse("input", text));
    drop(PlonkVerificationKey::parse("input", text));
    let Ok(public) = parse_public("public", PUBLIC) else { return };
    if let (Ok(key), Ok(proof)) =
        (Groth16VerificationKey::parse("key", GROTH16_KEY), Groth16Proof::parse("input", text))
    {
        drop(proofmill_groth16::verify(level, &key, &public, &proof));
    }
    if let (Ok(key), Ok(proof)) =
        (PlonkVerificationKey::parse("key", PLONK_KEY), PlonkProof::parse("input", text))
    {
        drop(proofmill_plonk::verify(level, &VerifyingKey::from(&key), &public, &Proof::from(&proof)));
    }
});
