//! Group laws agree with arkworks, edge cases included.

use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{BigInt, PrimeField as _};
use proofmill_curve::{
    Affine, Curve, Jacobian, Xyzz,
    bn254::{G1, G1Affine, G2, G2Affine},
};
use proofmill_field::bn254::{Fq, Fq2, Fr};
use proofmill_testing::rng;

fn fq(value: ark_bn254::Fq) -> Fq {
    Fq::from_canonical(value.into_bigint().0).unwrap()
}

fn g1(point: ark_bn254::G1Affine) -> G1Affine {
    point.xy().map_or(Affine::INFINITY, |(x, y)| Affine { x: fq(x), y: fq(y) })
}

fn g2(point: ark_bn254::G2Affine) -> G2Affine {
    let fq2 = |value: ark_bn254::Fq2| Fq2::new(fq(value.c0), fq(value.c1));
    point.xy().map_or(Affine::INFINITY, |(x, y)| Affine { x: fq2(x), y: fq2(y) })
}

fn check<C: Curve<Scalar = Fr>, A: CurveGroup<ScalarField = ark_bn254::Fr>>(
    convert: fn(A::Affine) -> Affine<C>,
) {
    let mut rng = rng(7);
    let mut scalars: Vec<Fr> = [0u64, 1, 2, 3, 7].map(Fr::from).to_vec();
    scalars.extend([-Fr::from(1u64), -Fr::from(2u64)]);
    scalars.extend((0..6).map(|_| Fr::random(&mut rng)));
    let theirs: Vec<A> = scalars
        .iter()
        .map(|scalar| A::generator() * ark_bn254::Fr::from_bigint(BigInt(scalar.to_canonical())).unwrap())
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
    check::<G1, ark_bn254::G1Projective>(g1);
}

#[test]
fn g2_agrees_with_arkworks() {
    check::<G2, ark_bn254::G2Projective>(g2);
}
