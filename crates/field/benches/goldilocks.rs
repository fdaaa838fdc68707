//! The ten basic functions over Goldilocks at every level, on one core:
//! `taskset -c 1 cargo bench -p proofmill-field --bench goldilocks [-- --csv]`.
//!
//! A run makes 10^7 results (of four elements for the matrices), from the first level of cache: a tenth of its milliseconds
//! is nanoseconds per result.

use proofmill_cpu::Level;
use proofmill_field::goldilocks::{
    Goldilocks,
    basic::{
        add, mmult_4x12, mmult_4x12_8, mult_72, mult_128, reduce_128_64, spmv_4x12, spmv_4x12_8, square_128,
        sub,
    },
};
use proofmill_testing::{Records, rng};
use rand_chacha::rand_core::RngCore;
use std::{array, hint::black_box};

/// Results of a run.
const RESULTS: usize = 10_000_000;

/// Elements of a column, and states side by side: what fits in the cache.
const ELEMENTS: usize = 1000;
const STATES: usize = 200;

/// Records a function that makes `len` results at every level.
fn levels(records: &mut Records, name: &str, len: usize, mut run: impl FnMut(Level)) {
    let name = format!("10^7 {name}");
    let mut portable = None;
    for level in proofmill_field::goldilocks_levels() {
        let seconds = records.record(&name, level.name(), 1, portable, || {
            (0..RESULTS / len).for_each(|_| run(black_box(level)));
        });
        portable.get_or_insert(("portable", seconds));
    }
}

fn main() {
    let mut rng = rng(1);
    let mut records = Records::new();
    let mut elements =
        || -> Vec<Goldilocks> { (0..ELEMENTS).map(|_| Goldilocks::random(&mut rng)).collect() };
    let (x, y, mut out) = (elements(), elements(), elements());
    let (a, b) = (Goldilocks::as_words(&x), Goldilocks::as_words(&y));
    let bytes: Vec<u8> = b.iter().map(|word| *word as u8).collect();
    levels(&mut records, "add", ELEMENTS, |level| add(level, &x, &y, &mut out));
    levels(&mut records, "sub", ELEMENTS, |level| sub(level, &x, &y, &mut out));
    levels(&mut records, "reduce_128_64", ELEMENTS, |level| reduce_128_64(level, a, b, &mut out));
    levels(&mut records, "square_128", ELEMENTS, |level| square_128(level, a, &mut out));
    levels(&mut records, "mult_128", ELEMENTS, |level| mult_128(level, a, b, &mut out));
    levels(&mut records, "mult_72", ELEMENTS, |level| mult_72(level, a, &bytes, &mut out));

    let columns: [Vec<u64>; 12] = array::from_fn(|_| (0..STATES).map(|_| rng.next_u64()).collect());
    let states = columns.each_ref().map(Vec::as_slice);
    let matrix: [[u64; 12]; 4] = array::from_fn(|_| array::from_fn(|_| rng.next_u64()));
    let small = matrix.map(|row| row.map(|word| word as u8));
    let mut results: [Vec<Goldilocks>; 4] = array::from_fn(|_| vec![Goldilocks::default(); STATES]);
    let mut matrices = |name, run: &dyn Fn(Level, [&mut [Goldilocks]; 4])| {
        levels(&mut records, name, STATES, |level| run(level, results.each_mut().map(Vec::as_mut_slice)));
    };
    matrices("spmv_4x12", &|level, results| spmv_4x12(level, states, &matrix[0], results));
    matrices("spmv_4x12_8", &|level, results| spmv_4x12_8(level, states, &small[0], results));
    matrices("mmult_4x12", &|level, results| mmult_4x12(level, states, &matrix, results));
    matrices("mmult_4x12_8", &|level, results| mmult_4x12_8(level, states, &small, results));
}
