//! Test cases in the formats of ethereum/bls12-381-tests and of the consensus specification's tests: an input and the expected
//! output.

use crate::{
    BlsError, PublicKey, SecretKey, Signature, SignatureSet, ValidPublicKey, aggregate_verify,
    eth_fast_aggregate_verify, fast_aggregate_verify, verify, verify_batch,
};
use proofmill_cpu::Level;
use proofmill_curve::hash_to_curve::hash_to_g2;
use proofmill_field::bls12_381::Fq2;
use serde_json::{Value, json};

/// The kinds of cases that [`run`] knows, which are the names of their folders.
pub const KINDS: [&str; 11] = [
    "aggregate",
    "aggregate_verify",
    "batch_verify",
    "deserialization_G1",
    "deserialization_G2",
    "eth_aggregate_pubkeys",
    "eth_fast_aggregate_verify",
    "fast_aggregate_verify",
    "hash_to_G2",
    "sign",
    "verify",
];

/// The domain separation tag of the cases of `hash_to_G2`.
const HASH_DST: &[u8] = b"QUUX-V01-CS02-with-BLS12381G2_XMD:SHA-256_SSWU_RO_";

/// Why a case does not pass.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VectorError {
    /// The kind is not known.
    #[error("unknown kind of case `{0}`")]
    Kind(String),
    /// The case does not have the shape of its kind.
    #[error("expected {0}")]
    Malformed(&'static str),
    /// The output differs.
    #[error("expected {expected}, found {found}")]
    Mismatch {
        /// The expected output.
        expected: Value,
        /// The actual output.
        found: Value,
    },
}

/// Runs a case `{ "input": ..., "output": ... }` of one of the [`KINDS`].
///
/// # Errors
/// [`VectorError`] if the case is malformed or does not pass.
pub fn run(level: Level, kind: &str, case: &Value) -> Result<(), VectorError> {
    let input = case.get("input").ok_or(VectorError::Malformed("an input"))?;
    let expected = case.get("output").ok_or(VectorError::Malformed("an output"))?;
    let found = match kind {
        "aggregate" => aggregate(level, input)?,
        "aggregate_verify" => aggregate_verification(level, input)?,
        "batch_verify" => batch(level, input)?,
        "deserialization_G1" => deserialization_g1(level, input)?,
        "deserialization_G2" => signature(level, field(input, "signature")?)?.is_ok().into(),
        "eth_aggregate_pubkeys" => aggregate_keys(level, input)?,
        "eth_fast_aggregate_verify" => fast_aggregate(level, input, eth_fast_aggregate_verify)?,
        "fast_aggregate_verify" => fast_aggregate(level, input, fast_aggregate_verify)?,
        "hash_to_G2" => hash(level, input)?,
        "sign" => sign(level, input)?,
        "verify" => verification(level, input)?,
        _ => return Err(VectorError::Kind(kind.to_owned())),
    };
    if found == *expected { Ok(()) } else { Err(VectorError::Mismatch { expected: expected.clone(), found }) }
}

fn field<'a>(input: &'a Value, name: &'static str) -> Result<&'a Value, VectorError> {
    input.get(name).ok_or(VectorError::Malformed(name))
}

fn list(value: &Value) -> Result<&[Value], VectorError> {
    value.as_array().map(Vec::as_slice).ok_or(VectorError::Malformed("a list"))
}

/// Decodes hexadecimal digits with an optional prefix `0x`.
fn bytes(value: &Value) -> Result<Vec<u8>, VectorError> {
    const EXPECTED: VectorError = VectorError::Malformed("hexadecimal digits");
    let digits = value.as_str().ok_or(EXPECTED)?;
    hex::decode(digits.strip_prefix("0x").unwrap_or(digits)).map_err(|_| EXPECTED)
}

fn hex(bytes: &[u8]) -> Value {
    format!("0x{}", hex::encode(bytes)).into()
}

/// An input of a case: it can be malformed, and its bytes can be invalid.
type Decoded<T> = Result<Result<T, BlsError>, VectorError>;

fn key(level: Level, value: &Value) -> Decoded<ValidPublicKey> {
    Ok(ValidPublicKey::from_bytes(level, &bytes(value)?))
}

fn keys(level: Level, input: &Value) -> Decoded<Vec<ValidPublicKey>> {
    list(input)?.iter().map(|value| key(level, value)).collect()
}

fn signature(level: Level, value: &Value) -> Decoded<Signature> {
    Ok(Signature::from_bytes(level, &bytes(value)?))
}

/// Whether all inputs were decoded and the check holds.
fn holds<T>(decoded: Result<T, BlsError>, check: impl FnOnce(T) -> Result<(), BlsError>) -> Value {
    decoded.and_then(check).is_ok().into()
}

