//! Hashing to BLS12-381's groups agrees with RFC 9380's known answers, and with arkworks and blst on random messages.

use crate::blst::Blst;
use ark_bls12_381::g2::Config as ArkG2;
use ark_ec::{
    AffineRepr,
    hashing::{HashToCurve, curve_maps::wb::WBMap, map_to_curve_hasher::MapToCurveBasedHasher},
    short_weierstrass::Projective,
};
use ark_ff::{PrimeField, field_hashers::DefaultFieldHasher};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve,
    bls12_381::{Encoded, G1, G2},
    hash_to_curve::{encode_to_g1, encode_to_g2, hash_to_g1, hash_to_g2},
};
use proofmill_field::bls12_381::{Fq, Fq2};
use proofmill_testing::{for_each_level, rng};
use rand::{Rng, RngCore};
use serde_json::Value;

type Hash<C> = fn(Level, &[&[u8]], &[u8]) -> Vec<Affine<C>>;

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

fn fq(hexadecimal: &str) -> Fq {
    let digits = hexadecimal.strip_prefix("0x").expect("0x");
    Fq::from_bytes_be(&hex::decode(digits).expect("digits")).expect("below p")
}

fn fq2(pair: &str) -> Fq2 {
    let (c0, c1) = pair.split_once(',').expect("two coefficients");
    Fq2::new(fq(c0), fq(c1))
}

/// Appendices J.9 and J.10.
fn check<C: Curve>(suite: &str, hash: Hash<C>, element: fn(&str) -> C::Base) {
    let suite: Value = serde_json::from_str(suite).expect("JSON");
    let cases = suite["vectors"].as_array().expect("cases");
    assert_eq!(cases.len(), 5);
    let messages: Vec<&[u8]> = cases.iter().map(|case| text(&case["msg"]).as_bytes()).collect();
    let points: Vec<Affine<C>> = cases
        .iter()
        .map(|case| Affine { x: element(text(&case["P"]["x"])), y: element(text(&case["P"]["y"])) })
        .collect();
    let dst = text(&suite["dst"]).as_bytes();
    for_each_level(|level| {
        assert_eq!(hash(level, &messages, dst), points, "{level}");
        for (message, point) in messages.iter().zip(&points) {
            assert_eq!(hash(level, &[message], dst), [*point], "{level}");
        }
        assert_eq!(hash(level, &[], dst), [], "{level}");
    });
}

#[test]
fn points_are_the_rfcs() {
    check::<G1>(include_str!("../data/bls12_381_hash/BLS12381G1_XMD_SHA-256_SSWU_RO_.json"), hash_to_g1, fq);
    check::<G1>(
        include_str!("../data/bls12_381_hash/BLS12381G1_XMD_SHA-256_SSWU_NU_.json"),
        encode_to_g1,
        fq,
    );
    check::<G2>(include_str!("../data/bls12_381_hash/BLS12381G2_XMD_SHA-256_SSWU_RO_.json"), hash_to_g2, fq2);
    check::<G2>(
        include_str!("../data/bls12_381_hash/BLS12381G2_XMD_SHA-256_SSWU_NU_.json"),
        encode_to_g2,
        fq2,
    );
}

/// Messages of lengths around the hash's blocks, more than the lanes, and short and long tags.
fn messages() -> Vec<Vec<u8>> {
    let mut rng = rng(3);
    let lengths = (0..21).map(|i| if i < 12 { 13 * i } else { rng.random_range(0..300) });
    let lengths: Vec<usize> = lengths.collect();
    let message = |length: usize| {
        let mut message = vec![0; length];
        rng.fill_bytes(&mut message);
        message
    };
    lengths.into_iter().map(message).collect()
}

fn check_blst<C: Encoded + Blst>(hash: Hash<C>, encode: Hash<C>) {
    let messages = messages();
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    for dst in [&b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_"[..], b"x", &[7; 255]] {
        for_each_level(|level| {
            for count in [1, 2, 3, 5, 8, 9, messages.len()] {
                let messages = &messages[..count];
                let (hashed, encoded) = (hash(level, messages, dst), encode(level, messages, dst));
                for (message, (hashed, encoded)) in messages.iter().zip(hashed.iter().zip(&encoded)) {
                    assert_eq!(
                        hashed.to_uncompressed().as_ref(),
                        C::hash(message, dst).uncompressed,
                        "{level}"
                    );
                    assert_eq!(
                        encoded.to_uncompressed().as_ref(),
                        C::encode(message, dst).uncompressed,
                        "{level}"
                    );
                }
            }
        });
    }
}

#[test]
fn blst_agrees_on_g1() {
    check_blst::<G1>(hash_to_g1, encode_to_g1);
}

#[test]
fn blst_agrees_on_g2() {
    check_blst::<G2>(hash_to_g2, encode_to_g2);
}

#[test]
fn arkworks_agrees_on_g2() {
    type Hasher =
        MapToCurveBasedHasher<Projective<ArkG2>, DefaultFieldHasher<sha2::Sha256, 128>, WBMap<ArkG2>>;
    let dst = b"a tag";
    let hasher = Hasher::new(dst).expect("a hasher");
    let messages = messages();
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let theirs = messages.iter().map(|message| {
        let point = hasher.hash(message).expect("a point");
        let (x, y) = point.xy().expect("not infinity");
        let fq = |x: ark_bls12_381::Fq| Fq::from_canonical(x.into_bigint().0).expect("canonical");
        Affine::<G2> { x: Fq2::new(fq(x.c0), fq(x.c1)), y: Fq2::new(fq(y.c0), fq(y.c1)) }
    });
    let theirs: Vec<_> = theirs.collect();
    for_each_level(|level| assert_eq!(hash_to_g2(level, &messages, dst), theirs, "{level}"));
}
