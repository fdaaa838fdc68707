//! The groups' generators, and the subgroup check of BN254's G2, against arkworks.

use crate::arkworks::{fq2, g1, g2};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{Field as _, PrimeField as _, UniformRand};
use num_bigint::BigUint;
use proofmill_curve::{
    Curve, Jacobian, bls12_381,
    bn254::{self, G2Affine},
};
use proofmill_testing::for_each_level;

#[test]
fn bn254_subgroup() {
    let mut rng = ark_std::test_rng();
    assert!(G2Affine::INFINITY.is_in_subgroup());
    let (mut inside, mut outside) = (0, 0);
    while outside < 8 {
        let point: G2Affine = g2(ark_bn254::G2Projective::rand(&mut rng).into_affine());
        assert!(point.is_in_subgroup());
        inside += 1;
        // A point of the twist with a random abscissa is outside, except for one in about 2^254.
        let x = ark_bn254::Fq2::rand(&mut rng);
        let b = ark_bn254::Fq2::new(ark_bn254::Fq::from(9), ark_bn254::Fq::from(1)).inverse().unwrap()
            * ark_bn254::Fq2::from(3);
        if let Some(y) = (x * x * x + b).sqrt() {
            let point = G2Affine { x: fq2(x), y: fq2(y) };
            assert!(point.is_on_curve());
            let by_definition = point.mul_words_vartime(&modulus()).is_infinity();
            assert_eq!(point.is_in_subgroup(), by_definition);
            outside += usize::from(!by_definition);
            // Times r, the point has only the cofactor's part: the hardest case to distinguish.
            let cofactor_part = point.mul_words_vartime(&modulus()).to_affine();
            assert!(!cofactor_part.is_in_subgroup());
        }
    }
    assert!(inside > 0);
}

#[test]
fn one_point_outside_is_found_among_many() {
    let mut rng = ark_std::test_rng();
    let mut points: Vec<G2Affine> =
        (0..300).map(|_| g2(ark_bn254::G2Projective::rand(&mut rng).into_affine())).collect();
    points[7] = G2Affine::INFINITY;
    points[8] = points[9];
    points[10] = -points[9];
    // Points of the orders 10069 and 5864401, the smallest factors of the cofactor 2 q - r.
    let order = |prime: u32| {
        let r: BigUint = ark_bn254::Fr::MODULUS.into();
        let q: BigUint = ark_bn254::Fq::MODULUS.into();
        let words = |factor: &BigUint| factor.to_u64_digits();
        let b = ark_bn254::Fq2::new(ark_bn254::Fq::from(9), ark_bn254::Fq::from(1)).inverse().unwrap()
            * ark_bn254::Fq2::from(3);
        let mut abscissas = (1u64..).map(ark_bn254::Fq2::from);
        let point = abscissas.find_map(|x| Some(G2Affine { x: fq2(x), y: fq2((x * x * x + b).sqrt()?) }));
        let part = point.unwrap().mul_words_vartime(&words(&r)).to_affine();
        let factor = (q * 2u32 - r) / prime;
        let point = part.mul_words_vartime(&words(&factor)).to_affine();
        assert!(!point.is_infinity() && point.mul_words_vartime(&[prime.into()]).is_infinity());
        point
    };
    let small = [order(10069), order(5_864_401)];
    for_each_level(|level| {
        for count in [0, 1, 63, 64, 300] {
            assert_eq!(bn254::first_outside(level, &points[..count]), None);
        }
        for (count, at) in [(1, 0), (63, 62), (64, 0), (300, 7), (300, 299)] {
            for wrong in small {
                let mut points = points[..count].to_vec();
                points[at] = Jacobian::from(points[at]).add_affine(&wrong).to_affine();
                assert_eq!(bn254::first_outside(level, &points), Some(at), "{at} of {count} at {level}");
                // And another, with which it vanishes from the sum of all.
                if let Some(last) = points[at + 1..].last_mut() {
                    *last = Jacobian::from(*last).add_affine(&-wrong).to_affine();
                    assert_eq!(bn254::first_outside(level, &points), Some(at), "{at} of {count} at {level}");
                }
            }
        }
        // All of them, by multiples of a point of small order that cancel in many sums.
        for exponent in 0..64u32 {
            let moved = points[..64].iter().zip(1u64..).map(|(point, j)| {
                let multiple = (0..exponent).fold(1, |power, _| power * j % 10069);
                small[0].mul_words_vartime(&[multiple]).add_affine(point).to_affine()
            });
            let moved: Vec<_> = moved.collect();
            assert_eq!(bn254::first_outside(level, &moved), Some(0), "power {exponent} at {level}");
        }
    });
}

fn modulus() -> [u64; 4] {
    <ark_bn254::Fr as ark_ff::PrimeField>::MODULUS.0
}

#[test]
fn generators_are_arkworks() {
    assert_eq!(bn254::G2::GENERATOR, g2(ark_bn254::G2Affine::generator()));
    assert_eq!(bls12_381::G1::GENERATOR, g1(ark_bls12_381::G1Affine::generator()));
    assert_eq!(bls12_381::G2::GENERATOR, g2(ark_bls12_381::G2Affine::generator()));
}
