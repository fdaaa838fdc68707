//! Accepted and rejected inputs, with their errors; for encodings blst is the oracle.

use blst::min_pk as peer;
use proofmill_bls::{
    BlsError, DST, PublicKey, SecretKey, Signature, ValidPublicKey, aggregate_verify,
    eth_fast_aggregate_verify, fast_aggregate_verify, verify, verify_possession,
};
use proofmill_cpu::Level;
use proofmill_curve::EncodingError;
use proofmill_testing::{for_each_level, rng};
use rand::{Rng, RngCore};

fn secret(seed: u8) -> SecretKey {
    SecretKey::derive_master(&[seed; 32]).unwrap()
}

/// The encoding of infinity.
fn infinity<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    bytes[0] = 0xc0;
    bytes
}

fn infinite_signature() -> Signature {
    Signature::from_bytes(Level::best(), &infinity::<96>()).unwrap()
}

/// The negated key.
fn opposite(level: Level, key: &ValidPublicKey) -> ValidPublicKey {
    let mut bytes = key.to_bytes();
    bytes[0] ^= 0x20;
    ValidPublicKey::from_bytes(level, &bytes).unwrap()
}

#[test]
fn signatures_are_of_one_message_and_one_key() {
    let (key, other) = (secret(1), secret(2));
    for_each_level(|level| {
        let (public, signature) = (key.public_key(level), key.sign(level, b"message"));
        assert_eq!(verify(level, &public, b"message", &signature), Ok(()));
        assert_eq!(verify(level, &public, b"massage", &signature), Err(BlsError::Rejected));
        assert_eq!(verify(level, &other.public_key(level), b"message", &signature), Err(BlsError::Rejected));
        assert_eq!(verify(level, &public, b"message", &infinite_signature()), Err(BlsError::Rejected));
        let proof = key.prove_possession(level);
        assert_eq!(verify_possession(level, &public, &proof), Ok(()));
        assert_eq!(verify_possession(level, &other.public_key(level), &proof), Err(BlsError::Rejected));
        assert_eq!(verify(level, &public, &public.to_bytes(), &proof), Err(BlsError::Rejected), "{level}");
    });
}

#[test]
fn aggregates_verify_as_blsts() {
    let keys: Vec<_> = (0..20).map(secret).collect();
    let messages: Vec<Vec<u8>> = (0..20).map(|i| vec![i; 3]).collect();
    let messages: Vec<_> = messages.iter().map(Vec::as_slice).collect();
    for_each_level(|level| {
        for count in [1, 2, 7, 8, 9, 17] {
            let publics: Vec<_> = keys[..count].iter().map(|key| key.public_key(level)).collect();
            let signatures: Vec<_> =
                keys[..count].iter().zip(&messages).map(|(key, message)| key.sign(level, message)).collect();
            let aggregate = Signature::aggregate(level, &signatures).unwrap();
            let theirs: Vec<_> =
                signatures.iter().map(|one| peer::Signature::from_bytes(&one.to_bytes()).unwrap()).collect();
            let theirs =
                peer::AggregateSignature::aggregate(&theirs.iter().collect::<Vec<_>>(), true).unwrap();
            assert_eq!(aggregate.to_bytes(), theirs.to_signature().to_bytes());
            assert_eq!(aggregate_verify(level, &publics, &messages[..count], &aggregate), Ok(()));
            let mut swapped = messages[..count].to_vec();
            swapped[count - 1] = b"another";
            assert_eq!(aggregate_verify(level, &publics, &swapped, &aggregate), Err(BlsError::Rejected));

            let same: Vec<_> = keys[..count].iter().map(|key| key.sign(level, b"same")).collect();
            let aggregate = Signature::aggregate(level, &same).unwrap();
            assert_eq!(fast_aggregate_verify(level, &publics, b"same", &aggregate), Ok(()));
            assert_eq!(fast_aggregate_verify(level, &publics, b"some", &aggregate), Err(BlsError::Rejected));
            assert_eq!(eth_fast_aggregate_verify(level, &publics, b"same", &aggregate), Ok(()));
            let theirs: Vec<_> =
                publics.iter().map(|one| peer::PublicKey::from_bytes(&one.to_bytes()).unwrap()).collect();
            let theirs =
                peer::AggregatePublicKey::aggregate(&theirs.iter().collect::<Vec<_>>(), true).unwrap();
            let ours = ValidPublicKey::aggregate(level, &publics).unwrap();
            assert_eq!(ours.to_bytes(), theirs.to_public_key().to_bytes(), "{level}, {count} keys");
        }
    });
}

#[test]
fn nothing_and_infinity_are_refused_by_name() {
    let key = secret(3);
    for_each_level(|level| {
        let (public, signature) = (key.public_key(level), key.sign(level, b"m"));
        let none = infinite_signature();
        assert_eq!(ValidPublicKey::from_bytes(level, &infinity::<48>()), Err(BlsError::InfinityKey));
        assert_eq!(Signature::aggregate(level, &[]), Err(BlsError::EmptyAggregate("signature")));
        assert_eq!(ValidPublicKey::aggregate(level, &[]), Err(BlsError::EmptyAggregate("public key")));
        for signature in [signature, none] {
            let empty = Err(BlsError::EmptyAggregate("public key"));
            assert_eq!(aggregate_verify(level, &[], &[], &signature), empty);
            assert_eq!(fast_aggregate_verify(level, &[], b"m", &signature), empty);
        }
        assert_eq!(eth_fast_aggregate_verify(level, &[], b"m", &none), Ok(()));
        assert!(eth_fast_aggregate_verify(level, &[], b"m", &signature).is_err());
        let counts = Err(BlsError::Counts { keys: 1, messages: 2 });
        assert_eq!(aggregate_verify(level, &[public], &[b"m", b"m"], &signature), counts);
        // With keys that cancel, infinity would be accepted for every message.
        let cancelling = [public, opposite(level, &public)];
        assert_eq!(
            fast_aggregate_verify(level, &cancelling, b"m", &none),
            Err(BlsError::InfinityKey),
            "{level}"
        );
        assert_eq!(Signature::aggregate(level, &[none, signature, none]), Ok(signature));
        assert_eq!(none.to_bytes(), infinity::<96>());
    });
}

