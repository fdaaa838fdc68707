//! `proofmill.bls`: BLS signatures in Ethereum's variant, on bytes.

use crate::{error::Fault, work::compute};
use proofmill::{
    Result,
    bls::{self as lower, PublicKey, SecretKey, Signature, SignatureSet},
};
use pyo3::{prelude::*, types::PyBytes};

/// Encodings of one length.
fn fixed<const N: usize>(name: &str, encodings: &[&[u8]]) -> std::result::Result<Vec<[u8; N]>, Fault> {
    let fixed = encodings.iter().enumerate().map(|(index, bytes)| {
        let wrong = |_| Fault::Value(format!("{name}[{index}]: expected {N} bytes, found {}", bytes.len()));
        <[u8; N]>::try_from(*bytes).map_err(wrong)
    });
    fixed.collect()
}

fn public_keys(name: &str, keys: &[&[u8]]) -> std::result::Result<Vec<PublicKey>, Fault> {
    let keys: Result<Vec<_>> = PublicKey::decode_many(&fixed(name, keys)?).into_iter().collect();
    Ok(keys?)
}

fn signatures(name: &str, signatures: &[&[u8]]) -> std::result::Result<Vec<Signature>, Fault> {
    let signatures: Result<Vec<_>> = Signature::decode_many(&fixed(name, signatures)?).into_iter().collect();
    Ok(signatures?)
}

/// Runs work without the GIL and returns bytes.
fn bytes<const N: usize>(
    py: Python<'_>,
    work: impl FnOnce() -> std::result::Result<[u8; N], Fault> + Send,
) -> PyResult<Bound<'_, PyBytes>> {
    Ok(PyBytes::new(py, &compute(py, work)?))
}

/// A random secret key: 32 big-endian bytes. Python does not wipe them from memory.
#[pyfunction]
fn keygen(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    bytes(py, || Ok(*SecretKey::generate()?.to_bytes()))
}

/// The secret key at a path such as "m/12381/3600/0/0/0", derived from a seed of at least 32 bytes (EIP-2333, EIP-2334). Raises Malformed.
#[pyfunction]
fn derive<'py>(py: Python<'py>, seed: &[u8], path: &str) -> PyResult<Bound<'py, PyBytes>> {
    bytes(py, || Ok(*SecretKey::derive(seed, path)?.to_bytes()))
}

/// The public key of a secret key: 48 bytes, the compressed encoding of Zcash and Ethereum. Raises Malformed.
#[pyfunction]
fn public_key<'py>(py: Python<'py>, secret: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    bytes(py, || Ok(SecretKey::from_bytes(secret)?.public_key().to_bytes()))
}

/// The signature of a message by a secret key of 32 big-endian bytes: 96 bytes. Its running time does not depend on the key. Raises
/// Malformed.
#[pyfunction]
fn sign<'py>(py: Python<'py>, secret: &[u8], message: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    bytes(py, || Ok(SecretKey::from_bytes(secret)?.sign(message).to_bytes()))
}

/// Verifies a signature of a message. Returns None for a valid signature only. Raises Rejected for a wrong signature, Malformed for bytes
/// that are no public key or no signature.
#[pyfunction]
fn verify(py: Python<'_>, public: &[u8], message: &[u8], signature: &[u8]) -> PyResult<()> {
    compute(py, || Ok(PublicKey::from_bytes(public)?.verify(message, &Signature::from_bytes(signature)?)?))
}

/// The proof of possession of a secret key: 96 bytes. Raises Malformed.
#[pyfunction]
fn prove_possession<'py>(py: Python<'py>, secret: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    bytes(py, || Ok(SecretKey::from_bytes(secret)?.prove_possession().to_bytes()))
}

/// Verifies the proof of possession of a public key's secret key. Raises Rejected, Malformed.
#[pyfunction]
fn verify_possession(py: Python<'_>, public: &[u8], proof: &[u8]) -> PyResult<()> {
    compute(py, || Ok(PublicKey::from_bytes(public)?.verify_possession(&Signature::from_bytes(proof)?)?))
}

/// The sum of signatures: 96 bytes. Raises Malformed, also without signatures, and ValueError.
#[pyfunction]
#[pyo3(name = "aggregate")]
fn aggregate<'py>(py: Python<'py>, signatures: Vec<Bound<'py, PyBytes>>) -> PyResult<Bound<'py, PyBytes>> {
    let encodings: Vec<&[u8]> = signatures.iter().map(|bytes| bytes.as_bytes()).collect();
    bytes(py, || Ok(Signature::aggregate(&self::signatures("signatures", &encodings)?)?.to_bytes()))
}

/// The sum of public keys, which verifies the sum of their signatures of one message: 48 bytes. The keys must have proofs of possession.
/// Raises Malformed, also without keys or if they cancel, and ValueError.
#[pyfunction]
fn aggregate_keys<'py>(py: Python<'py>, keys: Vec<Bound<'py, PyBytes>>) -> PyResult<Bound<'py, PyBytes>> {
    let encodings: Vec<&[u8]> = keys.iter().map(|bytes| bytes.as_bytes()).collect();
    bytes(py, || Ok(PublicKey::aggregate(&public_keys("keys", &encodings)?)?.to_bytes()))
}

