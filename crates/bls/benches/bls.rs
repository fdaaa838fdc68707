//! Signatures at every level against blst, on one core: `taskset -c 1 cargo bench -p proofmill-bls [-- --csv]`.
//!
//! Public keys were validated before, as in Ethereum clients. Both sides decode signatures from bytes and check that they are
//! in the subgroup. blst's batch is `verify_multiple_aggregate_signatures`, which sees only one core here.

use blst::{BLST_ERROR, blst_scalar, min_pk as peer};
use proofmill_bls::{
    DST, SecretKey, Signature, SignatureSet, ValidPublicKey, fast_aggregate_verify, verify, verify_batch,
};
use proofmill_cpu::Level;
use proofmill_testing::{Records, rng};
use rand::RngCore;
use std::hint::black_box;

/// Keys of an aggregate, and sets of a batch.
const MANY: usize = 128;

/// Operations per sample, so that a sample takes tens of milliseconds.
const REPEATS: usize = 50;

/// Keys, messages and signatures, in the types of both libraries.
struct Inputs {
    secrets: Vec<SecretKey>,
    keys: Vec<ValidPublicKey>,
    messages: Vec<[u8; 32]>,
    signatures: Vec<[u8; 96]>,
    peer_secrets: Vec<peer::SecretKey>,
    peer_keys: Vec<peer::PublicKey>,
    /// The aggregate of all keys' signatures of message 0.
    aggregate: [u8; 96],
}

impl Inputs {
    fn new() -> Self {
        let (mut rng, level) = (rng(9), Level::best());
        let secrets: Vec<_> = (0..MANY)
            .map(|_| {
                let mut seed = [0; 32];
                rng.fill_bytes(&mut seed);
                SecretKey::derive_master(&seed).expect("32 bytes")
            })
            .collect();
        let keys: Vec<_> = secrets.iter().map(|secret| secret.public_key(level)).collect();
        let messages: Vec<[u8; 32]> = (0..MANY).map(|i| [i as u8; 32]).collect();
        let signed = secrets.iter().zip(&messages).map(|(secret, message)| secret.sign(level, message));
        let signatures = signed.map(|signature| signature.to_bytes()).collect();
        let of_one: Vec<_> = secrets.iter().map(|secret| secret.sign(level, &messages[0])).collect();
        let aggregate = Signature::aggregate(level, &of_one).expect("some").to_bytes();
        let peer_secrets =
            secrets.iter().map(|secret| peer::SecretKey::from_bytes(&*secret.to_bytes()).expect("a key"));
        let peer_keys = keys.iter().map(|key| peer::PublicKey::from_bytes(&key.to_bytes()).expect("a key"));
        let (peer_secrets, peer_keys) = (peer_secrets.collect(), peer_keys.collect());
        Self { secrets, keys, messages, signatures, peer_secrets, peer_keys, aggregate }
    }
}

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool").install(bench);
}

fn bench() {
    let inputs = Inputs::new();
    let mut records = Records::new();
    let mut run = |name: &str, repeats: usize, theirs: &mut dyn FnMut(), ours: &mut dyn FnMut(Level)| {
        let name = format!("{repeats} x {name}");
        let peer = records.record(&name, "blst", 1, None, || (0..repeats).for_each(|_| theirs()));
        for level in proofmill_field::prime_field_levels() {
            let body = || (0..repeats).for_each(|_| ours(level));
            records.record(&name, level.name(), 1, Some(("blst", peer)), body);
        }
    };
    let message = &inputs.messages[0];
    run("public key", REPEATS, &mut || _ = black_box(inputs.peer_secrets[0].sk_to_pk()), &mut |level| {
        _ = black_box(inputs.secrets[0].public_key(level))
    });
    run(
        "sign",
        REPEATS,
        &mut || _ = black_box(inputs.peer_secrets[0].sign(message, DST, &[])),
        &mut |level| _ = black_box(inputs.secrets[0].sign(level, message)),
    );
    run("verify", REPEATS, &mut || verify_theirs(&inputs, 0), &mut |level| verify_ours(&inputs, level, 0));
    run(
        "fast aggregate verify of 128 keys",
        REPEATS,
        &mut || {
            let signature = peer::Signature::from_bytes(&inputs.aggregate).expect("a signature");
            let keys: Vec<_> = inputs.peer_keys.iter().collect();
            assert_eq!(signature.fast_aggregate_verify(true, message, DST, &keys), BLST_ERROR::BLST_SUCCESS);
        },
        &mut |level| {
            let signature = Signature::from_bytes(level, &inputs.aggregate).expect("a signature");
            assert_eq!(fast_aggregate_verify(level, &inputs.keys, message, &signature), Ok(()));
        },
    );
    run(
        "6 messages by 6 keys in turn",
        10,
        &mut || (0..6).for_each(|i| verify_theirs(&inputs, i)),
        &mut |level| {
            (0..6).for_each(|i| verify_ours(&inputs, level, i));
        },
    );
    for (count, repeats) in [(6, 10), (32, 4), (MANY, 2)] {
        let name = format!("batch of {count} sets");
        run(&name, repeats, &mut || batch_theirs(&inputs, count), &mut |level| {
            batch_ours(&inputs, level, count)
        });
    }
}

fn verify_theirs(inputs: &Inputs, i: usize) {
    let signature = peer::Signature::from_bytes(&inputs.signatures[i]).expect("a signature");
    let verdict = signature.verify(true, &inputs.messages[i], DST, &[], &inputs.peer_keys[i], false);
    assert_eq!(verdict, BLST_ERROR::BLST_SUCCESS);
}

fn verify_ours(inputs: &Inputs, level: Level, i: usize) {
    let signature = Signature::from_bytes(level, &inputs.signatures[i]).expect("a signature");
    assert_eq!(verify(level, &inputs.keys[i], &inputs.messages[i], &signature), Ok(()));
}

fn batch_theirs(inputs: &Inputs, count: usize) {
    let mut rng = rng(10);
    let signatures: Vec<_> = inputs.signatures[..count]
        .iter()
        .map(|bytes| peer::Signature::from_bytes(bytes).expect("a signature"))
        .collect();
    let messages: Vec<&[u8]> = inputs.messages[..count].iter().map(|message| &message[..]).collect();
    let keys: Vec<_> = inputs.peer_keys[..count].iter().collect();
    let factors: Vec<_> = (0..count)
        .map(|_| {
            let mut factor = blst_scalar { b: [0; 32] };
            rng.fill_bytes(&mut factor.b[..8]);
            factor
        })
        .collect();
    let verdict = peer::Signature::verify_multiple_aggregate_signatures(
        &messages,
        DST,
        &keys,
        false,
        &signatures.iter().collect::<Vec<_>>(),
        true,
        &factors,
        64,
    );
    assert_eq!(verdict, BLST_ERROR::BLST_SUCCESS);
}

fn batch_ours(inputs: &Inputs, level: Level, count: usize) {
    let signatures = Signature::decode_many(level, &inputs.signatures[..count]);
    let parts = inputs.keys.chunks(1).zip(&inputs.messages).zip(signatures);
    let sets: Vec<_> = parts
        .map(|((keys, message), signature)| SignatureSet {
            keys,
            message,
            signature: signature.expect("a signature"),
        })
        .collect();
    assert_eq!(verify_batch(level, &sets), Ok(()));
}
