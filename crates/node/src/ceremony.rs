//! Contributions to Groth16 keys, and their verification.

use crate::{
    source::Source,
    witness::verdict,
    work::{Outcome, Settings, start},
};
use napi::{
    Env,
    bindgen_prelude::{Either, Object, Uint8Array},
};
use napi_derive::napi;
use proofmill::{
    Result,
    audit::Beacon,
    ceremony::{self, Randomness},
    circom::{Ptau, R1cs},
    groth16::ProvingKey,
};
use zeroize::Zeroizing;

fn open_key(key: Source) -> Result<ProvingKey> {
    key.open(ProvingKey::open, ProvingKey::from_bytes)
}

fn open_powers(powers: Source) -> Result<Ptau> {
    powers.open(Ptau::open, Ptau::from_bytes)
}

fn contributed(
    key: Source,
    path: Option<String>,
    name: Option<&str>,
    randomness: Randomness<'_>,
) -> Result<Outcome> {
    let key = open_key(key)?;
    let (file, hash) = match path {
        Some(path) => (None, ceremony::contribute(&key, path, name, randomness)?),
        None => {
            let (bytes, hash) = ceremony::contribute_in_memory(&key, name, randomness)?;
            (Some(bytes.into()), hash)
        }
    };
    Ok(Outcome { file, hash: Some(hash.to_vec().into()), ..Outcome::default() })
}

/// Contributes to a key, and writes it to the path or returns it; with the contribution's hash.
#[napi]
pub fn contribute<'env>(
    env: &'env Env,
    key: Either<String, Uint8Array>,
    path: Option<String>,
    name: Option<String>,
    entropy: String,
) -> napi::Result<Object<'env>> {
    let (key, entropy) = (Source::from(key), Zeroizing::new(entropy));
    start(env, Settings::default(), move |_| {
        contributed(key, path, name.as_deref(), Randomness::System(entropy.as_bytes()))
    })
}

/// [`contribute`] with a beacon's value.
#[napi]
pub fn beacon<'env>(
    env: &'env Env,
    key: Either<String, Uint8Array>,
    path: Option<String>,
    name: Option<String>,
    seed: Uint8Array,
    log_iterations: u8,
) -> napi::Result<Object<'env>> {
    let (key, beacon) = (Source::from(key), Beacon { seed: seed.to_vec(), log_iterations });
    start(env, Settings::default(), move |_| {
        contributed(key, path, name.as_deref(), Randomness::Beacon(&beacon))
    })
}

/// Verifies the contributions to a circuit's key: no text if they are valid, otherwise why they are not.
#[napi]
pub fn verify_key_from_circuit<'env>(
    env: &'env Env,
    circuit: Either<String, Uint8Array>,
    powers: Either<String, Uint8Array>,
    key: Either<String, Uint8Array>,
    settings: Settings,
) -> napi::Result<Object<'env>> {
    let (circuit, powers, key) = (Source::from(circuit), Source::from(powers), Source::from(key));
    start(env, settings, move |_| {
        let circuit = circuit.open(R1cs::open, R1cs::from_bytes)?;
        let verified = ceremony::verify_for_circuit(&open_key(key)?, &circuit, &open_powers(powers)?);
        verdict(verified.map(drop))
    })
}

/// [`verify_key_from_circuit`] with the key that setup has made of the circuit.
#[napi]
pub fn verify_key_from_initial<'env>(
    env: &'env Env,
    initial: Either<String, Uint8Array>,
    powers: Either<String, Uint8Array>,
    key: Either<String, Uint8Array>,
    settings: Settings,
) -> napi::Result<Object<'env>> {
    let (initial, powers, key) = (Source::from(initial), Source::from(powers), Source::from(key));
    start(env, settings, move |_| {
        let (initial, powers, key) = (open_key(initial)?, open_powers(powers)?, open_key(key)?);
        let right_powers = ceremony::verify_powers(&initial, &powers);
        verdict(right_powers.and_then(|()| ceremony::verify(&key, &initial)).map(drop))
    })
}
