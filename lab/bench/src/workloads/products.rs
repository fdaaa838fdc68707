//! Products of points, each with its own scalar.

use super::{
    adaptor::{KernelEntry, KernelFunctions, KernelLevels},
    encoding::{Encode, encoded},
    inputs::{elements, points},
};
use proofmill_curve::{Affine, Products, bls12_381, bn254, products_of_points};
use proofmill_field::{Fp, Prime};

pub(crate) fn table() -> Vec<KernelEntry> {
    vec![
        of_curve::<bn254::G1, _>("bn254-g1"),
        of_curve::<bn254::G2, _>("bn254-g2"),
        of_curve::<bls12_381::G1, _>("bls12-381-g1"),
        of_curve::<bls12_381::G2, _>("bls12-381-g2"),
    ]
}

fn of_curve<C: Products<Scalar = Fp<P>, Base: Encode>, P: Prime>(name: &str) -> KernelEntry {
    KernelFunctions::new(
        |rng, size| match size {
            ..0x4000_0000 => Ok((points::<C, P>(rng, size), elements::<P>(rng, size))),
            _ => Err("expected less than 2^30 points".to_owned()),
        },
        |_, _| Ok(Vec::<Affine<C>>::new()),
        |(points, scalars), products, level, _| {
            *products = products_of_points(level, points, scalars);
            Ok(())
        },
        |products: &Vec<Affine<C>>| encoded(&products[..]),
    )
    .for_peers(|(points, scalars)| [encoded(&points[..]), encoded(&scalars[..])].concat())
    .entry(format!("products/{name}"), KernelLevels::PrimeFields)
}
