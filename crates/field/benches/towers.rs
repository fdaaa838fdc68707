//! Nanoseconds of operations in the target groups' fields, one after the other, over one element at every level and over lanes:
//! `taskset -c 1 cargo bench -p proofmill-field --bench towers`.

use proofmill_field::{
    Algebra, Dodecic, Engine, Fp, LANES, Quadratic, Single, Tower, Vector, bls12_381, bn254, dispatch,
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use std::{hint::black_box, time::Instant};

const REPETITIONS: usize = 200;

/// The least nanoseconds of one call over many short runs.
#[inline(always)]
fn minimum(mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..100 {
        let start = Instant::now();
        for _ in 0..REPETITIONS {
            run();
        }
        best = best.min(start.elapsed().as_nanos() as f64 / REPETITIONS as f64);
    }
    best
}

#[inline(always)]
fn operations<P: Tower, A: Algebra>(token: A::Token, mut load: impl FnMut() -> A) -> [f64; 6] {
    let mut quadratic = || Quadratic::new(load(), load());
    let [mut a, mut b] = [Dodecic::<P, A>::one(token); 2];
    for i in 0..3 {
        for x in [&mut a, &mut b] {
            (x.c0.c[i], x.c1.c[i]) = (quadratic(), quadratic());
        }
    }
    let line = b.c0.c;
    let mut q = b.c0.c[0];
    let times = [
        minimum(
            #[inline(always)]
            || q = q * line[1],
        ),
        minimum(
            #[inline(always)]
            || a = a * b,
        ),
        minimum(
            #[inline(always)]
            || a = a.square(),
        ),
        minimum(
            #[inline(always)]
            || a = a.mul_by_line(line),
        ),
        minimum(
            #[inline(always)]
            || a = a.cyclotomic_square(),
        ),
        minimum(
            #[inline(always)]
            || a.c0 = a.c0 * b.c0,
        ),
    ];
    black_box((a, q));
    times
}

fn fields<P: Tower>() {
    println!(
        "{:<26}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
        P::NAME,
        "Fq2 mul",
        "mul",
        "square",
        "line",
        "cyclo",
        "Fq6 mul"
    );
    let print = |name: &str, times: [f64; 6]| {
        print!("{name:<26}");
        times.iter().for_each(|time| print!("{time:>10.1}"));
        println!();
    };
    for level in proofmill_field::prime_field_levels() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let single = dispatch!(level, engine => singles::<P, _>(engine, &mut rng));
        print(&format!("one element, {}", level.name()), single);
        let vector = dispatch!(level, engine => vectors::<P, _>(engine, &mut rng));
        print(&format!("a vector, {}", level.name()), vector);
    }
}

fn singles<P: Tower, E: Engine>(engine: E, rng: &mut ChaCha20Rng) -> [f64; 6] {
    engine.run(
        #[inline(always)]
        || operations::<P, E::Single<P>>(engine, || E::Single::<P>::load(engine, Fp::random(rng))),
    )
}

fn vectors<P: Tower, E: Engine>(engine: E, rng: &mut ChaCha20Rng) -> [f64; 6] {
    engine.run(
        #[inline(always)]
        || {
            operations::<P, E::Vector<P>>(engine, || {
                E::Vector::<P>::load_slice(engine, &[Fp::random(rng); LANES][..E::Vector::<P>::WIDTH])
            })
        },
    )
}

fn main() {
    fields::<bls12_381::FqParams>();
    fields::<bn254::FqParams>();
}
