//! The proof systems of circom's circuits. They have the same functions, which one macro writes.

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
    AnyVerifyingKey, Result,
    circom::{CircuitCache, Description, Ptau, PublicSignals, R1cs, Witness, describe, describe_bytes},
    srs::Srs,
};
use std::path::PathBuf;
use zeroize::Zeroizing;

/// The hash in a key of Groth16; others have none.
fn circuit_hash(key: Description) -> Option<Uint8Array> {
    key.contributions.map(|contributions| contributions.circuit_hash.as_slice().into())
}

/// A proof system.
#[napi(string_enum = "lowercase")]
#[derive(Clone, Copy)]
pub enum System {
    /// Groth16.
    Groth16,
    /// PLONK, with snarkjs's arithmetisation.
    Plonk,
    /// fflonk.
    Fflonk,
}

macro_rules! system {
    ($system:ident, $powers:ty, |$circuit:ident, $opened:ident| $setup:expr, |$path:ident| $write:expr) => {
        mod $system {
            use super::*;
            use proofmill::$system as lower;

            pub(super) fn setup(circuit: Source, powers: Source, path: Option<PathBuf>) -> Result<Outcome> {
                let ($circuit, $opened) = (
                    circuit.open(R1cs::open, R1cs::from_bytes)?,
                    powers.open(<$powers>::open, <$powers>::from_bytes)?,
                );
                let Some($path) = path else {
                    let key = $setup?;
                    // Freed before the content is copied for the caller.
                    let hash = circuit_hash(describe_bytes(key.as_bytes().to_vec())?);
                    return Ok(Outcome { file: Some(key.as_bytes().into()), hash, ..Outcome::default() });
                };
                $write?;
                Ok(Outcome { hash: circuit_hash(describe($path)?), ..Outcome::default() })
            }

            pub(super) fn prove(key: Source, witness: &Witness) -> Result<Outcome> {
                let key = key.open(lower::ProvingKey::open, lower::ProvingKey::from_bytes)?;
                let proof = key.prove(witness)?;
                Ok(Outcome::texts([proof.to_json(), proof.public().to_json()]))
            }

            pub(super) fn verify(key: &str, public: &str, proof: &str) -> Result<Outcome> {
                let key = lower::VerifyingKey::from_json(key)?;
                verdict(
                    PublicSignals::from_json(public)
                        .and_then(|public| lower::Proof::from_json(proof, public)?.verify(&key)),
                )
            }

            pub(super) fn calldata(public: &str, proof: &str) -> Result<Outcome> {
                let proof = lower::Proof::from_json(proof, PublicSignals::from_json(public)?)?;
                Ok(Outcome::texts([proof.solidity_calldata()]))
            }
        }
    };
}

system!(groth16, Ptau, |circuit, powers| lower::ProvingKey::setup(&circuit, &powers), |path| {
    lower::write_key(&path, &circuit, &powers)
});
system!(
    plonk,
    Srs,
    |circuit, powers| lower::ProvingKey::setup(&circuit, &powers, lower::Arithmetisation::Standard),
    |path| lower::write_key(&path, &circuit, &powers, lower::Arithmetisation::Standard)
);
system!(
    fflonk,
    Ptau,
    |circuit, powers| lower::ProvingKey::setup(&circuit, &powers),
    |path| lower::write_key(&path, &circuit, &powers)
);

/// Calls a function of the system's module.
macro_rules! of {
    ($system:expr, $function:ident($($argument:expr),*)) => {
        match $system {
            System::Groth16 => groth16::$function($($argument),*),
            System::Plonk => plonk::$function($($argument),*),
            System::Fflonk => fflonk::$function($($argument),*),
        }
    };
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
    start(env, settings, move |_| of!(system, setup(circuit, powers, path)))
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
        of!(system, prove(key, &witness))
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
        let proof = of!(system, prove(key, &witness))?;
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
    start(env, settings, move |_| of!(system, verify(&key, &public, &proof)))
}

/// The arguments of `verifyProof` in a Solidity verifier.
#[napi]
pub fn calldata<'env>(
    env: &'env Env,
    system: System,
    public: String,
    proof: String,
) -> napi::Result<Object<'env>> {
    start(env, Settings::default(), move |_| of!(system, calldata(&public, &proof)))
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
