//! The proof systems of circom's circuits. They have the same functions.

use crate::{
    source::Source,
    witness::{calculate, open_witness, verdict},
    work::{Outcome, Settings, start},
};
use napi::{
    Env,
    bindgen_prelude::{Either, Object, Uint8Array},
};
use napi_derive::napi;
use proofmill::{
    AnyVerifyingKey, Proof, ProofSystem, ProvingKey, Result, SetupPowers, SolidityVerifier, VerifyingKey,
    circom::{CircuitCache, Description, PublicSignals, R1cs, Witness, describe, describe_bytes},
    curve::bn254,
    over_system,
};
use std::path::PathBuf;
use zeroize::Zeroizing;

/// The hash in a key of Groth16; others have none.
fn circuit_hash(key: Description) -> Option<Uint8Array> {
    key.contributions.map(|contributions| contributions.circuit_hash.as_slice().into())
}

/// A proof system. PLONK has snarkjs's arithmetisation.
#[napi(string_enum = "lowercase")]
#[derive(Clone, Copy)]
pub enum System {
    /// Groth16.
    Groth16,
    /// PLONK.
    Plonk,
    /// fflonk.
    Fflonk,
}

impl From<System> for proofmill::System {
    fn from(system: System) -> Self {
        match system {
            System::Groth16 => Self::Groth16,
            System::Plonk => Self::Plonk,
            System::Fflonk => Self::Fflonk,
        }
    }
}

/// Calls a function of any proof system.
macro_rules! of {
    ($system:expr, $function:ident($($argument:expr),*)) => {
        over_system!(proofmill::System::from($system), S => $function::<S>($($argument),*))
    };
}

fn setup_of<S: ProofSystem<Curve = bn254::G1>>(
    circuit: Source,
    powers: Source,
    path: Option<PathBuf>,
) -> Result<Outcome> {
    let circuit = circuit.open(R1cs::open, R1cs::from_bytes)?;
    let powers = powers.open(|path| S::Powers::open(path.as_ref()), S::Powers::from_bytes)?;
    let Some(path) = path else {
        let key = ProvingKey::<S>::setup(&circuit, &powers)?;
        // Freed before the content is copied for the caller.
        let hash = circuit_hash(describe_bytes(key.as_bytes().to_vec())?);
        return Ok(Outcome { file: Some(key.as_bytes().into()), hash, ..Outcome::default() });
    };
    ProvingKey::<S>::write(&path, &circuit, &powers)?;
    Ok(Outcome { hash: circuit_hash(describe(path)?), ..Outcome::default() })
}

fn prove_by<S: ProofSystem<Curve = bn254::G1>>(key: Source, witness: &Witness) -> Result<Outcome> {
    let key = key.open(ProvingKey::<S>::open, ProvingKey::<S>::from_bytes)?;
    let proof = key.prove(witness)?;
    Ok(Outcome::texts([proof.to_json(), proof.public().to_json()]))
}

fn verify_by<S: ProofSystem<Curve = bn254::G1>>(key: &str, public: &str, proof: &str) -> Result<Outcome> {
    let key = VerifyingKey::<S>::from_json(key)?;
    let signals = PublicSignals::from_json(public);
    verdict(signals.and_then(|public| Proof::<S>::from_json(proof, public)?.verify(&key)))
}

fn calldata_of<S: SolidityVerifier<Curve = bn254::G1>>(public: &str, proof: &str) -> Result<Outcome> {
    let proof = Proof::<S>::from_json(proof, PublicSignals::from_json(public)?)?;
    Ok(Outcome::texts([proof.solidity_calldata()]))
}

/// Makes a key, and writes it to the path or returns it; with the circuit's hash for Groth16.
#[napi]
pub fn setup<'env>(
    env: &'env Env,
    system: System,
    circuit: Either<String, Uint8Array>,
    powers: Either<String, Uint8Array>,
    path: Option<String>,
    settings: Settings,
) -> napi::Result<Object<'env>> {
    let (circuit, powers, path) = (Source::from(circuit), Source::from(powers), path.map(PathBuf::from));
    start(env, settings, move |_| of!(system, setup_of(circuit, powers, path)))
}

/// Proves: the texts of `proof.json` and `public.json`.
#[napi]
pub fn prove<'env>(
    env: &'env Env,
    system: System,
    key: Either<String, Uint8Array>,
    witness: Either<String, Uint8Array>,
    settings: Settings,
) -> napi::Result<Object<'env>> {
    let (key, witness) = (Source::from(key), Source::from(witness));
    start(env, settings, move |_| {
        let witness = open_witness(witness)?;
        of!(system, prove_by(key, &witness))
    })
}

/// Calculates a witness from the text of an `input.json`, and proves.
#[napi]
pub fn full_prove<'env>(
    env: &'env Env,
    system: System,
    inputs: String,
    circuit: Either<String, Uint8Array>,
    key: Either<String, Uint8Array>,
    settings: Settings,
) -> napi::Result<Object<'env>> {
    let (inputs, circuit, key) = (Zeroizing::new(inputs), Source::from(circuit), Source::from(key));
    start(env, settings, move |lines| {
        let witness = calculate(&inputs, &circuit, lines)?;
        let proof = of!(system, prove_by(key, &witness))?;
        if let Ok(circuit) = circuit.bytes() {
            CircuitCache::of_user().keep(&circuit, inputs.as_bytes());
        }
        Ok(proof)
    })
}

/// Verifies: no text for a valid proof, otherwise why it is not. A key that cannot be used is an error.
#[napi]
pub fn verify<'env>(
    env: &'env Env,
    system: System,
    key: String,
    public: String,
    proof: String,
    settings: Settings,
) -> napi::Result<Object<'env>> {
    start(env, settings, move |_| of!(system, verify_by(&key, &public, &proof)))
}

/// The arguments of `verifyProof` in a Solidity verifier.
#[napi]
pub fn calldata<'env>(
    env: &'env Env,
    system: System,
    public: String,
    proof: String,
) -> napi::Result<Object<'env>> {
    start(env, Settings::default(), move |_| of!(system, calldata_of(&public, &proof)))
}

/// The text of the `verification_key.json` of a key of any system.
#[napi]
pub fn verification_key<'env>(
    env: &'env Env,
    key: Either<String, Uint8Array>,
    settings: Settings,
) -> napi::Result<Object<'env>> {
    exported(env, key, settings, AnyVerifyingKey::export_json)
}

/// The Solidity verifier of a proving or verification key of any system.
#[napi]
pub fn solidity_verifier<'env>(
    env: &'env Env,
    key: Either<String, Uint8Array>,
    settings: Settings,
) -> napi::Result<Object<'env>> {
    exported(env, key, settings, AnyVerifyingKey::solidity_verifier)
}

fn exported<'env>(
    env: &'env Env,
    key: Either<String, Uint8Array>,
    settings: Settings,
    export: fn(&AnyVerifyingKey) -> Result<String>,
) -> napi::Result<Object<'env>> {
    let key = Source::from(key);
    start(env, settings, move |_| {
        let key = key.open(AnyVerifyingKey::open, AnyVerifyingKey::from_bytes)?;
        Ok(Outcome::texts([export(&key)?]))
    })
}
