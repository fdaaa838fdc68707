//! Verification of one signature, by one key or by several.

use crate::{BlsError, DST, POSSESSION_DST, Signature, ValidPublicKey};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve,
    bls12_381::{G1, G2},
    hash_to_curve::hash_to_g2,
};
use proofmill_pairing::pairing_product_is_one;

/// Verifies the signature of a message by a key.
///
/// # Errors
/// [`BlsError::Rejected`].
pub fn verify(
    level: Level,
    key: &ValidPublicKey,
    message: &[u8],
    signature: &Signature,
) -> Result<(), BlsError> {
    check(level, vec![(*key.point(), hash_one(level, message, DST))], signature)
}

/// Verifies a proof of possession of the secret key.
///
/// # Errors
/// [`BlsError::Rejected`].
pub fn verify_possession(level: Level, key: &ValidPublicKey, proof: &Signature) -> Result<(), BlsError> {
    check(level, vec![(*key.point(), hash_one(level, &key.to_bytes(), POSSESSION_DST))], proof)
}

/// Verifies an aggregate of signatures of message i by key i. Messages may be equal only if their keys have proofs of
/// possession.
///
/// # Errors
/// [`BlsError::EmptyAggregate`], [`BlsError::Counts`], [`BlsError::Rejected`].
pub fn aggregate_verify(
    level: Level,
    keys: &[ValidPublicKey],
    messages: &[&[u8]],
    signature: &Signature,
) -> Result<(), BlsError> {
    if keys.is_empty() {
        return Err(BlsError::EmptyAggregate("public key"));
    }
    if keys.len() != messages.len() {
        return Err(BlsError::Counts { keys: keys.len(), messages: messages.len() });
    }
    let hashes = hash_to_g2(level, messages, DST);
    check(level, keys.iter().map(|key| *key.point()).zip(hashes).collect(), signature)
}

/// Verifies an aggregate of signatures of one message by many keys, which must have proofs of possession.
///
/// # Errors
/// [`BlsError::EmptyAggregate`], [`BlsError::InfinityKey`] if the keys cancel, [`BlsError::Rejected`].
pub fn fast_aggregate_verify(
    level: Level,
    keys: &[ValidPublicKey],
    message: &[u8],
    signature: &Signature,
) -> Result<(), BlsError> {
    verify(level, &ValidPublicKey::aggregate(level, keys)?, message, signature)
}

/// [`fast_aggregate_verify`] in the variant of Ethereum's consensus specification (Altair, `eth_fast_aggregate_verify`):
/// accepts no keys with the signature at infinity, which is a sync committee without participants.
///
/// # Errors
/// As [`fast_aggregate_verify`].
pub fn eth_fast_aggregate_verify(
    level: Level,
    keys: &[ValidPublicKey],
    message: &[u8],
    signature: &Signature,
) -> Result<(), BlsError> {
    if keys.is_empty() && signature.is_infinity() {
        return Ok(());
    }
    fast_aggregate_verify(level, keys, message, signature)
}

/// The hash of a message to G2.
pub(crate) fn hash_one(level: Level, message: &[u8], dst: &[u8]) -> Affine<G2> {
    hash_to_g2(level, &[message], dst).pop().unwrap_or(Affine::INFINITY)
}

/// Whether the product of `e(key, hash)` is `e(G, signature)`.
fn check(
    level: Level,
    mut pairs: Vec<(Affine<G1>, Affine<G2>)>,
    signature: &Signature,
) -> Result<(), BlsError> {
    // One product of pairings, and so one final exponentiation, in place of two values.
    pairs.push((-G1::GENERATOR, *signature.point()));
    if pairing_product_is_one(level, &pairs) { Ok(()) } else { Err(BlsError::Rejected) }
}
