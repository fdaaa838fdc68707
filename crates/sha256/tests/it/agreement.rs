//! Digests agree with those of the crate `sha2`.

use crate::for_each_kernels;
use proofmill_sha256::{Kernels, Sha256, digest, hash_pairs, hash_rows};
use proofmill_testing::{for_each_pool, rng};
use rand::{Rng, RngCore};
use sha2::Digest;

fn expected(message: &[u8]) -> [u8; 32] {
    sha2::Sha256::digest(message).into()
}

/// Random bytes, and runs of zeros and ones that force carries.
fn bytes(count: usize) -> Vec<Vec<u8>> {
    let mut random = vec![0; count];
    rng(count as u64).fill_bytes(&mut random);
    let runs = (0..count).map(|i| if i / 37 % 2 == 0 { 0xff } else { 0 }).collect();
    vec![random, vec![0; count], vec![0xff; count], runs]
}

#[test]
fn every_length_agrees() {
    for_each_kernels(|kernels| {
        for message in (0..=260).flat_map(bytes) {
            assert_eq!(kernels.digest(&message), expected(&message), "{} bytes", message.len());
        }
    });
}

/// Messages at every alignment.
#[test]
fn places_do_not_matter() {
    let all = &bytes(400)[0];
    for_each_kernels(|kernels| {
        for start in 0..64 {
            for length in [0, 32, 64, 128, 200] {
                let message = &all[start..][..length];
                assert_eq!(kernels.digest(message), expected(message));
                let mut digests = [[0; 32]; 1];
                hash_rows(kernels, message, length, &mut digests);
                assert_eq!(digests[0], expected(message));
            }
        }
    });
}

#[test]
fn parts_of_any_length_make_the_whole() {
    let message = &bytes(5000)[0];
    let mut rng = rng(7);
    for_each_kernels(|kernels| {
        for longest in [1, 3, 63, 64, 65, 127, 700] {
            let (mut hash, mut rest) = (Sha256::with(kernels), &message[..]);
            while !rest.is_empty() {
                let (part, others) = rest.split_at(rng.random_range(0..=longest.min(rest.len())));
                hash.update(part);
                rest = others;
                let so_far = message.len() - rest.len();
                if so_far.is_multiple_of(5) {
                    assert_eq!(hash.finish(), expected(&message[..so_far]));
                }
            }
            assert_eq!(hash.finish(), expected(message));
        }
    });
}

/// Every number of messages up to a few groups, and every length around block boundaries.
#[test]
fn many_agree_with_one() {
    for_each_kernels(|kernels| {
        for count in (0..=3 * 16 + 1).chain([1000]) {
            for rows in bytes(64 * count) {
                let expected: Vec<_> = rows.chunks(64).map(expected).collect();
                let mut digests = vec![[0; 32]; count];
                hash_pairs(kernels, rows.as_chunks().0, &mut digests);
                assert!(digests == expected, "{count} pairs, {kernels}");
            }
        }
        for length in [0, 1, 8, 31, 32, 55, 56, 63, 64, 65, 119, 120, 127, 128, 129, 200] {
            for count in [1, 3, 7, 8, 9, 16, 17, 40] {
                let rows = &bytes(length * count)[0];
                let expected: Vec<_> = (0..count).map(|i| expected(&rows[i * length..][..length])).collect();
                let mut digests = vec![[0; 32]; count];
                hash_rows(kernels, rows, length, &mut digests);
                assert!(digests == expected, "{count} rows of {length} bytes, {kernels}");
            }
        }
    });
}

/// Inputs large enough for several threads.
#[test]
fn threads_do_not_matter() {
    const COUNT: usize = 3 * (1 << 12) + 5;
    let pairs = &bytes(64 * COUNT)[0];
    let rows = &bytes(40 * COUNT)[0];
    let expected_of = |bytes: &[u8], length| bytes.chunks(length).map(expected).collect::<Vec<_>>();
    let (of_pairs, of_rows) = (expected_of(pairs, 64), expected_of(rows, 40));
    for_each_pool(&[1, 3], |_| {
        let mut digests = vec![[0; 32]; COUNT];
        hash_pairs(Kernels::best(), pairs.as_chunks().0, &mut digests);
        assert!(digests == of_pairs);
        hash_rows(Kernels::best(), rows, 40, &mut digests);
        assert!(digests == of_rows);
    });
}

#[test]
fn names_round_trip() {
    for kernels in Kernels::available() {
        assert_eq!(kernels.name().parse(), Ok(kernels));
    }
    let message = "md5".parse::<Kernels>().unwrap_err().to_string();
    assert!(
        message.starts_with("unknown SHA-256 kernel `md5`; available on this CPU: portable"),
        "{message}"
    );
    let absent = if cfg!(target_arch = "x86_64") { "arm-sha2" } else { "sha-ni" };
    let message = absent.parse::<Kernels>().unwrap_err().to_string();
    assert!(message.starts_with(&format!("this CPU lacks SHA-256 kernel `{absent}`")), "{message}");
}

#[test]
fn digest_is_the_best_kernels() {
    assert_eq!(digest(b"abc"), expected(b"abc"));
    assert_eq!(Sha256::default().chain(b"a").chain(b"bc").finish(), expected(b"abc"));
}
