//! Process CPU time on one core: pairings at every level beside arkworks.
//!
//! `cargo bench -p proofmill-curve --bench pairing`

#[path = "../tests/arkworks/mod.rs"]
mod arkworks;

use ark_bn254::Bn254;
use ark_ec::{AffineRepr, CurveGroup, pairing::Pairing};
use ark_ff::UniformRand;
use arkworks::{g1, g2};
use proofmill_curve::multi_pairing;
use proofmill_simd::Level;
use proofmill_testing::median_seconds;

/// Pairings that one sample times.
const REPEATS: usize = 100;

fn main() {
    let mut rng = ark_std::test_rng();
    for count in [1, 4] {
        let ark: Vec<_> = (0..count)
            .map(|_| {
                let [p, q] = [ark_bn254::Fr::rand(&mut rng), ark_bn254::Fr::rand(&mut rng)];
                let p = ark_bn254::G1Affine::generator() * p;
                (p.into_affine(), (ark_bn254::G2Affine::generator() * q).into_affine())
            })
            .collect();
        let pairs: Vec<_> = ark.iter().map(|(p, q)| (g1(*p), g2(*q))).collect();
        let peer = microseconds(|| {
            Bn254::multi_pairing(ark.iter().map(|pair| pair.0), ark.iter().map(|pair| pair.1))
        });
        println!("pairing of {count} arkworks    {peer:8.1} us");
        for level in Level::available() {
            let ours = microseconds(|| multi_pairing(level, &pairs));
            println!("pairing of {count} {:<11} {ours:8.1} us  {:5.2}x arkworks", level.name(), peer / ours);
        }
    }
}

fn microseconds<T>(mut run: impl FnMut() -> T) -> f64 {
    let seconds = median_seconds(|| (0..REPEATS).for_each(|_| drop(std::hint::black_box(run()))));
    seconds * 1e6 / REPEATS as f64
}
