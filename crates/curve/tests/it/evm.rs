//! The EVM's encodings: known answers of a precompiled contract, round trips, rejected encodings.

use crate::arkworks::{g1, g2};
use ark_ec::CurveGroup;
use ark_ff::{BigInteger, PrimeField as _, UniformRand};
use proofmill_curve::{
    Affine, Curve, EncodingError, Jacobian,
    bn254::{G1, G1Affine, G2, G2Affine},
};
use proofmill_field::{
    Algebra, FieldError, Prime, SquareRoot,
    bn254::{Fq2, FqParams},
};

fn bytes<const N: usize>(text: &str) -> [u8; N] {
    hex::decode(text).unwrap().try_into().unwrap()
}

fn point(text: &str) -> G1Affine {
    G1Affine::from_evm(&bytes(text)).unwrap()
}

/// `[a, b, a + b]`: `chfast1`, `cdetrio11` and `cdetrio14` of go-ethereum's
/// core/vm/testdata/precompiles/bn256Add.json.
const SUMS: [[&str; 3]; 3] = [
    [
        "18b18acfb4c2c30276db5411368e7185b311dd124691610c5d3b74034e093dc9063c909c4720840cb5134cb9f59fa749755796819658d32efc0d288198f37266",
        "07c2b7f58a84bd6145f00c9c2bc0bb1a187f20ff2c92963a88019e7c6a014eed06614e20c147e940f2d70da3f74c9a17df361706a4485c742bd6788478fa17d7",
        "2243525c5efd4b9c3d3c45ac0ca3fe4dd85e830a4ce6b65fa1eeaee202839703301d1d33be6da8e509df21cc35964723180eed7532537db9ae5e7d48f195c915",
    ],
    [
        "00000000000000000000000000000000000000000000000000000000000000010000000000000000000000000000000000000000000000000000000000000002",
        "00000000000000000000000000000000000000000000000000000000000000010000000000000000000000000000000000000000000000000000000000000002",
        "030644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd315ed738c0e0a7c92e7845f96b2ae9c0a68a6a449e3538fc7ff3ebf7a5a18a2c4",
    ],
    [
        "17c139df0efee0f766bc0204762b774362e4ded88953a39ce849a8a7fa163fa901e0559bacb160664764a357af8a9fe70baa9258e0b959273ffc5718c6d4cc7c",
        "17c139df0efee0f766bc0204762b774362e4ded88953a39ce849a8a7fa163fa92e83f8d734803fc370eba25ed1f6b8768bd6d83887b87165fc2434fe11a830cb",
        "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
    ],
];

#[test]
fn sums() {
    for [a, b, sum] in SUMS {
        assert_eq!(Jacobian::from(point(a)).add_affine(&point(b)).to_affine().to_evm(), bytes(sum));
    }
}

#[test]
fn round_trips_and_arkworks() {
    let mut rng = ark_std::test_rng();
    let be = |coordinates: &[ark_bn254::Fq]| -> Vec<u8> {
        coordinates.iter().flat_map(|coordinate| coordinate.into_bigint().to_bytes_be()).collect()
    };
    for _ in 0..10 {
        let p = ark_bn254::G1Projective::rand(&mut rng).into_affine();
        let point: G1Affine = g1(p);
        assert_eq!(point.to_evm()[..], be(&[p.x, p.y]));
        assert_eq!(G1Affine::from_evm(&point.to_evm()), Ok(point));
        let q = ark_bn254::G2Projective::rand(&mut rng).into_affine();
        let point: G2Affine = g2(q);
        assert_eq!(point.to_evm()[..], be(&[q.x.c1, q.x.c0, q.y.c1, q.y.c0]));
        assert_eq!(G2Affine::from_evm(&point.to_evm()), Ok(point));
    }
    assert_eq!(G1Affine::INFINITY.to_evm(), [0; 64]);
    assert_eq!(G1Affine::from_evm(&[0; 64]), Ok(Affine::INFINITY));
    assert_eq!(G2Affine::INFINITY.to_evm(), [0; 128]);
    assert_eq!(G2Affine::from_evm(&[0; 128]), Ok(Affine::INFINITY));
}

/// The encoding with the modulus added to the coordinate at `offset`, which has the same residue.
fn with_modulus_added<const N: usize>(mut bytes: [u8; N], offset: usize) -> [u8; N] {
    let modulus: Vec<u8> = FqParams::MODULUS.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    let mut carry = 0;
    for (byte, p) in bytes[offset..offset + 32].iter_mut().zip(modulus).rev() {
        carry += u16::from(*byte) + u16::from(p);
        *byte = carry as u8;
        carry >>= 8;
    }
    assert_eq!(carry, 0);
    bytes
}

#[test]
fn coordinates_not_below_the_modulus_are_refused() {
    let refusal = |group, offset| EncodingError::Coordinate {
        group,
        offset,
        source: FieldError::NotCanonical(FqParams::NAME),
    };
    for point in [G1Affine::INFINITY, G1::GENERATOR] {
        for offset in [0, 32] {
            let bytes = with_modulus_added(point.to_evm(), offset);
            assert_eq!(G1Affine::from_evm(&bytes), Err(refusal("BN254 G1", offset)));
        }
    }
    for point in [G2Affine::INFINITY, G2::GENERATOR] {
        for offset in [0, 32, 64, 96] {
            let bytes = with_modulus_added(point.to_evm(), offset);
            assert_eq!(G2Affine::from_evm(&bytes), Err(refusal("BN254 G2", offset)));
        }
    }
    assert_eq!(
        refusal("BN254 G2", 32).to_string(),
        "BN254 G2: coordinate at byte 32: value is not below the modulus of BN254 Fq"
    );
}

#[test]
fn changed_bytes_are_off_the_curve() {
    // Adds 1 to a coordinate, which stays below the modulus: no byte here is 255.
    let (p, q) = (<G1>::GENERATOR.to_evm(), <G2>::GENERATOR.to_evm());
    for at in (31..64).step_by(32) {
        let mut bytes = p;
        bytes[at] += 1;
        assert_eq!(G1Affine::from_evm(&bytes), Err(EncodingError::NotOnCurve("BN254 G1")));
    }
    for at in (31..128).step_by(32) {
        let mut bytes = q;
        bytes[at] += 1;
        assert_eq!(G2Affine::from_evm(&bytes), Err(EncodingError::NotOnCurve("BN254 G2")));
    }
}

#[test]
fn points_outside_the_subgroup_are_refused() {
    let mut refused = 0;
    for c1 in 0..20 {
        let x = Fq2::new(1u64.into(), c1.into());
        if let Some(y) = (x.square() * x + <G2>::B).sqrt_vartime() {
            let point = G2Affine { x, y };
            assert_eq!(G2Affine::from_evm(&point.to_evm()), Err(EncodingError::NotInSubgroup("BN254 G2")));
            refused += 1;
        }
    }
    assert!(refused > 4);
}
