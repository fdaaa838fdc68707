//! Conversions between values of arkworks and Proofmill.
#![allow(dead_code, reason = "every test uses some of it")]

use ark_ec::AffineRepr;
use ark_ff::{Fp2, Fp2Config, PrimeField};
use proofmill_curve::{Affine, Curve};
use proofmill_field::{Fp, Limbs, Prime, Quadratic};

pub(crate) fn fp<P: Prime, F: PrimeField>(value: F) -> Fp<P> {
    let mut limbs = P::Limbs::ZERO;
    limbs.as_mut().copy_from_slice(value.into_bigint().as_ref());
    Fp::from_canonical(limbs).unwrap()
}

pub(crate) fn fq2<P: Prime, F: Fp2Config>(value: Fp2<F>) -> Quadratic<Fp<P>> {
    Quadratic::new(fp(value.c0), fp(value.c1))
}

/// A point over a prime field.
pub(crate) fn g1<P: Prime, C: Curve<Base = Fp<P>>, A: AffineRepr<BaseField: PrimeField>>(
    point: A,
) -> Affine<C> {
    point.xy().map_or(Affine::INFINITY, |(x, y)| Affine { x: fp(x), y: fp(y) })
}

/// A point over a quadratic extension.
pub(crate) fn g2<
    P: Prime,
    C: Curve<Base = Quadratic<Fp<P>>>,
    F: Fp2Config,
    A: AffineRepr<BaseField = Fp2<F>>,
>(
    point: A,
) -> Affine<C> {
    point.xy().map_or(Affine::INFINITY, |(x, y)| Affine { x: fq2(x), y: fq2(y) })
}

/// A Proofmill scalar as arkworks' type.
pub(crate) fn scalar<F: PrimeField>(scalar: &impl proofmill_field::PrimeField) -> F {
    let bytes: Vec<u8> = scalar.to_words().as_ref().iter().flat_map(|word| word.to_le_bytes()).collect();
    F::from_le_bytes_mod_order(&bytes)
}
