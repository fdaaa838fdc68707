//! Arithmetic of the prime fields in Montgomery form, and pairings.

use proofmill_cpu::{Level, Token};
use proofmill_curve::{Curve, bls12_381::G1 as BlsG1, bn254::G1 as BnG1};
use proofmill_field::{Algebra, Engine, Fp, Prime, Quadratic, bls12_381, bn254, dispatch};
use proofmill_pairing::{Pairing, pairing};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use std::{array, hint::black_box};

/// Runs `FIELD_OPERATION` on `n` of `max` pairs of elements, or `n` pairings; `false` if there is no such function.
pub(crate) fn run(level: Level, function: &str, n: usize, max: usize) -> bool {
    let Some((field, operation)) = function.rsplit_once('_') else { return false };
    match field {
        "bn254_fr" => elements::<bn254::FrParams>(level, operation, n, max),
        "bn254_fq" => elements::<bn254::FqParams>(level, operation, n, max),
        "bn254_fq2" => quadratic::<bn254::FqParams>(level, operation, n, max),
        "bn254" => pairings::<BnG1>(level, operation, n),
        "bls12_381_fr" => elements::<bls12_381::FrParams>(level, operation, n, max),
        "bls12_381_fq" => elements::<bls12_381::FqParams>(level, operation, n, max),
        "bls12_381_fq2" => quadratic::<bls12_381::FqParams>(level, operation, n, max),
        "bls12_381" => pairings::<BlsG1>(level, operation, n),
        _ => false,
    }
}

fn columns<P: Prime>(max: usize) -> [Vec<Fp<P>>; 4] {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    array::from_fn(|_| black_box((0..max).map(|_| Fp::random(&mut rng)).collect()))
}

fn elements<P: Prime>(level: Level, operation: &str, n: usize, max: usize) -> bool {
    let [x, y, mut out, _] = columns::<P>(max);
    let (x, y, out) = (&x[..n], &y[..n], &mut out[..n]);
    dispatch!(level, engine => match operation {
        "product" => each(engine, x, y, out, |x, y| x * y),
        "square" => each(engine, x, y, out, |x, _| x.square()),
        "sum" => each(engine, x, y, out, |x, y| x + y),
        "difference" => each(engine, x, y, out, |x, y| x - y),
        _ => return false,
    });
    black_box(out);
    true
}

fn each<P: Prime, E: Engine>(
    engine: E,
    x: &[Fp<P>],
    y: &[Fp<P>],
    out: &mut [Fp<P>],
    f: impl Fn(Fp<P, E::Backend>, Fp<P, E::Backend>) -> Fp<P, E::Backend>,
) {
    let backend = engine.backend();
    let [x, y] = [x, y].map(|elements| Fp::slice_with_backend(backend, elements));
    let out = Fp::slice_with_backend_mut(backend, out);
    engine.run(|| {
        for ((x, y), out) in x.iter().zip(y).zip(out) {
            *out = f(*x, *y);
        }
    });
}

fn quadratic<P: Prime>(level: Level, operation: &str, n: usize, max: usize) -> bool {
    let [x0, x1, y0, y1] = columns::<P>(max);
    let pairs = |c0: Vec<Fp<P>>, c1| c0.into_iter().zip(c1).map(|(c0, c1)| Quadratic::new(c0, c1)).collect();
    let [x, y]: [Vec<Quadratic<Fp<P>>>; 2] = [pairs(x0, x1), pairs(y0, y1)];
    let (x, y) = (&x[..n], &y[..n]);
    dispatch!(level, engine => {
        let backend = engine.backend();
        let mut out = vec![Quadratic::zero(backend); max];
        let with_backend = |x: &Quadratic<Fp<P>>| Quadratic::new(x.c0.with_backend(backend), x.c1.with_backend(backend));
        // Converted beforehand: the products then have their operands where they are.
        let [x, y]: [Vec<_>; 2] = [x, y].map(|elements| elements.iter().map(with_backend).collect());
        match operation {
            "product" => engine.run(|| {
                for ((x, y), out) in x.iter().zip(&y).zip(&mut out) {
                    *out = *x * *y;
                }
            }),
            "square" => engine.run(|| {
                for (x, out) in x.iter().zip(&mut out) {
                    *out = x.square();
                }
            }),
            _ => return false,
        }
        black_box(out);
    });
    true
}

fn pairings<C: Pairing>(level: Level, operation: &str, n: usize) -> bool {
    if operation != "pairing" {
        return false;
    }
    for _ in 0..n {
        black_box(pairing::<C>(level, black_box(&C::GENERATOR), &C::G2::GENERATOR));
    }
    true
}
