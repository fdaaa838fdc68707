//! The pairings against arkworks, at every level.

#[path = "../../../curve/tests/it/arkworks/mod.rs"]
mod arkworks;

use ark_ec::{CurveGroup, pairing::Pairing as ArkPairing};
use ark_ff::{Fp2Config, Fp6Config, Fp12, Fp12Config, UniformRand};
use arkworks::{fq2, g1, g2};
use proofmill_curve::{Affine, Curve, bls12_381, bn254};
use proofmill_field::{Dodecic, Fp, Sextic, Tower};
use proofmill_pairing::{Gt, Pairing, multi_pairing, pairing, pairing_product_is_one};
use proofmill_testing::{for_each_level, for_each_pool};

fn fq12<P: Tower, C: Fp12Config<Fp6Config: Fp6Config<Fp2Config: Fp2Config>>>(
    value: &Fp12<C>,
) -> Dodecic<P, Fp<P>> {
    let sextic = |[a, b, c]: [_; 3]| Sextic::new([fq2(a), fq2(b), fq2(c)]);
    Dodecic {
        c0: sextic([value.c0.c0, value.c0.c1, value.c0.c2]),
        c1: sextic([value.c1.c0, value.c1.c1, value.c1.c2]),
    }
}

/// Pairs of random points, and arkworks' product of their pairings.
struct Input<C: Pairing> {
    pairs: Vec<(Affine<C>, Affine<C::G2>)>,
    product: Gt<C>,
}

/// Conversions from arkworks' points and values.
struct Conversion<C: Pairing, A: ArkPairing> {
    g1: fn(A::G1Affine) -> Affine<C>,
    g2: fn(A::G2Affine) -> Affine<C::G2>,
    gt: fn(&A::TargetField) -> Gt<C>,
}

const BN254: Conversion<bn254::G1, ark_bn254::Bn254> = Conversion { g1, g2, gt: fq12 };
const BLS12_381: Conversion<bls12_381::G1, ark_bls12_381::Bls12_381> = Conversion { g1, g2, gt: fq12 };

fn random<C: Pairing, A: ArkPairing>(conversion: &Conversion<C, A>, count: usize) -> Input<C> {
    let mut rng = ark_std::test_rng();
    let mut next = || (A::G1::rand(&mut rng).into_affine(), A::G2::rand(&mut rng).into_affine());
    let theirs: Vec<_> = (0..count).map(|_| next()).collect();
    let product = A::multi_pairing(theirs.iter().map(|pair| pair.0), theirs.iter().map(|pair| pair.1)).0;
    let pairs = theirs.iter().map(|(p, q)| ((conversion.g1)(*p), (conversion.g2)(*q))).collect();
    Input { pairs, product: (conversion.gt)(&product) }
}

fn values_agree<C: Pairing, A: ArkPairing>(conversion: &Conversion<C, A>) {
    for count in [1, 2, 3, 7, 8, 9, 64, 79, 259] {
        let Input { mut pairs, product } = random(conversion, count);
        for_each_level(|level| assert!(multi_pairing(level, &pairs) == product, "{count} pairs, {level}"));
        if let [(p, q)] = &pairs[..] {
            for_each_level(|level| assert!(pairing(level, p, q) == product, "{level}"));
        }
        // Infinity on either side contributes the factor 1.
        pairs.insert(0, (Affine::INFINITY, C::G2::GENERATOR));
        pairs.insert(count / 2, (C::GENERATOR, Affine::INFINITY));
        pairs.push((Affine::INFINITY, Affine::INFINITY));
        for_each_level(|level| assert!(multi_pairing(level, &pairs) == product, "{count} pairs, {level}"));
    }
}

#[test]
fn bn254_agrees_with_arkworks() {
    values_agree(&BN254);
}

#[test]
fn bls12_381_agrees_with_arkworks() {
    values_agree(&BLS12_381);
}

#[test]
fn threads() {
    let Input { pairs, product } = random(&BLS12_381, 128);
    let few = random(&BLS12_381, 9);
    for_each_pool(&[1, 2, 5], |threads| {
        for_each_level(|level| {
            assert!(multi_pairing(level, &pairs) == product, "{level}, {threads} threads");
            assert!(multi_pairing(level, &few.pairs) == few.product, "{level}, {threads} threads");
        });
    });
}

fn bilinear_and_infinity<C: Pairing>()
where
    C::Scalar: From<u64>,
{
    for_each_level(|level| {
        let (p, q) = (C::GENERATOR, C::G2::GENERATOR);
        let (a, b) = (C::Scalar::from(0x1234_5678), -C::Scalar::from(3));
        let (ap, bq) = (p.mul_vartime(&a).to_affine(), q.mul_vartime(&b).to_affine());
        let abp = p.mul_vartime(&(a * b)).to_affine();
        assert!(pairing_product_is_one(level, &[(ap, bq), (-abp, q)]));
        assert!(!pairing_product_is_one(level, &[(ap, bq), (abp, q)]));
        assert!(pairing_product_is_one::<C>(level, &[]));
        assert!(pairing_product_is_one::<C>(level, &[(Affine::INFINITY, q), (p, Affine::INFINITY)]));
        assert!(pairing_product_is_one(level, &[(ap, bq), (-abp, q), (p, q), (-p, q)]));
        assert!(!pairing_product_is_one(level, &[(ap, bq), (-abp, q), (p, q), (p, q)]));
    });
}

#[test]
fn bilinear() {
    bilinear_and_infinity::<bn254::G1>();
    bilinear_and_infinity::<bls12_381::G1>();
}
