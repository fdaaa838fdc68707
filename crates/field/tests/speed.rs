//! Lanes are fast: a smoke test.

use proofmill_field::{Engine, Fp, LANES, Packed, Prime, bls12_381, bn254};
use proofmill_simd::dispatch;
use proofmill_testing::{assert_vectors_win, rng};

fn powers<P: Prime, E: Engine>(engine: E, values: &mut [[Fp<P>; LANES]]) {
    engine.run(
        #[inline(always)]
        || {
            for value in values {
                let base = E::Packed::<P>::load(value);
                let mut power = base;
                for _ in 0..16 {
                    power = power * base;
                }
                power.store(value);
            }
        },
    );
}

fn products<P: Prime>(factor: f64) {
    let mut rng = rng(1);
    let values: Vec<[Fp<P>; LANES]> =
        (0..1 << 10).map(|_| std::array::from_fn(|_| Fp::random(&mut rng))).collect();
    assert_vectors_win(factor, |level| {
        let mut values = values.clone();
        dispatch!(level, engine => powers(engine, &mut values));
        std::hint::black_box(&values);
    });
}

/// Measured on a Zen 5: 5.2.
#[test]
fn products_of_bn254() {
    products::<bn254::FqParams>(2.5);
}

/// Measured on a Zen 5: 3.0.
#[test]
fn products_of_bls12_381() {
    products::<bls12_381::FqParams>(1.5);
}
