//! The groups' generators, and the subgroup check of BN254's G2, against arkworks.

mod arkworks;

use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{Field as _, UniformRand};
use arkworks::{fq2, g1, g2};
use proofmill_curve::{
    Curve, bls12_381,
    bn254::{self, G2Affine},
};

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

fn modulus() -> [u64; 4] {
    <ark_bn254::Fr as ark_ff::PrimeField>::MODULUS.0
}

#[test]
fn generators_are_arkworks() {
    assert_eq!(bn254::G2::GENERATOR, g2(ark_bn254::G2Affine::generator()));
    assert_eq!(bls12_381::G1::GENERATOR, g1(ark_bls12_381::G1Affine::generator()));
    assert_eq!(bls12_381::G2::GENERATOR, g2(ark_bls12_381::G2Affine::generator()));
}
