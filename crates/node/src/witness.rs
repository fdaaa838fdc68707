//! Witnesses and circuits.

use crate::{
    source::Source,
    work::{Lines, Outcome, Settings, start},
};
use napi::{
    Env,
    bindgen_prelude::{Either, Object, Uint8Array},
};
use napi_derive::napi;
use proofmill::{
    Error, Result,
    circom::{CircuitCache, Event, FileKind, R1cs, Witness, WitnessCalculator, describe, describe_bytes},
};
use zeroize::Zeroizing;

pub(crate) fn open_witness(witness: Source) -> Result<Witness> {
    witness.open(Witness::open, Witness::from_bytes)
}

/// Calculates a witness, by a compiled circuit if the user's cache has one; what the circuit prints is pushed to `lines`.
pub(crate) fn calculate(inputs: &str, circuit: &Source, lines: &Lines) -> Result<Witness> {
    let cache = CircuitCache::of_user();
    let circuit: WitnessCalculator = match circuit {
        Source::Path(path) => cache.open(path),
        Source::Bytes(bytes) => cache.decode(bytes.clone()),
    }?;
    let lines = lines.clone();
    let circuit = circuit.on_event(move |event| {
        if let Event::Log(line) = event {
            lines.push(line);
        }
    });
    circuit.calculate(inputs.as_bytes())
}

/// No text for what is valid, one that says why for what is not; other errors remain errors.
pub(crate) fn verdict(checked: Result<()>) -> Result<Outcome> {
    match checked {
        Ok(()) => Ok(Outcome::default()),
        Err(
            error @ (Error::Rejected(_) | Error::Unsatisfied(_) | Error::Malformed(_) | Error::Mismatch(_)),
        ) => Ok(Outcome::texts([error.to_string()])),
        Err(error) => Err(error),
    }
}

/// Calculates the witness of the text of an `input.json`, and writes it to the path or returns it.
#[napi]
pub fn calculate_witness<'env>(
    env: &'env Env,
    inputs: String,
    circuit: Either<String, Uint8Array>,
    path: Option<String>,
) -> napi::Result<Object<'env>> {
    let (inputs, circuit) = (Zeroizing::new(inputs), Source::from(circuit));
    start(env, Settings::default(), move |lines| {
        let witness = calculate(&inputs, &circuit, lines)?;
        let file = match path {
            Some(path) => witness.save(path).map(|()| None)?,
            None => Some(witness.to_bytes().into()),
        };
        Ok(Outcome { file, ..Outcome::default() })
    })
}

/// Checks a witness: no text if it satisfies the circuit, otherwise why it does not.
#[napi]
pub fn check_witness<'env>(
    env: &'env Env,
    circuit: Either<String, Uint8Array>,
    witness: Either<String, Uint8Array>,
) -> napi::Result<Object<'env>> {
    let (circuit, witness) = (Source::from(circuit), Source::from(witness));
    start(env, Settings::default(), move |_| {
        let (circuit, witness) = (circuit.open(R1cs::open, R1cs::from_bytes)?, open_witness(witness)?);
        verdict(circuit.check(&witness))
    })
}

/// The values of a witness, in decimal digits.
#[napi]
pub fn witness_values<'env>(
    env: &'env Env,
    witness: Either<String, Uint8Array>,
) -> napi::Result<Object<'env>> {
    let witness = Source::from(witness);
    start(env, Settings::default(), move |_| {
        let values = open_witness(witness)?;
        Ok(Outcome::texts(values.values().iter().map(ToString::to_string).collect::<Vec<_>>()))
    })
}

/// Curve and counts of a circuit, as JSON.
#[napi]
pub fn describe_circuit<'env>(
    env: &'env Env,
    circuit: Either<String, Uint8Array>,
) -> napi::Result<Object<'env>> {
    let circuit = Source::from(circuit);
    start(env, Settings::default(), move |_| {
        let found = circuit.open(describe, describe_bytes)?;
        if found.kind != FileKind::R1cs {
            return Ok(Outcome::failed("Malformed", format!("expected an r1cs file, found {}", found.kind)));
        }
        let text = serde_json::json!({ "curve": found.curve, "counts": found.counts }).to_string();
        Ok(Outcome::texts([text]))
    })
}
