//! Pairings at every level beside arkworks, on one core: `cargo bench -p proofmill-curve --bench pairing [-- --csv]`.

#[path = "../tests/arkworks/mod.rs"]
mod arkworks;

use ark_bn254::Bn254;
use ark_ec::{AffineRepr, CurveGroup, pairing::Pairing};
use ark_ff::UniformRand;
use arkworks::{g1, g2};
use proofmill_curve::multi_pairing;
use proofmill_simd::Level;
use proofmill_testing::Records;
use std::hint::black_box;

/// Pairings that one sample times.
const REPEATS: usize = 100;

fn main() {
    let mut records = Records::new();
    let mut rng = ark_std::test_rng();
    for count in [1, 4] {
        let name = format!("{REPEATS} pairings of {count}");
        let ark: Vec<_> = (0..count)
            .map(|_| {
                let [p, q] = [ark_bn254::Fr::rand(&mut rng), ark_bn254::Fr::rand(&mut rng)];
                let p = ark_bn254::G1Affine::generator() * p;
                (p.into_affine(), (ark_bn254::G2Affine::generator() * q).into_affine())
            })
            .collect();
        let pairs: Vec<_> = ark.iter().map(|(p, q)| (g1(*p), g2(*q))).collect();
        let theirs = || Bn254::multi_pairing(ark.iter().map(|pair| pair.0), ark.iter().map(|pair| pair.1));
        let peer = records.record(&name, "arkworks", 1, None, || repeat(theirs));
        for level in Level::prime_field_levels() {
            let ours = || multi_pairing(level, &pairs);
            records.record(&name, level.name(), 1, Some(("arkworks", peer)), || repeat(ours));
        }
    }
}

fn repeat<T>(run: impl Fn() -> T) {
    for _ in 0..REPEATS {
        drop(black_box(run()));
    }
}
