//! NIST's CAVP: the byte-oriented test vectors, and the Monte Carlo test of the SHA Validation System, section 6.4.

use crate::{fields, for_each_kernels, from_hex};
use proofmill_sha256::{Kernels, Sha256, hash_pairs, hash_rows};

/// Messages and their digests.
fn messages(text: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let (lengths, messages, digests) = (fields(text, "Len"), fields(text, "Msg"), fields(text, "MD"));
    let message = |i: usize| {
        let mut message = from_hex(messages[i]);
        message.truncate(lengths[i].parse::<usize>().unwrap() / 8);
        (message, from_hex(digests[i]))
    };
    assert_eq!((lengths.len(), messages.len()), (digests.len(), digests.len()));
    (0..digests.len()).map(message).collect()
}

#[test]
fn messages_of_nist() {
    let short = messages(include_str!("../data/SHA256ShortMsg.rsp"));
    let long = messages(include_str!("../data/SHA256LongMsg.rsp"));
    assert_eq!((short.len(), long.len()), (65, 64));
    for_each_kernels(|kernels| {
        for (message, expected) in short.iter().chain(&long) {
            assert_eq!(kernels.digest(message), expected[..]);
            let mut hash = Sha256::with(kernels);
            message.chunks(129).for_each(|part| hash.update(part));
            assert_eq!(hash.finish(), expected[..]);
            let mut digests = [[0; 32]; 19];
            hash_rows(kernels, &message.repeat(19), message.len(), &mut digests);
            assert!(digests.iter().all(|digest| digest[..] == expected[..]), "{} bytes", message.len());
        }
        let (pair, expected) = short.last().unwrap();
        let mut digests = [[0; 32]; 37];
        hash_pairs(kernels, &[*pair.as_array().unwrap(); 37], &mut digests);
        assert!(digests.iter().all(|digest| digest[..] == expected[..]));
    });
}

#[test]
fn monte_carlo_of_nist() {
    let text = include_str!("../data/SHA256Monte.rsp");
    let expected: Vec<_> = fields(text, "MD").into_iter().map(from_hex).collect();
    assert_eq!(expected.len(), 100);
    for_each_kernels(|kernels| {
        let mut seed: [u8; 32] = from_hex(fields(text, "Seed")[0]).try_into().unwrap();
        for expected in &expected {
            seed = thousand_times(kernels, seed);
            assert_eq!(seed, expected[..]);
        }
    });
}

fn thousand_times(kernels: Kernels, seed: [u8; 32]) -> [u8; 32] {
    let mut last = [seed; 3];
    for _ in 0..1000 {
        last = [last[1], last[2], kernels.digest(last.as_flattened())];
    }
    last[2]
}

/// A million times the letter a: FIPS 180-2, appendix B.3; also by `hash_rows`.
#[test]
fn a_million_letters() {
    let expected = from_hex("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    let message = vec![b'a'; 1_000_000];
    for_each_kernels(|kernels| {
        assert_eq!(kernels.digest(&message), expected[..]);
        let mut digests = [[0; 32]; 1];
        hash_rows(kernels, &message, message.len(), &mut digests);
        assert_eq!(digests[0], expected[..]);
    });
}
