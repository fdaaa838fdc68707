//! Encodings of BLS12-381's points follow every rule of ZCash's, and blst accepts and rejects the same bytes.

use crate::blst::Blst;
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve, EncodingError, Jacobian,
    bls12_381::{Encoded, G1, G2, Subgroup, decode_compressed, decode_uncompressed, in_subgroup},
};
use proofmill_field::{Algebra, Field, Prime, SquareRoot, bls12_381::FqParams};
use proofmill_testing::{for_each_level, rng};
use rand::{Rng, RngCore};
use serde_json::Value;

/// Checks the decoded points against blst's answers, as uncompressed encodings.
fn check<C: Blst>(level: Level, compressed: &[C::Compressed], uncompressed: &[C::Uncompressed]) {
    for subgroup in [Subgroup::Unchecked, Subgroup::Checked] {
        let decoded = decode_compressed::<C>(level, compressed, subgroup);
        for (bytes, point) in compressed.iter().zip(decoded) {
            compare(bytes.as_ref(), point, true, subgroup);
        }
        let decoded = decode_uncompressed::<C>(level, uncompressed, subgroup);
        for (bytes, point) in uncompressed.iter().zip(decoded) {
            // blst reads half of a compressed point's length here.
            if bytes.as_ref()[0] & 0x80 == 0 {
                compare(bytes.as_ref(), point, false, subgroup);
            } else {
                assert!(matches!(point, Err(EncodingError::WrongForm { .. })));
            }
        }
    }
}

fn compare<C: Blst>(
    bytes: &[u8],
    point: Result<Affine<C>, EncodingError>,
    compressed: bool,
    subgroup: Subgroup,
) {
    let theirs = C::decode(bytes, compressed);
    match (&theirs, point) {
        (None, Err(error)) => assert!(!matches!(error, EncodingError::NotInSubgroup(_)), "{bytes:02x?}"),
        (Some(theirs), Err(EncodingError::NotInSubgroup(_))) => {
            assert!(subgroup == Subgroup::Checked && !theirs.in_subgroup, "{bytes:02x?}");
        }
        (Some(theirs), Ok(point)) => {
            assert_eq!(theirs.compressed, point.to_compressed().as_ref());
            assert_eq!(theirs.uncompressed, point.to_uncompressed().as_ref());
            assert!(subgroup == Subgroup::Unchecked || theirs.in_subgroup, "{bytes:02x?}");
        }
        (theirs, ours) => panic!("{bytes:02x?}: blst says {theirs:?}, ours {ours:?}"),
    }
}

/// Points of the curve, some in the subgroup.
fn points<C: Encoded<Base: SquareRoot>>(x: impl Fn(u64) -> C::Base) -> Vec<Affine<C>> {
    let mut points = vec![Affine::INFINITY, C::GENERATOR, -C::GENERATOR];
    points.extend((0..40).filter_map(|i| {
        let x = x(i);
        Some(Affine { x, y: (x.square() * x + C::B).sqrt_vartime()? })
    }));
    let mut multiple = Jacobian::from(C::GENERATOR);
    for _ in 0..10 {
        multiple = multiple.double().add_affine(&C::GENERATOR);
        points.push(multiple.to_affine());
    }
    points
}

/// p, p + 1, p - 1 and zero in big-endian bytes, with flags.
fn edges() -> Vec<[u8; 48]> {
    let mut edges = Vec::new();
    for (base, offset) in
        [(FqParams::MODULUS, 0), (FqParams::MODULUS, 1), (FqParams::MODULUS, u64::MAX), ([0; 6], 0)]
    {
        let mut words = base;
        words[0] = words[0].wrapping_add(offset);
        for flags in 0..8 {
            let bytes: Vec<u8> = words.iter().rev().flat_map(|word| word.to_be_bytes()).collect();
            let mut bytes: [u8; 48] = bytes.try_into().expect("48 bytes");
            bytes[0] |= flags << 5;
            edges.push(bytes);
        }
    }
    edges
}

fn mutations<C: Encoded<Base: SquareRoot>>(
    points: &[Affine<C>],
) -> (Vec<C::Compressed>, Vec<C::Uncompressed>) {
    let mut rng = rng(5);
    let (mut compressed, mut uncompressed) = (Vec::new(), Vec::new());
    for point in points {
        let (short, long) = (point.to_compressed(), point.to_uncompressed());
        compressed.push(short);
        uncompressed.push(long);
        for _ in 0..8 {
            let (mut short, mut long) = (short, long);
            let at = rng.random_range(0..short.as_ref().len());
            short.as_mut()[at] ^= 1 << rng.random_range(0..8);
            let at = rng.random_range(0..long.as_ref().len());
            long.as_mut()[at] ^= 1 << rng.random_range(0..8);
            compressed.push(short);
            uncompressed.push(long);
        }
        for flags in 0..8 {
            let (mut short, mut long) = (short, long);
            for first in [&mut short.as_mut()[0], &mut long.as_mut()[0]] {
                *first = *first & 0x1f | flags << 5;
            }
            compressed.push(short);
            uncompressed.push(long);
        }
    }
    for edge in edges() {
        let (mut short, mut long) = (C::COMPRESSED_ZERO, C::UNCOMPRESSED_ZERO);
        for at in (0..long.as_ref().len()).step_by(48) {
            let mut long = C::GENERATOR.to_uncompressed();
            long.as_mut()[at..at + 48].copy_from_slice(&edge);
            uncompressed.push(long);
            if at < short.as_ref().len() {
                short.as_mut()[at..at + 48].copy_from_slice(&edge);
                compressed.push(short);
            }
        }
        long.as_mut()[..48].copy_from_slice(&edge);
        uncompressed.push(long);
    }
    for _ in 0..200 {
        let mut short = C::COMPRESSED_ZERO;
        rng.fill_bytes(short.as_mut());
        short.as_mut()[0] = short.as_ref()[0] & 0x9f | 0x80;
        compressed.push(short);
    }
    (compressed, uncompressed)
}

