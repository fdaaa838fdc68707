//! Multi-scalar multiplication.

use super::{
    adaptor::{KernelEntry, KernelFunctions, KernelLevels},
    encoding::{Encode, encoded},
    inputs::{Rng, elements, points},
};
use proofmill_curve::{Affine, Msm, bls12_381, bn254, msm};
use proofmill_field::{Fp, Prime};

pub(crate) fn table() -> Vec<KernelEntry> {
    [
        of_curve::<bn254::G1, _>("bn254-g1"),
        of_curve::<bn254::G2, _>("bn254-g2"),
        of_curve::<bls12_381::G1, _>("bls12-381-g1"),
        of_curve::<bls12_381::G2, _>("bls12-381-g2"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Sums with uniform scalars, with equal scalars, and with scalars that alternate between 0 and 1.
fn of_curve<C: Msm<Scalar = Fp<P>, Base: Encode>, P: Prime>(name: &str) -> [KernelEntry; 3] {
    [
        sum::<C, P>(name, elements),
        sum::<C, P>(&format!("{name}-equal"), |rng, count| vec![Fp::random(rng); count]),
        sum::<C, P>(&format!("{name}-bits"), |_, count| (0..count as u64).map(|i| Fp::from(i & 1)).collect()),
    ]
}

fn sum<C: Msm<Scalar = Fp<P>, Base: Encode>, P: Prime>(
    name: &str,
    scalars: fn(&mut Rng, usize) -> Vec<Fp<P>>,
) -> KernelEntry {
    KernelFunctions::new(
        move |rng, size| match size {
            ..0x4000_0000 => Ok((points::<C, P>(rng, size), scalars(rng, size))),
            _ => Err("expected less than 2^30 points".to_owned()),
        },
        |_, _| Ok(Affine::<C>::INFINITY),
        |(points, scalars), sum, level, _| {
            *sum = msm(level, points, scalars).to_affine();
            Ok(())
        },
        encoded,
    )
    .for_peers(|(points, scalars)| [encoded(&points[..]), encoded(&scalars[..])].concat())
    .entry(format!("msm/{name}"), KernelLevels::PrimeFields)
}
