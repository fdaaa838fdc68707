//! arkworks' types: results agree with arkworks.

use crate::machines;
use ark_ec::{
    AffineRepr, CurveGroup, VariableBaseMSM,
    short_weierstrass::{self, SWCurveConfig},
};
use ark_ff::{AdditiveGroup, FftField, Field, PrimeField, UniformRand};
use ark_poly::{EvaluationDomain, Radix2EvaluationDomain};
use proofmill::{
    arkworks::{self, Ark, ArkCurve, ArkTransformed},
    curve::{Affine, Curve, Jacobian, bls12_381, bn254, grumpkin::Grumpkin},
    field,
};
use std::fmt::Debug;

fn element<F: Ark<Ark: UniformRand + Field + Debug + PartialEq> + field::Field>() {
    let mut rng = ark_std::test_rng();
    for _ in 0..100 {
        let [a, b] = [(); 2].map(|()| F::Ark::rand(&mut rng));
        let (x, y) = (F::from_ark(&a), F::from_ark(&b));
        assert_eq!(x.to_ark(), a);
        assert_eq!((x * y + x).to_ark(), a * b + a);
        assert_eq!(x.invert_vartime().map(|inverse| inverse.to_ark()), a.inverse());
    }
    assert_eq!((F::ZERO.to_ark(), F::ONE.to_ark()), (F::Ark::ZERO, F::Ark::ONE));
    assert_eq!((-F::ONE).to_ark(), -F::Ark::ONE);
}

#[test]
fn elements_are_the_same() {
    element::<field::bn254::Fq>();
    element::<field::bn254::Fr>();
    element::<field::bn254::Fq2>();
    element::<field::bls12_381::Fq>();
    element::<field::bls12_381::Fr>();
    element::<field::bls12_381::Fq2>();
    assert_eq!(field::Fr::from(77).to_string(), ark_bn254::Fr::from(77u64).to_string());
}

fn points<C: Curve, P: ArkCurve<Ours = C> + SWCurveConfig>()
where
    Affine<C>: Ark<Ark = short_weierstrass::Affine<P>>,
    Jacobian<C>: Ark<Ark = short_weierstrass::Projective<P>>,
{
    let mut rng = ark_std::test_rng();
    assert_eq!(C::GENERATOR.to_ark(), P::GENERATOR);
    assert!(
        Affine::<C>::INFINITY.to_ark().is_zero() && Jacobian::<C>::INFINITY.to_ark().into_affine().is_zero()
    );
    assert!(Jacobian::<C>::from_ark(&short_weierstrass::Projective::ZERO).is_infinity());
    let (mut bases, mut scalars) = (vec![short_weierstrass::Affine::identity()], vec![P::ScalarField::ONE]);
    for _ in 0..200 {
        let point = short_weierstrass::Projective::<P>::rand(&mut rng);
        assert_eq!(Jacobian::from_ark(&point).to_ark(), point);
        bases.push(point.into_affine());
        scalars.push(P::ScalarField::rand(&mut rng));
        let ours = Affine::from_ark(&bases[1]);
        assert!(ours.is_on_curve());
        assert_eq!(ours.to_ark(), bases[1]);
    }
    scalars[5] = P::ScalarField::ZERO;
    let expected = short_weierstrass::Projective::msm(&bases, &scalars).unwrap();
    for machine in machines() {
        assert_eq!(machine.run(|| arkworks::msm(&bases, &scalars)), expected);
        assert_eq!(machine.run(|| arkworks::msm::<P>(&[], &[])), short_weierstrass::Projective::ZERO);
    }
}

#[test]
fn sums_are_the_same() {
    points::<bn254::G1, ark_bn254::g1::Config>();
    points::<bn254::G2, ark_bn254::g2::Config>();
    points::<bls12_381::G1, ark_bls12_381::g1::Config>();
    points::<bls12_381::G2, ark_bls12_381::g2::Config>();
    points::<Grumpkin, ark_grumpkin::GrumpkinConfig>();
}

fn transforms<F: ArkTransformed + FftField + PrimeField>() {
    let mut rng = ark_std::test_rng();
    for log_n in [0, 1, 3, 9] {
        let values: Vec<F> = (0..1 << log_n).map(|_| F::rand(&mut rng)).collect();
        let shift = F::rand(&mut rng);
        let theirs = Radix2EvaluationDomain::<F>::new(values.len()).unwrap();
        let their_coset = theirs.get_coset(shift).unwrap();
        for machine in machines() {
            let ours = arkworks::Domain::<F>::new(log_n).unwrap();
            let transformed = |work: &(dyn Fn(&mut [F]) + Sync)| {
                let mut values = values.clone();
                machine.run(|| work(&mut values));
                values
            };
            assert_eq!(transformed(&|values| ours.ntt(values)), theirs.fft(&values), "2^{log_n}");
            assert_eq!(transformed(&|values| ours.intt(values)), theirs.ifft(&values), "2^{log_n}");
            assert_eq!(transformed(&|values| ours.coset_ntt(values, shift)), their_coset.fft(&values));
            assert_eq!(transformed(&|values| ours.coset_intt(values, shift)), their_coset.ifft(&values));
        }
    }
}

#[test]
fn transforms_are_the_same() {
    transforms::<ark_bn254::Fr>();
    transforms::<ark_bls12_381::Fr>();
}
