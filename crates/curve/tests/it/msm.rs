//! Multi-scalar multiplication against arkworks' sums, at every level and thread count.

use crate::arkworks::{g1, g2, scalar as ark_scalar};
use ark_ec::CurveGroup;
use ark_ff::PrimeField;
use proofmill_curve::{
    Affine, Curve, Jacobian, Msm, bls12_381,
    bn254::{G1, G2},
    grumpkin::Grumpkin,
    msm,
};
use proofmill_field::{Algebra, Field, Fp, Prime};
use proofmill_testing::{for_each_level, for_each_pool, rng};

/// Points given by their logarithms, so that the expected sum is one multiplication in arkworks.
struct Input<C: Curve, A: CurveGroup> {
    bases: Vec<Affine<C>>,
    logarithms: Vec<A::ScalarField>,
    convert: fn(A::Affine) -> Affine<C>,
}

impl<P: Prime, C: Msm<Scalar = Fp<P>>, A: CurveGroup<ScalarField: PrimeField>> Input<C, A> {
    fn new(logarithms: Vec<Fp<P>>, convert: fn(A::Affine) -> Affine<C>) -> Self {
        let logarithms: Vec<_> = logarithms.iter().map(ark_scalar).collect();
        let table = ark_ec::scalar_mul::BatchMulPreprocessing::new(A::generator(), logarithms.len());
        let bases = table.batch_mul(&logarithms).into_iter().map(convert).collect();
        Self { bases, logarithms, convert }
    }

    fn check(&self, scalars: &[Fp<P>], what: &str) {
        let product = |(scalar, logarithm)| ark_scalar::<A::ScalarField>(scalar) * logarithm;
        let sum: A::ScalarField = scalars.iter().zip(&self.logarithms).map(product).sum();
        let expected = (self.convert)((A::generator() * sum).into_affine());
        for_each_level(|level| {
            let got: Jacobian<C> = msm(level, &self.bases[..scalars.len()], scalars);
            assert_eq!(got.to_affine(), expected, "{what}, {} points, {level}", scalars.len());
        });
    }
}

fn random<P: Prime>(len: usize, seed: u64) -> Vec<Fp<P>> {
    let mut rng = rng(seed);
    (0..len).map(|_| Fp::random(&mut rng)).collect()
}

/// Scalars of every shape that occurs in provers, and worse ones.
fn shapes<P: Prime>(len: usize) -> Vec<(&'static str, Vec<Fp<P>>)> {
    let uniform = random(len, 1);
    let minus_one = -Fp::ONE;
    let by_index = |f: &dyn Fn(usize) -> Fp<P>| (0..len).map(f).collect::<Vec<_>>();
    vec![
        ("uniform", uniform.clone()),
        ("zero", vec![Fp::ZERO; len]),
        ("one", vec![Fp::ONE; len]),
        ("minus one", vec![minus_one; len]),
        ("equal", vec![uniform[0]; len]),
        ("bits", by_index(&|i| Fp::from(i as u64 & 1))),
        ("short", by_index(&|i| Fp::from(i as u64 % 1000))),
        ("powers of two", by_index(&|i| Fp::from(2u64).pow_vartime(&[i as u64 % 254]))),
        ("all ones below", by_index(&|i| Fp::from(2u64).pow_vartime(&[i as u64 % 254]) - Fp::ONE)),
        ("opposites", by_index(&|i| if i % 2 == 0 { uniform[i] } else { -uniform[i - 1] })),
    ]
}

/// Bases of every shape: random, all equal, opposite neighbours, with infinity among them.
fn logarithms<P: Prime>(len: usize) -> Vec<(&'static str, Vec<Fp<P>>)> {
    let uniform = random(len, 2);
    let by_index = |f: &dyn Fn(usize) -> Fp<P>| (0..len).map(f).collect::<Vec<_>>();
    vec![
        ("random bases", uniform.clone()),
        ("equal bases", vec![uniform[0]; len]),
        ("opposite bases", by_index(&|i| if i % 2 == 0 { uniform[0] } else { -uniform[0] })),
        ("successive bases", by_index(&|i| Fp::from(i as u64))),
        ("infinite bases", by_index(&|i| if i % 3 == 0 { Fp::ZERO } else { uniform[i] })),
    ]
}

#[test]
fn every_shape() {
    for len in [1, 2, 3, 5, 17, 64, 257, 1000] {
        for (bases, logarithms) in logarithms(len) {
            let g1_input = Input::<G1, ark_bn254::G1Projective>::new(logarithms.clone(), g1);
            let g2_input = Input::<G2, ark_bn254::G2Projective>::new(logarithms, g2);
            for (name, scalars) in shapes(len) {
                g1_input.check(&scalars, &format!("G1, {name}, {bases}"));
                g2_input.check(&scalars, &format!("G2, {name}, {bases}"));
            }
        }
    }
}

#[test]
fn threads() {
    let input = Input::<G1, ark_bn254::G1Projective>::new(random(5000, 3), g1);
    for_each_pool(&[1, 2, 5, 64], |_| {
        for (name, scalars) in shapes(5000) {
            input.check(&scalars, name);
        }
    });
}

#[test]
fn large() {
    let input = Input::<G1, ark_bn254::G1Projective>::new(random(1 << 16, 4), g1);
    for (name, scalars) in shapes(1 << 16) {
        input.check(&scalars, name);
    }
}

#[test]
fn grumpkin() {
    for (bases, logarithms) in logarithms(300) {
        let input = Input::<Grumpkin, ark_grumpkin::Projective>::new(logarithms, g1);
        for (name, scalars) in shapes(300) {
            input.check(&scalars, &format!("Grumpkin, {name}, {bases}"));
        }
    }
}

#[test]
fn bls12_381() {
    for len in [1, 5, 300] {
        for (bases, logarithms) in logarithms(len) {
            let g1_input = Input::<bls12_381::G1, ark_bls12_381::G1Projective>::new(logarithms.clone(), g1);
            let g2_input = Input::<bls12_381::G2, ark_bls12_381::G2Projective>::new(logarithms, g2);
            for (name, scalars) in shapes(len) {
                g1_input.check(&scalars, &format!("G1, {name}, {bases}"));
                g2_input.check(&scalars, &format!("G2, {name}, {bases}"));
            }
        }
    }
    let input = Input::<bls12_381::G1, ark_bls12_381::G1Projective>::new(random(5000, 3), g1);
    for_each_pool(&[1, 5], |_| {
        for (name, scalars) in shapes(5000) {
            input.check(&scalars, name);
        }
    });
}

#[test]
fn empty() {
    for_each_level(|level| assert!(msm::<G1>(level, &[], &[]).is_infinity()));
}
