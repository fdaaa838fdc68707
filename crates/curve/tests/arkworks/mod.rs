//! Values of arkworks as ours, and back.
#![allow(dead_code, reason = "every test uses some of it")]

use ark_ec::AffineRepr;
use ark_ff::PrimeField;
use proofmill_curve::{
    Affine, Curve,
    bn254::{G1Affine, G2Affine},
};
use proofmill_field::{Fp, Limbs, Prime, bn254::Fq2};

pub(crate) fn fp<P: Prime, F: PrimeField>(value: F) -> Fp<P> {
    let mut limbs = P::Limbs::ZERO;
    limbs.as_mut().copy_from_slice(value.into_bigint().as_ref());
    Fp::from_canonical(limbs).unwrap()
}

pub(crate) fn fq2(value: ark_bn254::Fq2) -> Fq2 {
    Fq2::new(fp(value.c0), fp(value.c1))
}

pub(crate) fn point<P: Prime, C: Curve<Base = Fp<P>>, A: AffineRepr<BaseField: PrimeField>>(
    point: A,
) -> Affine<C> {
    point.xy().map_or(Affine::INFINITY, |(x, y)| Affine { x: fp(x), y: fp(y) })
}

pub(crate) fn g1(g1: ark_bn254::G1Affine) -> G1Affine {
    point(g1)
}

pub(crate) fn g2(point: ark_bn254::G2Affine) -> G2Affine {
    point.xy().map_or(Affine::INFINITY, |(x, y)| Affine { x: fq2(x), y: fq2(y) })
}

/// Our scalar as arkworks'.
pub(crate) fn scalar<F: PrimeField>(scalar: &impl proofmill_field::PrimeField) -> F {
    let bytes: Vec<u8> = scalar.to_words().as_ref().iter().flat_map(|word| word.to_le_bytes()).collect();
    F::from_le_bytes_mod_order(&bytes)
}