#[test]
fn lengths_are_refused() {
    let level = Level::best();
    for length in [0, 47, 49, 96] {
        let error = BlsError::Length { what: "a public key", expected: 48, found: length };
        assert_eq!(ValidPublicKey::from_bytes(level, &vec![0xc0; length]), Err(error));
    }
    for length in [0, 48, 95, 97, 192] {
        let error = BlsError::Length { what: "a signature", expected: 96, found: length };
        assert_eq!(Signature::from_bytes(level, &vec![0xc0; length]), Err(error));
    }
}

/// Encodings close to valid ones: flags, single bits, x without y, points outside the subgroup, random bytes.
fn neighbours(valid: &[u8], rng: &mut impl RngCore) -> Vec<Vec<u8>> {
    let mut all = vec![valid.to_vec(), vec![0; valid.len()], vec![0xff; valid.len()]];
    for flags in 0..8 {
        for base in [valid.to_vec(), vec![0; valid.len()]] {
            let mut bytes = base;
            bytes[0] = bytes[0] & 0x1f | flags << 5;
            all.push(bytes);
        }
    }
    for _ in 0..60 {
        let mut bytes = valid.to_vec();
        bytes[rng.random_range(0..valid.len())] ^= 1 << rng.random_range(0..8);
        all.push(bytes.clone());
        rng.fill_bytes(&mut bytes);
        bytes[0] = bytes[0] & 0x3f | 0x80;
        all.push(bytes);
    }
    all
}

#[test]
fn blst_accepts_and_refuses_the_same_bytes() {
    let mut rng = rng(4);
    let key = secret(4);
    let public = neighbours(&key.public_key(Level::best()).to_bytes(), &mut rng);
    let signature = neighbours(&key.sign(Level::best(), b"m").to_bytes(), &mut rng);
    for_each_level(|level| {
        let keys: Vec<_> = public.iter().map(|bytes| PublicKey::from_bytes(bytes).unwrap()).collect();
        let many = PublicKey::validate_many(level, &keys);
        let mut refusals = Vec::new();
        for (bytes, ours) in public.iter().zip(many) {
            assert_eq!(ours, ValidPublicKey::from_bytes(level, bytes));
            let theirs = peer::PublicKey::key_validate(bytes);
            assert_eq!(ours.is_ok(), theirs.is_ok(), "{level}: {bytes:02x?}: {ours:?}, {theirs:?}");
            refusals.extend(ours.err());
        }
        let signatures: Vec<_> = signature.iter().map(|bytes| bytes[..].try_into().unwrap()).collect();
        let many = Signature::decode_many(level, &signatures);
        for (bytes, ours) in signatures.iter().zip(many) {
            assert_eq!(ours, Signature::from_bytes(level, bytes));
            let theirs = peer::Signature::sig_validate(bytes, false);
            assert_eq!(ours.is_ok(), theirs.is_ok(), "{level}: {bytes:02x?}: {ours:?}, {theirs:?}");
            refusals.extend(ours.err());
        }
        // Every reason for rejection occurred.
        for expected in ["off the curve", "outside it", "not below the modulus", "infinity", "other form"] {
            assert!(refusals.iter().any(|error| error.to_string().contains(expected)), "{expected}");
        }
        assert!(refusals.contains(&BlsError::PublicKey(EncodingError::NotOnCurve("BLS12-381 G1"))));
    });
}

#[test]
fn every_byte_of_a_signature_key_and_message_counts() {
    let level = Level::best();
    let key = secret(5);
    let (public, signature) = (key.public_key(level).to_bytes(), key.sign(level, &[7; 40]).to_bytes());
    let is_valid = |public: &[u8], message: &[u8], signature: &[u8]| {
        let ours = ValidPublicKey::from_bytes(level, public)
            .and_then(|public| verify(level, &public, message, &Signature::from_bytes(level, signature)?));
        ours.is_ok()
    };
    assert!(is_valid(&public, &[7; 40], &signature));
    for i in 0..96 {
        let mut changed = signature;
        changed[i] ^= 1 << (i % 8);
        assert!(!is_valid(&public, &[7; 40], &changed), "signature, byte {i}");
    }
    for i in 0..48 {
        let mut changed = public;
        changed[i] ^= 1 << (i % 8);
        assert!(!is_valid(&changed, &[7; 40], &signature), "key, byte {i}");
    }
    for i in 0..40 {
        let mut changed = [7; 40];
        changed[i] ^= 1 << (i % 8);
        assert!(!is_valid(&public, &changed, &signature), "message, byte {i}");
    }
}

#[test]
fn blst_verifies_ours() {
    let level = Level::best();
    let key = secret(6);
    let public = peer::PublicKey::from_bytes(&key.public_key(level).to_bytes()).unwrap();
    for length in [0, 1, 31, 32, 33, 200] {
        let message = vec![3; length];
        let signature = peer::Signature::from_bytes(&key.sign(level, &message).to_bytes()).unwrap();
        let verdict = signature.verify(true, &message, DST, &[], &public, true);
        assert_eq!(verdict, blst::BLST_ERROR::BLST_SUCCESS);
    }
}
