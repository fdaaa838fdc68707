//! Smoke test that lanes are fast.

use proofmill_cpu::Level;
use proofmill_field::dispatch;
use proofmill_field::{
    Engine, Fp, LANES, Lanes, Prime, bls12_381, bn254,
    goldilocks::{
        Goldilocks,
        basic::{self, BasicFunction},
    },
};
use proofmill_testing::{assert_levels_win, rng};
use std::array;

fn powers<P: Prime, E: Engine>(engine: E, values: &mut [[Fp<P>; LANES]]) {
    engine.run(
        #[inline(always)]
        || {
            for value in values {
                let base = E::Packed::<P>::load(engine, value);
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
        (0..1 << 10).map(|_| array::from_fn(|_| Fp::random(&mut rng))).collect();
    assert_levels_win(&[("avx512ifma", factor)], |level| {
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

/// Elements of a column, and passes per run.
const LEN: usize = 1000;
const REPETITIONS: usize = 50;

/// The least speedups of avx2, avx512 and avx512ifma over `portable`, as tests are compiled: half of those of a Zen 5
/// there. The standard library's checks, which tests keep, cost as much as a sum; lab/records has the figures of
/// programs.
const SPEEDUPS: [(&str, [f64; 3]); 10] = [
    ("add", [0.5, 0.8, 0.8]),
    ("sub", [0.3, 0.5, 0.5]),
    ("reduce_128_64", [0.7, 1.2, 1.2]),
    ("square_128", [0.6, 1.5, 1.5]),
    ("mult_128", [0.5, 1.1, 1.1]),
    ("mult_72", [0.8, 1.7, 1.7]),
    ("spmv_4x12", [0.9, 1.5, 1.5]),
    ("spmv_4x12_8", [1.1, 1.6, 1.6]),
    ("mmult_4x12", [0.8, 1.5, 0.8]),
    ("mmult_4x12_8", [0.9, 2.0, 2.0]),
];

/// Asserts the speedups of a formula.
fn wins<F: BasicFunction<I, O>, const I: usize, const O: usize>(
    run: impl Fn(Level, [&[Goldilocks]; I], [&mut [Goldilocks]; O]) + Sync,
) {
    let mut rng = rng(2);
    let columns: [Vec<Goldilocks>; I] =
        array::from_fn(|_| (0..LEN).map(|_| Goldilocks::random(&mut rng)).collect());
    println!("{}:", F::NAME);
    let (_, [avx2, avx512, ifma]) =
        SPEEDUPS.iter().find(|(name, _)| *name == F::NAME).expect("a function of the table");
    assert_levels_win(&[("avx2", *avx2), ("avx512", *avx512), ("avx512ifma", *ifma)], |level| {
        let mut results: [Vec<Goldilocks>; O] = array::from_fn(|_| vec![Goldilocks::default(); LEN]);
        for _ in 0..REPETITIONS {
            let columns = columns.each_ref().map(Vec::as_slice);
            run(level, columns, results.each_mut().map(Vec::as_mut_slice));
        }
        std::hint::black_box(&results);
    });
}

fn words<const I: usize>(columns: [&[Goldilocks]; I]) -> [&[u64]; I] {
    columns.map(Goldilocks::as_words)
}

#[test]
fn basic_functions_of_goldilocks() {
    let bytes: Vec<u8> = (0..LEN).map(|i| i as u8).collect();
    let matrix: [[u64; 12]; 4] = array::from_fn(|i| array::from_fn(|k| u64::MAX / (12 * i + k + 1) as u64));
    let small = matrix.map(|row| row.map(|word| word as u8));
    wins::<basic::Add, _, _>(|level, [a, b], [out]| basic::add(level, a, b, out));
    wins::<basic::Sub, _, _>(|level, [a, b], [out]| basic::sub(level, a, b, out));
    wins::<basic::Reduce128, _, _>(|level, columns, [out]| {
        let [low, high] = words(columns);
        basic::reduce_128_64(level, low, high, out);
    });
    wins::<basic::Square128, _, _>(|level, [a], [out]| {
        basic::square_128(level, Goldilocks::as_words(a), out)
    });
    wins::<basic::Mult128, _, _>(|level, columns, [out]| {
        let [a, b] = words(columns);
        basic::mult_128(level, a, b, out);
    });
    wins::<basic::Mult72, _, _>(|level, [a], [out]| {
        basic::mult_72(level, Goldilocks::as_words(a), &bytes, out);
    });
    wins::<basic::Spmv, _, _>(|level, states, out| basic::spmv_4x12(level, words(states), &matrix[0], out));
    wins::<basic::Spmv8, _, _>(|level, states, out| basic::spmv_4x12_8(level, words(states), &small[0], out));
    wins::<basic::Mmult, _, _>(|level, states, out| basic::mmult_4x12(level, words(states), &matrix, out));
    wins::<basic::Mmult8, _, _>(|level, states, out| basic::mmult_4x12_8(level, words(states), &small, out));
}
