//! BLS signatures.

use crate::{machines, refused};
use proofmill::bls::{
    PublicKey, SecretKey, Signature, SignatureSet, aggregate_verify, eth_fast_aggregate_verify,
    fast_aggregate_verify, find_invalid, verify_batch,
};

#[test]
fn signatures_are_verified_and_refused_at_every_level() {
    let keys: Vec<_> = (1..4u8).map(|byte| SecretKey::from_bytes(&[byte; 32]).unwrap()).collect();
    let messages: [&[u8]; 3] = [b"one", b"two", b"three"];
    for machine in machines() {
        machine.run(|| {
            let public: Vec<_> = keys.iter().map(SecretKey::public_key).collect();
            let signatures: Vec<_> =
                keys.iter().zip(messages).map(|(key, message)| key.sign(message)).collect();
            public[0].verify(b"one", &signatures[0]).unwrap();
            refused(public[0].verify(b"two", &signatures[0]), "rejected", "not valid");
            public[0].verify_possession(&keys[0].prove_possession()).unwrap();
            refused(public[0].verify_possession(&keys[1].prove_possession()), "rejected", "not valid");

            let all = Signature::aggregate(&signatures).unwrap();
            aggregate_verify(&public, &messages, &all).unwrap();
            refused(aggregate_verify(&public, &messages[..2], &all), "mismatch", "2");
            refused(aggregate_verify(&[], &[], &all), "malformed", "none");
            refused(fast_aggregate_verify(&public, b"one", &all), "rejected", "not valid");
            refused(eth_fast_aggregate_verify(&[], b"one", &all), "malformed", "none");

            let set =
                |i: usize, message| SignatureSet { keys: &public[i..=i], message, signature: signatures[i] };
            let mut sets: Vec<_> = (0..3).map(|i| set(i, messages[i])).collect();
            verify_batch(&sets).unwrap();
            sets[1].message = b"other";
            refused(verify_batch(&sets), "rejected", "not valid");
            assert_eq!(find_invalid(&sets).unwrap(), [1]);
            refused(verify_batch(&[]), "malformed", "none");
        });
    }
}

#[test]
fn encodings_are_read_as_they_are_written() {
    let key = SecretKey::derive(&[7; 32], "m/12381/3600/0/0/0").unwrap();
    let (public, signature) = (key.public_key(), key.sign(b"message"));
    assert_eq!(SecretKey::from_bytes(&*key.to_bytes()).unwrap().public_key(), public);
    assert_eq!(PublicKey::from_bytes(&public.to_bytes()).unwrap(), public);
    assert_eq!(Signature::from_bytes(&signature.to_bytes()).unwrap(), signature);
    let mut keys = PublicKey::decode_many(&[public.to_bytes(), [1; 48]]);
    refused(keys.pop().unwrap(), "malformed", "public key");
    assert_eq!(keys.pop().unwrap().unwrap(), public);
    let mut signatures = Signature::decode_many(&[signature.to_bytes(), [1; 96]]);
    refused(signatures.pop().unwrap(), "malformed", "signature");
    assert_eq!(signatures.pop().unwrap().unwrap(), signature);
    refused(PublicKey::from_bytes(&[0; 47]), "malformed", "47");
    refused(SecretKey::derive(&[7; 32], "m/x").map(drop), "malformed", "m/x");
}
