//! Points as the bundles of networks.

use proofmill_curve::{Affine, Curve, Jacobian, Xyzz, bn254::G1};
use proofmill_field::bn254::{Fq, Fr};
use proofmill_pipeline::limbs::{Bundle, SignedField};
use proofmill_testing::rng;
use rand::Rng;

pub(crate) const VECTORS: usize = 4;
pub(crate) const BUNDLES: usize = 5;
pub(crate) const POINTS: usize = 8 * VECTORS * BUNDLES;

pub(crate) type G = G1;

pub(crate) fn field() -> SignedField {
    SignedField::of::<Fq>().unwrap()
}

/// Elements by bundles.
pub(crate) fn bundles(elements: &[Fq]) -> Vec<Bundle> {
    Bundle::of(elements, VECTORS)
}

/// Whether bundles hold these elements.
pub(crate) fn hold(bundles: &[Bundle], elements: &[Fq]) -> bool {
    Bundle::to_elements(bundles) == elements
}

pub(crate) fn multiples(seed: u64) -> Vec<Jacobian<G>> {
    let mut rng = rng(seed);
    (0..POINTS).map(|_| G::GENERATOR.mul_vartime(&Fr::from(rng.random::<u64>()))).collect()
}

/// Points whose ZZ is not 1.
pub(crate) fn xyzz(seed: u64) -> Vec<Xyzz<G>> {
    let affine = Jacobian::batch_to_affine(&multiples(seed));
    affine.into_iter().map(|point| Xyzz::from(point).double()).collect()
}

pub(crate) fn coordinates<T, const N: usize>(points: &[T], of: impl Fn(&T) -> [Fq; N]) -> Vec<Vec<Bundle>> {
    (0..N).map(|index| bundles(&points.iter().map(|point| of(point)[index]).collect::<Vec<_>>())).collect()
}

pub(crate) fn of_xyzz(point: &Xyzz<G>) -> [Fq; 4] {
    [point.x, point.y, point.zz, point.zzz]
}

pub(crate) fn of_affine(point: &Affine<G>) -> [Fq; 2] {
    [point.x, point.y]
}

pub(crate) fn matches<T, const N: usize>(
    results: &[Vec<Bundle>],
    points: &[T],
    of: impl Fn(&T) -> [Fq; N],
) -> bool {
    (0..N)
        .all(|index| hold(&results[index], &points.iter().map(|point| of(point)[index]).collect::<Vec<_>>()))
}