/// Verifies an aggregate of signatures of message i by key i. Messages may be equal only if their keys have proofs of possession.
/// Raises Rejected, Malformed, Mismatch for another number of messages than of keys, and ValueError.
#[pyfunction]
fn aggregate_verify(
    py: Python<'_>,
    keys: Vec<Bound<'_, PyBytes>>,
    messages: Vec<Bound<'_, PyBytes>>,
    signature: &[u8],
) -> PyResult<()> {
    let keys: Vec<&[u8]> = keys.iter().map(|bytes| bytes.as_bytes()).collect();
    let messages: Vec<&[u8]> = messages.iter().map(|bytes| bytes.as_bytes()).collect();
    compute(py, || {
        let signature = Signature::from_bytes(signature)?;
        Ok(lower::aggregate_verify(&public_keys("keys", &keys)?, &messages, &signature)?)
    })
}

/// Verifies an aggregate of signatures of one message by many keys, which must have proofs of possession. Raises Rejected, Malformed,
/// ValueError.
#[pyfunction]
fn fast_aggregate_verify(
    py: Python<'_>,
    keys: Vec<Bound<'_, PyBytes>>,
    message: &[u8],
    signature: &[u8],
) -> PyResult<()> {
    let keys: Vec<&[u8]> = keys.iter().map(|bytes| bytes.as_bytes()).collect();
    compute(py, || {
        let signature = Signature::from_bytes(signature)?;
        Ok(lower::fast_aggregate_verify(&public_keys("keys", &keys)?, message, &signature)?)
    })
}

/// A signature, or an aggregate of signatures, of one message by some keys: keys, message, signature.
type Set<'py> = (Vec<Bound<'py, PyBytes>>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Decodes all sets at once, and does something with them.
fn with_sets<T: Send>(
    py: Python<'_>,
    sets: &[Set<'_>],
    work: impl FnOnce(&[SignatureSet<'_>]) -> Result<T> + Send,
) -> PyResult<T> {
    let counts: Vec<usize> = sets.iter().map(|(keys, ..)| keys.len()).collect();
    let keys: Vec<&[u8]> = sets.iter().flat_map(|(keys, ..)| keys).map(|bytes| bytes.as_bytes()).collect();
    let messages: Vec<&[u8]> = sets.iter().map(|(_, message, _)| message.as_bytes()).collect();
    let encodings: Vec<&[u8]> = sets.iter().map(|(.., signature)| signature.as_bytes()).collect();
    compute(py, || {
        let (keys, signatures) = (public_keys("keys", &keys)?, signatures("signatures", &encodings)?);
        let mut rest = keys.as_slice();
        let mut sets = Vec::with_capacity(counts.len());
        for ((count, message), signature) in counts.iter().zip(&messages).zip(signatures) {
            let (keys, after) = rest.split_at(*count);
            rest = after;
            sets.push(SignatureSet { keys, message, signature });
        }
        Ok(work(&sets)?)
    })
}

/// Verifies a batch of signatures, several times faster than one by one. Runs on all threads.
///
/// sets: a list of (keys, message, signature), where keys is a list of the public keys that signed the message, and signature their
/// aggregate.
///
/// Returns None if all are valid only. Raises Rejected if any signature is wrong (``find_invalid`` returns which), Malformed for an empty
/// batch, a set without keys, or bytes that are no key or signature, ValueError for bytes of another length.
#[pyfunction]
fn verify_batch(py: Python<'_>, sets: Vec<Set<'_>>) -> PyResult<()> {
    with_sets(py, &sets, lower::verify_batch)
}

/// The indices of the sets whose signatures are wrong or whose keys cannot be aggregated, ascending. The argument is that of
/// ``verify_batch``.
#[pyfunction]
fn find_invalid(py: Python<'_>, sets: Vec<Set<'_>>) -> PyResult<Vec<usize>> {
    with_sets(py, &sets, lower::find_invalid)
}

pub(crate) fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let module = PyModule::new(py, "proofmill.bls")?;
    module.setattr(
        "__doc__",
        "BLS signatures on BLS12-381 in Ethereum's variant: public keys of 48 bytes, signatures of 96 bytes.",
    )?;
    module.add_function(wrap_pyfunction!(keygen, &module)?)?;
    module.add_function(wrap_pyfunction!(derive, &module)?)?;
    module.add_function(wrap_pyfunction!(public_key, &module)?)?;
    module.add_function(wrap_pyfunction!(sign, &module)?)?;
    module.add_function(wrap_pyfunction!(verify, &module)?)?;
    module.add_function(wrap_pyfunction!(prove_possession, &module)?)?;
    module.add_function(wrap_pyfunction!(verify_possession, &module)?)?;
    module.add_function(wrap_pyfunction!(aggregate, &module)?)?;
    module.add_function(wrap_pyfunction!(aggregate_keys, &module)?)?;
    module.add_function(wrap_pyfunction!(aggregate_verify, &module)?)?;
    module.add_function(wrap_pyfunction!(fast_aggregate_verify, &module)?)?;
    module.add_function(wrap_pyfunction!(verify_batch, &module)?)?;
    module.add_function(wrap_pyfunction!(find_invalid, &module)?)?;
    Ok(module)
}
