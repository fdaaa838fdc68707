//! Arbitrary bytes as public keys, signatures, secret keys and messages: blst accepts and rejects the same, at every level.
#![no_main]

use blst::{BLST_ERROR, min_pk as peer};
use libfuzzer_sys::fuzz_target;
use proofmill_bls::{DST, PublicKey, SecretKey, Signature, ValidPublicKey, verify};

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    keys(bytes);
    signatures(bytes);
    if let Some((secret, message)) = bytes.split_first_chunk::<32>() {
        sign(*choice, secret, message);
    }
});

fn keys(bytes: &[u8]) {
    let theirs = peer::PublicKey::key_validate(bytes).ok().map(|key| key.to_bytes());
    // blst also accepts uncompressed keys.
    let theirs = theirs.filter(|_| bytes.len() == PublicKey::BYTES);
    for level in proofmill_field::prime_field_levels() {
        let ours = ValidPublicKey::from_bytes(level, bytes).ok().map(|key| key.to_bytes());
        assert_eq!(ours, theirs, "{level}");
    }
}

fn signatures(bytes: &[u8]) {
    let theirs = peer::Signature::sig_validate(bytes, false).ok().map(|signature| signature.to_bytes());
    let theirs = theirs.filter(|_| bytes.len() == Signature::BYTES);
    for level in proofmill_field::prime_field_levels() {
        let ours = Signature::from_bytes(level, bytes).ok().map(|signature| signature.to_bytes());
        assert_eq!(ours, theirs, "{level}");
    }
}

/// Both sign identically; both accept our signature, and not for another message.
fn sign(choice: u8, secret: &[u8; 32], message: &[u8]) {
    let (ours, theirs) = (SecretKey::from_bytes(secret), peer::SecretKey::from_bytes(secret));
    assert_eq!(ours.is_ok(), theirs.is_ok());
    let (Ok(ours), Ok(theirs)) = (ours, theirs) else { return };
    let levels = proofmill_field::prime_field_levels();
    let level = levels[usize::from(choice) % levels.len()];
    let signature = ours.sign(level, message);
    assert_eq!(signature.to_bytes(), theirs.sign(message, DST, &[]).to_bytes());
    let key = ours.public_key(level);
    assert_eq!(key.to_bytes(), theirs.sk_to_pk().to_bytes());
    assert_eq!(verify(level, &key, message, &signature), Ok(()));
    let verdict = theirs.sign(message, DST, &[]).verify(true, message, DST, &[], &theirs.sk_to_pk(), true);
    assert_eq!(verdict, BLST_ERROR::BLST_SUCCESS);
    let other = [message, b"."].concat();
    assert!(verify(level, &key, &other, &signature).is_err());
}
