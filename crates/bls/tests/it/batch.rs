//! Batches: accepted and rejected ones, and the sets that are found invalid; the same on every number of threads.

use proofmill_bls::{
    BlsError, SecretKey, Signature, SignatureSet, ValidPublicKey, find_invalid, find_invalid_with_rng,
    verify, verify_batch, verify_batch_with_rng,
};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, Jacobian, bls12_381::G2};
use proofmill_field::{Field, bls12_381::Fr};
use proofmill_testing::{directions, for_each_level, for_each_pool, rng};

/// The values that sets borrow.
struct Owned {
    keys: Vec<Vec<ValidPublicKey>>,
    messages: Vec<Vec<u8>>,
    signatures: Vec<Signature>,
}

impl Owned {
    /// Set i is signed by `1 + i % 3` keys; two sets in turn have the same message.
    fn new(count: usize) -> Self {
        Self::with_messages(count, |i| i / 2)
    }

    /// Sets whose messages have the given numbers.
    fn with_messages(count: usize, number: impl Fn(usize) -> usize) -> Self {
        let level = Level::best();
        let (mut keys, mut messages, mut signatures) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..count {
            let secrets: Vec<_> =
                (0..1 + i % 3).map(|j| SecretKey::derive_master(&[(3 * i + j) as u8; 32]).unwrap()).collect();
            let message = vec![number(i) as u8; 32];
            let parts: Vec<_> = secrets.iter().map(|secret| secret.sign(level, &message)).collect();
            keys.push(secrets.iter().map(|secret| secret.public_key(level)).collect());
            messages.push(message);
            signatures.push(Signature::aggregate(level, &parts).unwrap());
        }
        Self { keys, messages, signatures }
    }

    fn sets(&self) -> Vec<SignatureSet<'_>> {
        let parts = self.keys.iter().zip(&self.messages).zip(&self.signatures);
        parts
            .map(|((keys, message), signature)| SignatureSet { keys, message, signature: *signature })
            .collect()
    }
}

#[test]
fn batches_pass_and_bad_sets_are_named() {
    let owned = Owned::new(19);
    let good = owned.sets();
    for_each_level(|level| {
        for_each_pool(&[1, 2, 5], |threads| {
            for count in [1, 2, 7, 8, 9, 17, 19] {
                assert_eq!(
                    verify_batch(level, &good[..count]),
                    Ok(()),
                    "{level}, {threads} threads, {count} sets"
                );
            }
            assert_eq!(find_invalid(level, &good), Ok(vec![]));
            for bad in [vec![0], vec![18], vec![3, 4], vec![0, 5, 6, 11, 18], (0..19).collect()] {
                let mut sets = good.clone();
                for i in &bad {
                    sets[*i].message = b"another";
                }
                assert_eq!(verify_batch(level, &sets), Err(BlsError::Rejected));
                assert_eq!(find_invalid(level, &sets), Ok(bad), "{level}, {threads} threads");
            }
        });
    });
}

#[test]
fn nothing_and_sets_without_a_key_are_refused() {
    let owned = Owned::new(4);
    let sets = owned.sets();
    for_each_level(|level| {
        assert_eq!(verify_batch(level, &[]), Err(BlsError::EmptyBatch));
        assert_eq!(find_invalid(level, &[]), Ok(vec![]));
        let mut empty = sets.clone();
        empty[2].keys = &[];
        assert_eq!(verify_batch(level, &empty), Err(BlsError::EmptyAggregate("public key")));
        assert_eq!(find_invalid(level, &empty), Ok(vec![2]));
        let mut bytes = owned.keys[0][0].to_bytes();
        bytes[0] ^= 0x20;
        let cancelling = [owned.keys[0][0], ValidPublicKey::from_bytes(level, &bytes).unwrap()];
        let mut cancelled = sets.clone();
        cancelled[1].keys = &cancelling;
        cancelled[3].message = b"another";
        assert_eq!(verify_batch(level, &cancelled), Err(BlsError::InfinityKey));
        assert_eq!(find_invalid(level, &cancelled), Ok(vec![1, 3]));
        let mut infinite = [0; 96];
        infinite[0] = 0xc0;
        let mut absent = sets.clone();
        absent[0].signature = Signature::from_bytes(level, &infinite).unwrap();
        assert_eq!(verify_batch(level, &absent), Err(BlsError::Rejected));
        assert_eq!(find_invalid(level, &absent), Ok(vec![0]), "{level}");
    });
}

