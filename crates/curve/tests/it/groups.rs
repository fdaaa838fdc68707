//! Group laws agree with arkworks, including edge cases.

use crate::arkworks::{g1, g2};
use ark_ec::CurveGroup;
use ark_ff::PrimeField;
use proofmill_curve::{
    Affine, Curve, Jacobian, Xyzz, bls12_381,
    bn254::{G1, G2},
    grumpkin::Grumpkin,
};
use proofmill_field::{Fp, Prime};
use proofmill_testing::rng;

fn check<P: Prime, C: Curve<Scalar = Fp<P>>, A: CurveGroup<ScalarField: PrimeField>>(
    convert: fn(A::Affine) -> Affine<C>,
) {
    let mut rng = rng(7);
    let mut scalars: Vec<Fp<P>> = [0u64, 1, 2, 3, 7].map(Fp::from).to_vec();
    scalars.extend([-Fp::from(1u64), -Fp::from(2u64)]);
    scalars.extend((0..6).map(|_| Fp::random(&mut rng)));
    let theirs: Vec<A> = scalars
        .iter()
        .map(|scalar| A::generator() * crate::arkworks::scalar::<A::ScalarField>(scalar))
        .collect();
    let points: Vec<Affine<C>> = theirs.iter().map(|point| convert(point.into_affine())).collect();
    for (scalar, point) in scalars.iter().zip(&points) {
        assert!(point.is_on_curve());
        assert_eq!(C::GENERATOR.mul_vartime(scalar).to_affine(), *point);
        assert_eq!((-*point).is_infinity(), point.is_infinity());
    }
    for (a, p) in theirs.iter().zip(&points) {
        for (b, q) in theirs.iter().zip(&points) {
            let expected = convert((*a + b).into_affine());
            let (jp, jq) =
                (Jacobian::from(*p).double().add_affine(&-*p), Jacobian::from(*q).double().add_affine(&-*q));
            assert_eq!(jp.add(&jq).to_affine(), expected);
            assert_eq!(jp.add_affine(q).to_affine(), expected);
            let (xp, xq) =
                (Xyzz::from(*p).double().add_affine(&-*p), Xyzz::from(*q).double().add_affine(&-*q));
            assert_eq!(Jacobian::from(xp.add(&xq)).to_affine(), expected);
            assert_eq!(Jacobian::from(xp.add_affine(q)).to_affine(), expected);
            assert_eq!(jp == jq, p == q);
        }
        assert_eq!(Jacobian::from(Xyzz::from(*p).double()).to_affine(), convert((*a + a).into_affine()));
    }
    let jacobians: Vec<_> = points.iter().map(|point| Jacobian::from(*point).double()).collect();
    let affines: Vec<_> = jacobians.iter().map(Jacobian::to_affine).collect();
    assert_eq!(Jacobian::batch_to_affine(&jacobians), affines);
}

#[test]
fn g1_agrees_with_arkworks() {
    check::<_, G1, ark_bn254::G1Projective>(g1);
}

#[test]
fn g2_agrees_with_arkworks() {
    check::<_, G2, ark_bn254::G2Projective>(g2);
}

#[test]
fn grumpkin_agrees_with_arkworks() {
    check::<_, Grumpkin, ark_grumpkin::Projective>(g1);
}

#[test]
fn bls12_381_agrees_with_arkworks() {
    check::<_, bls12_381::G1, ark_bls12_381::G1Projective>(g1);
    check::<_, bls12_381::G2, ark_bls12_381::G2Projective>(g2);
}