fn sign(level: Level, input: &Value) -> Result<Value, VectorError> {
    let (secret, message) = (bytes(field(input, "privkey")?)?, bytes(field(input, "message")?)?);
    let key = SecretKey::from_bytes(&secret);
    Ok(key.map_or(Value::Null, |key| hex(&key.sign(level, &message).to_bytes())))
}

fn verification(level: Level, input: &Value) -> Result<Value, VectorError> {
    let message = bytes(field(input, "message")?)?;
    let (key, signature) =
        (key(level, field(input, "pubkey")?)?, signature(level, field(input, "signature")?)?);
    Ok(holds(key.and_then(|key| Ok((key, signature?))), |(key, signature)| {
        verify(level, &key, &message, &signature)
    }))
}

fn aggregate(level: Level, input: &Value) -> Result<Value, VectorError> {
    let signatures: Decoded<Vec<_>> = list(input)?.iter().map(|value| signature(level, value)).collect();
    let sum = signatures?.and_then(|signatures| Signature::aggregate(level, &signatures));
    Ok(sum.map_or(Value::Null, |sum| hex(&sum.to_bytes())))
}

fn aggregate_keys(level: Level, input: &Value) -> Result<Value, VectorError> {
    let sum = keys(level, input)?.and_then(|keys| ValidPublicKey::aggregate(level, &keys));
    Ok(sum.map_or(Value::Null, |sum| hex(&sum.to_bytes())))
}

fn aggregate_verification(level: Level, input: &Value) -> Result<Value, VectorError> {
    let messages = messages(input)?;
    let messages: Vec<_> = messages.iter().map(Vec::as_slice).collect();
    let (keys, signature) =
        (keys(level, field(input, "pubkeys")?)?, signature(level, field(input, "signature")?)?);
    Ok(holds(keys.and_then(|keys| Ok((keys, signature?))), |(keys, signature)| {
        aggregate_verify(level, &keys, &messages, &signature)
    }))
}

fn messages(input: &Value) -> Result<Vec<Vec<u8>>, VectorError> {
    list(field(input, "messages")?)?.iter().map(bytes).collect()
}

/// A check of one signature of one message by many keys.
type Check = fn(Level, &[ValidPublicKey], &[u8], &Signature) -> Result<(), BlsError>;

fn fast_aggregate(level: Level, input: &Value, check: Check) -> Result<Value, VectorError> {
    let message = bytes(field(input, "message")?)?;
    let (keys, signature) =
        (keys(level, field(input, "pubkeys")?)?, signature(level, field(input, "signature")?)?);
    Ok(holds(keys.and_then(|keys| Ok((keys, signature?))), |(keys, signature)| {
        check(level, &keys, &message, &signature)
    }))
}

fn batch(level: Level, input: &Value) -> Result<Value, VectorError> {
    let messages = messages(input)?;
    let signatures = list(field(input, "signatures")?)?;
    let signatures: Decoded<Vec<_>> = signatures.iter().map(|value| signature(level, value)).collect();
    let (decoded, signatures) = (keys(level, field(input, "pubkeys")?)?, signatures?);
    Ok(holds(decoded.and_then(|keys| Ok((keys, signatures?))), |(keys, signatures)| {
        if keys.len() != messages.len() || keys.len() != signatures.len() {
            return Err(BlsError::Counts { keys: keys.len(), messages: messages.len() });
        }
        let sets = keys.chunks(1).zip(&messages).zip(signatures);
        let sets: Vec<_> =
            sets.map(|((keys, message), signature)| SignatureSet { keys, message, signature }).collect();
        verify_batch(level, &sets)
    }))
}

fn deserialization_g1(level: Level, input: &Value) -> Result<Value, VectorError> {
    let bytes = bytes(field(input, "pubkey")?)?;
    let key = PublicKey::from_bytes(&bytes).and_then(|key| key.validate(level));
    // Infinity is a valid point, but not a key.
    Ok(matches!(key, Ok(_) | Err(BlsError::InfinityKey)).into())
}

fn hash(level: Level, input: &Value) -> Result<Value, VectorError> {
    let message = field(input, "msg")?.as_str().ok_or(VectorError::Malformed("msg"))?;
    let points = hash_to_g2(level, &[message.as_bytes()], HASH_DST);
    let coordinate = |element: Fq2| {
        let digits = |bytes: Vec<u8>| hex(&bytes).as_str().unwrap_or_default().to_owned();
        format!("{},{}", digits(element.c0.to_bytes_be()), digits(element.c1.to_bytes_be()))
    };
    let point = points.first().ok_or(VectorError::Malformed("a point"))?;
    Ok(json!({ "x": coordinate(point.x), "y": coordinate(point.y) }))
}