/// Groups of one, a few and many sets per message, in any order.
#[test]
fn sets_of_equal_messages_are_checked_one_by_one() {
    // 12 sets of message 0, 6 of 1, 1 of 2.
    let owned = Owned::with_messages(19, |i| if i == 7 { 2 } else { usize::from(i % 3 == 1) });
    for_each_level(|level| {
        for_each_pool(&[1, 2, 5], |threads| {
            let good = owned.sets();
            assert_eq!(verify_batch(level, &good), Ok(()), "{level}, {threads} threads");
            for [i, j] in [[0, 2], [1, 4], [3, 18], [0, 7]] {
                // The sum of the signatures of a message stays right, but for the last pair.
                let mut sets = good.clone();
                (sets[i].signature, sets[j].signature) = (good[j].signature, good[i].signature);
                assert_eq!(verify_batch(level, &sets), Err(BlsError::Rejected));
                assert_eq!(find_invalid(level, &sets), Ok(vec![i, j]), "{level}, {threads} threads");
            }
        });
    });
}

/// A key and its negative, which cancel if the factors are equal, and sets that are there twice.
#[test]
fn keys_that_cancel_do_not_hide_a_wrong_signature() {
    let owned = Owned::with_messages(4, |_| 0);
    for_each_level(|level| {
        let mut sets = owned.sets();
        let mut bytes = owned.keys[0][0].to_bytes();
        bytes[0] ^= 0x20;
        let negative = [ValidPublicKey::from_bytes(level, &bytes).unwrap()];
        let mut signature = owned.signatures[0].to_bytes();
        signature[0] ^= 0x20;
        let signature = Signature::from_bytes(level, &signature).unwrap();
        sets.push(SignatureSet { keys: &negative, signature, ..sets[0] });
        sets.extend(owned.sets());
        assert_eq!(verify_batch(level, &sets), Ok(()), "{level}");
        sets[4].signature = owned.signatures[0];
        assert_eq!(verify_batch(level, &sets), Err(BlsError::Rejected));
        assert_eq!(find_invalid(level, &sets), Ok(vec![4]), "{level}");
    });
}

/// The signature plus a multiple of the generator.
fn shifted(level: Level, signature: &Signature, by: u64) -> Signature {
    let generator = G2::GENERATOR;
    let shift = generator.mul_words_vartime(&[by]);
    let sum: Affine<G2> = Jacobian::from(*signature.point()).add(&shift).to_affine();
    Signature::from_bytes(level, &sum.to_compressed()).unwrap()
}

#[test]
fn signatures_that_cancel_without_blinding_are_refused() {
    let owned = Owned::new(3);
    for_each_level(|level| {
        let mut sets = owned.sets();
        sets[0].signature = shifted(level, &sets[0].signature, 7);
        let minus = -G2::GENERATOR;
        let shift = minus.mul_words_vartime(&[7]);
        let sum = Jacobian::from(*sets[1].signature.point()).add(&shift).to_affine();
        sets[1].signature = Signature::from_bytes(level, &sum.to_compressed()).unwrap();
        // The sum of the signatures is right.
        let aggregate = |sets: &[SignatureSet<'_>]| {
            Signature::aggregate(level, &sets.iter().map(|set| set.signature).collect::<Vec<_>>()).unwrap()
        };
        assert_eq!(aggregate(&sets), aggregate(&owned.sets()));
        for seed in 0..20 {
            assert_eq!(verify_batch_with_rng(level, &sets, &mut rng(seed)), Err(BlsError::Rejected));
            assert_eq!(find_invalid_with_rng(level, &sets, &mut rng(seed)), [0, 1], "{level}");
        }
    });
}

/// All signatures moved in one direction of the space at a time: of different messages, and of one.
#[test]
fn no_direction_of_signatures_is_blind() {
    const COUNT: usize = 8;
    let level = Level::best();
    let root = Fr::root_of_unity(COUNT.ilog2()).unwrap();
    let step = G2::GENERATOR.mul_vartime(&Fr::from(1_000_003)).to_affine();
    for owned in [Owned::with_messages(COUNT, |i| i), Owned::with_messages(COUNT, |_| 0)] {
        for weights in directions(COUNT, root, Fr::ONE) {
            let mut sets = owned.sets();
            for (set, weight) in sets.iter_mut().zip(&weights) {
                let moved = step.mul_vartime(weight).add_affine(set.signature.point()).to_affine();
                set.signature = Signature::from_bytes(level, &moved.to_compressed()).unwrap();
            }
            assert_eq!(verify_batch(level, &sets), Err(BlsError::Rejected));
            assert_eq!(find_invalid(level, &sets), Ok((0..COUNT).collect()));
        }
    }
}

#[test]
fn a_forgery_is_refused_in_10_000_tries() {
    let owned = Owned::new(4);
    let level = Level::best();
    for seed in 0..10_000 {
        let mut sets = [owned.sets()[0], owned.sets()[3]];
        let forged = (seed % 2) as usize;
        sets[forged].signature = shifted(level, &sets[forged].signature, seed + 1);
        assert_eq!(verify_batch_with_rng(level, &sets, &mut rng(seed)), Err(BlsError::Rejected), "{seed}");
    }
    assert_eq!(verify(level, &owned.keys[0][0], &owned.messages[0], &owned.signatures[0]), Ok(()));
}
