//! The pairing and G2's subgroup check against arkworks, at every level.

mod arkworks;

use ark_ec::{AffineRepr, CurveGroup, pairing::Pairing};
use ark_ff::{Field as _, UniformRand};
use arkworks::{fq2, g1, g2};
use proofmill_curve::{
    Affine, Curve,
    bn254::{G1, G2, G2Affine},
    multi_pairing, pairing, pairing_product_is_one,
};
use proofmill_field::bn254::{Fq2, Fq12, Fr};
use proofmill_testing::for_each_level;

fn coefficients(value: &Fq12) -> Vec<Fq2> {
    value.c0.c.iter().chain(&value.c1.c).copied().collect()
}

fn ark_coefficients(value: &ark_bn254::Fq12) -> Vec<Fq2> {
    [value.c0.c0, value.c0.c1, value.c0.c2, value.c1.c0, value.c1.c1, value.c1.c2].map(fq2).to_vec()
}

#[test]
fn values_agree() {
    let mut rng = ark_std::test_rng();
    for_each_level(|level| {
        for _ in 0..3 {
            let p: Vec<_> = (0..3).map(|_| ark_bn254::G1Projective::rand(&mut rng).into_affine()).collect();
            let q: Vec<_> = (0..3).map(|_| ark_bn254::G2Projective::rand(&mut rng).into_affine()).collect();
            let one = ark_bn254::Bn254::pairing(p[0], q[0]).0;
            assert_eq!(
                coefficients(&pairing(level, &g1(p[0]), &g2(q[0]))),
                ark_coefficients(&one),
                "{level}"
            );
            let all = ark_bn254::Bn254::multi_pairing(&p, &q).0;
            let pairs: Vec<_> = p.iter().zip(&q).map(|(p, q)| (g1(*p), g2(*q))).collect();
            assert_eq!(coefficients(&multi_pairing(level, &pairs)), ark_coefficients(&all), "{level}");
        }
    });
}

#[test]
fn bilinear_and_infinity() {
    for_each_level(|level| {
        let (p, q) = (G1::GENERATOR, G2::GENERATOR);
        let (a, b) = (Fr::from(0x1234_5678u64), -Fr::from(3u64));
        let (ap, bq) = (p.mul_vartime(&a).to_affine(), q.mul_vartime(&b).to_affine());
        let abp = p.mul_vartime(&(a * b)).to_affine();
        assert!(pairing_product_is_one(level, &[(ap, bq), (-abp, q)]));
        assert!(!pairing_product_is_one(level, &[(ap, bq), (abp, q)]));
        assert!(pairing_product_is_one(level, &[]));
        assert!(pairing_product_is_one(level, &[(Affine::INFINITY, q), (p, Affine::INFINITY)]));
    });
}

#[test]
fn subgroup() {
    let mut rng = ark_std::test_rng();
    assert!(G2Affine::INFINITY.is_in_subgroup());
    let (mut inside, mut outside) = (0, 0);
    while outside < 8 {
        let point = g2(ark_bn254::G2Projective::rand(&mut rng).into_affine());
        assert!(point.is_in_subgroup());
        inside += 1;
        // A point of the twist with a random abscissa is outside, but for one in about 2^254.
        let x = ark_bn254::Fq2::rand(&mut rng);
        let b = ark_bn254::Fq2::new(ark_bn254::Fq::from(9), ark_bn254::Fq::from(1)).inverse().unwrap()
            * ark_bn254::Fq2::from(3);
        if let Some(y) = (x * x * x + b).sqrt() {
            let point = G2Affine { x: fq2(x), y: fq2(y) };
            assert!(point.is_on_curve());
            let by_definition = point.mul_words_vartime(&modulus()).is_infinity();
            assert_eq!(point.is_in_subgroup(), by_definition);
            outside += usize::from(!by_definition);
            // Times r, it is in the cofactor's part: the hardest to tell.
            let cofactor_part = point.mul_words_vartime(&modulus()).to_affine();
            assert!(!cofactor_part.is_in_subgroup());
        }
    }
    assert!(inside > 0);
}

fn modulus() -> [u64; 4] {
    <ark_bn254::Fr as ark_ff::PrimeField>::MODULUS.0
}

#[test]
fn generators_are_arkworks() {
    assert_eq!(G2::GENERATOR, g2(ark_bn254::G2Affine::generator()));
}
