//! The product of pairings that a verifier checks.

use ark_bn254::{Bn254, Fq as ArkFq, Fq2 as ArkFq2, G1Affine, G2Affine};
use ark_ec::pairing::Pairing;
use ark_ff::{BigInt, Field as _, PrimeField};
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::bn254::Fq;

/// Whether the product of `e(p, q)` over all pairs is one. Points are on their curves and in the subgroups.
pub(crate) fn pairing_product_is_one(pairs: &[(Affine<G1>, Affine<G2>)]) -> bool {
    let coordinate = |x: Fq| ArkFq::from_bigint(BigInt(x.to_canonical())).unwrap_or_default();
    let g1 = |point: &Affine<G1>| match point.is_infinity() {
        true => G1Affine::default(),
        false => G1Affine::new_unchecked(coordinate(point.x), coordinate(point.y)),
    };
    let g2 = |point: &Affine<G2>| match point.is_infinity() {
        true => G2Affine::default(),
        false => G2Affine::new_unchecked(
            ArkFq2::new(coordinate(point.x.c0), coordinate(point.x.c1)),
            ArkFq2::new(coordinate(point.y.c0), coordinate(point.y.c1)),
        ),
    };
    let (left, right): (Vec<_>, Vec<_>) = pairs.iter().map(|(p, q)| (g1(p), g2(q))).unzip();
    Bn254::multi_pairing(left, right).0 == ark_bn254::Fq12::ONE
}