fn check_group<C: Blst<Base: SquareRoot>>(x: impl Fn(u64) -> C::Base) {
    let points = points::<C>(x);
    let (compressed, uncompressed) = mutations(&points);
    for_each_level(|level| {
        check::<C>(level, &compressed, &uncompressed);
        // Less points than lanes, and single points.
        for count in 0..10 {
            check::<C>(level, &compressed[..count], &uncompressed[..count]);
        }
        for bytes in compressed.iter().step_by(5) {
            let point = Affine::from_compressed(level, bytes, Subgroup::Checked);
            compare::<C>(bytes.as_ref(), point, true, Subgroup::Checked);
        }
        for bytes in uncompressed.iter().filter(|bytes| bytes.as_ref()[0] & 0x80 == 0).step_by(5) {
            let point = Affine::from_uncompressed(level, bytes, Subgroup::Checked);
            compare::<C>(bytes.as_ref(), point, false, Subgroup::Checked);
        }
        let theirs = points.iter().map(|point| {
            C::decode(point.to_compressed().as_ref(), true).is_some_and(|point| point.in_subgroup)
        });
        let theirs: Vec<bool> = theirs.collect();
        assert_eq!(in_subgroup(level, &points), theirs);
        assert!(theirs.iter().any(|inside| *inside) && theirs.iter().any(|inside| !*inside));
    });
}

#[test]
fn blst_agrees_on_g1() {
    check_group::<G1>(|i| i.into());
}

#[test]
fn blst_agrees_on_g2() {
    // Includes real and imaginary abscissas.
    check_group::<G2>(|i| match i % 3 {
        0 => proofmill_field::Quadratic::new(i.into(), Field::ZERO),
        1 => proofmill_field::Quadratic::new(Field::ZERO, i.into()),
        _ => proofmill_field::Quadratic::new(i.into(), (7 * i).into()),
    });
}

fn check_vectors<C: Encoded>(cases: &Value, count: usize) {
    let cases = cases.as_array().expect("cases");
    assert_eq!(cases.len(), count);
    for case in cases {
        let bytes = hex::decode(case["bytes"].as_str().expect("digits")).expect("digits");
        let mut encoding = C::COMPRESSED_ZERO;
        let fits = bytes.len() == encoding.as_ref().len();
        let valid = case["valid"].as_bool().expect("a boolean");
        if !fits {
            assert!(!valid);
            continue;
        }
        encoding.as_mut().copy_from_slice(&bytes);
        for_each_level(|level| {
            let point = Affine::<C>::from_compressed(level, &encoding, Subgroup::Checked);
            assert_eq!(point.is_ok(), valid, "{}: {point:?}", case["name"]);
        });
    }
}

/// ethereum/bls12-381-tests v0.1.2.
#[test]
fn ethereum_agrees() {
    let suites: Value =
        serde_json::from_str(include_str!("../data/bls12_381_deserialization.json")).expect("JSON");
    check_vectors::<G1>(&suites["G1"], 16);
    check_vectors::<G2>(&suites["G2"], 18);
}

#[test]
fn refusals_have_names() {
    let refusal = |bytes: [u8; 48]| Affine::<G1>::from_compressed(Level::best(), &bytes, Subgroup::Checked);
    let edge = |first: u8| {
        let mut bytes = [0; 48];
        bytes[0] = first;
        refusal(bytes).expect_err("refused").to_string()
    };
    assert_eq!(edge(0), "BLS12-381 G1: expected a compressed point, found the first bit of the other form");
    assert_eq!(edge(0xe0), "BLS12-381 G1: expected zeros beside the bit of infinity");
    assert_eq!(
        edge(0x9f),
        "BLS12-381 G1: coordinate at byte 0: value is not below the modulus of BLS12-381 Fq"
    );
    let mut bytes = <G1 as Curve>::GENERATOR.to_uncompressed();
    bytes[0] |= 0x20;
    let refused = Affine::<G1>::from_uncompressed(Level::best(), &bytes, Subgroup::Checked);
    assert_eq!(
        refused.expect_err("refused").to_string(),
        "BLS12-381 G1: expected no bit for the sign of an uncompressed point"
    );
}
