//! Many multiples of one point against arkworks, at every level and thread count.

use crate::arkworks::{g1, g2, scalar as ark_scalar};
use ark_ec::CurveGroup;
use proofmill_curve::{
    Affine, Curve, FixedBase, Jacobian, Msm,
    bn254::{G1, G2},
};
use proofmill_field::{Algebra, Field, bn254::Fr};
use proofmill_testing::{for_each_level, for_each_pool, rng};

/// Zero, one and minus one, powers of two and adjacent integers, and uniform scalars.
fn scalars(len: usize) -> Vec<Fr> {
    let mut rng = rng(1);
    let powers = (0..254).map(|k| Fr::from(2).pow_vartime(&[k]));
    let edges = powers.flat_map(|power| [power, power - Fr::ONE, -power]);
    let mut scalars: Vec<_> = [Fr::ZERO, -Fr::ONE].into_iter().chain(edges).take(len).collect();
    scalars.resize_with(len, || Fr::random(&mut rng));
    scalars
}

fn check<C: Msm<Scalar = Fr>, A: CurveGroup<ScalarField = ark_bn254::Fr>>(
    convert: fn(A::Affine) -> Affine<C>,
    lengths: &[usize],
) {
    let base = C::GENERATOR.mul_vartime(&Fr::from(77)).to_affine();
    let ark_base = A::generator() * ark_bn254::Fr::from(77);
    for &len in lengths {
        let scalars = scalars(len);
        let expected: Vec<_> =
            scalars.iter().map(|scalar| ark_base * ark_scalar::<A::ScalarField>(scalar)).collect();
        let expected: Vec<_> = A::normalize_batch(&expected).into_iter().map(convert).collect();
        for_each_pool(&[1, 2, 5], |threads| {
            for_each_level(|level| {
                let mut fixed = FixedBase::new(level, &base, len);
                for round in 0..2 {
                    let mut points = vec![base; len];
                    fixed.multiply(&scalars, &mut points);
                    assert!(points == expected, "{}, {len}, {level}, {threads} threads, {round}", C::NAME);
                }
            });
        });
    }
}

#[test]
fn multiples_are_arkworkss() {
    check::<G1, ark_bn254::G1Projective>(g1, &[0, 1, 2, 17, 1025, 3000]);
    check::<G2, ark_bn254::G2Projective>(g2, &[1, 900]);
}

/// The widest windows.
#[test]
fn a_table_for_millions() {
    let scalars = scalars(1100);
    for_each_level(|level| {
        let mut points = vec![Affine::<G1>::INFINITY; scalars.len()];
        FixedBase::new(level, &G1::GENERATOR, 1 << 24).multiply(&scalars, &mut points);
        for (point, scalar) in points.iter().zip(&scalars) {
            assert_eq!(*point, G1::GENERATOR.mul_vartime(scalar).to_affine(), "{level}");
        }
    });
}

#[test]
fn sums_of_multiples() {
    let bases = [1, 77, 77].map(|scalar| G1::GENERATOR.mul_vartime(&Fr::from(scalar)).to_affine());
    let scalars = scalars(3 * 700);
    let expected: Vec<_> = scalars
        .chunks(3)
        .map(|scalars| {
            let multiples = bases.iter().zip(scalars).map(|(base, scalar)| base.mul_vartime(scalar));
            multiples.sum::<Jacobian<G1>>().to_affine()
        })
        .collect();
    for_each_level(|level| {
        let mut points = vec![Affine::INFINITY; expected.len()];
        FixedBase::of_bases(level, &bases, points.len()).multiply(&scalars, &mut points);
        assert!(points == expected, "{level}");
    });
}
