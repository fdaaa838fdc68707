//! The ten basic functions against num-bigint, at every level: all pairs of edge words, all short lengths, unaligned.

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use proofmill_cpu::Level;
use proofmill_field::goldilocks::{
    Goldilocks, MODULUS,
    basic::{
        add, mmult_4x12, mmult_4x12_8, mult_72, mult_128, reduce_128_64, spmv_4x12, spmv_4x12_8, square_128,
        sub,
    },
};
use proofmill_testing::{edge_integers, for_each_goldilocks_level, rng};
use rand_chacha::rand_core::RngCore;

/// Words that produce carries, below p and above.
fn words() -> Vec<u64> {
    let mut words: Vec<u64> = edge_integers(&[MODULUS]).into_iter().map(|integer| integer[0]).collect();
    words.extend([(1 << 32) + 1, MODULUS + 2, MODULUS + (1 << 31), u64::MAX - 1, u64::MAX << 32, 7]);
    let mut rng = rng(10);
    words.extend((0..30).map(|_| rng.next_u64()));
    words.sort_unstable();
    words.dedup();
    words
}

/// Bytes with edge patterns.
const BYTES: [u8; 10] = [0, 1, 2, 3, 15, 127, 128, 129, 254, 255];

/// All pairs.
fn pairs<A: Copy, B: Copy>(a: &[A], b: &[B]) -> (Vec<A>, Vec<B>) {
    a.iter().flat_map(|a| b.iter().map(|b| (*a, *b))).unzip()
}

fn residue(integer: BigUint) -> u64 {
    (integer % MODULUS).to_u64().expect("below p")
}

fn big(word: impl Into<u64>) -> BigUint {
    BigUint::from(word.into())
}

/// Checks the columns that `run` writes at every level for operands of every tested length, at an odd offset.
fn check<const O: usize>(
    name: &str,
    expected: &[Vec<u64>; O],
    run: impl Fn(Level, usize, [&mut [Goldilocks]; O]),
) {
    let longest = expected[0].len();
    for_each_goldilocks_level(|level| {
        for len in (0..=40).chain([63, 64, 65, 97]).filter(|len| *len < longest).chain([longest]) {
            let mut results = expected.each_ref().map(|_| vec![Goldilocks::new(5); len + 2]);
            run(level, len, results.each_mut().map(|column| &mut column[1..=len]));
            for (column, expected) in results.iter().zip(expected) {
                let got = Goldilocks::as_words(column);
                assert_eq!((got[0], got[len + 1]), (5, 5), "{name} at {level} writes beside its results");
                if let Some(at) = (0..len).find(|at| got[at + 1] != expected[*at]) {
                    panic!("{name} at {level}, {at} of {len}: {:#x}, not {:#x}", got[at + 1], expected[at]);
                }
            }
        }
    });
}

#[test]
fn of_canonical_elements() {
    let elements: Vec<Goldilocks> = words().into_iter().filter_map(Goldilocks::from_canonical).collect();
    let (a, b) = pairs(&elements, &elements);
    let expected = |f: fn(BigUint, BigUint) -> BigUint| -> Vec<u64> {
        a.iter().zip(&b).map(|(a, b)| residue(f(big(a.to_canonical()), big(b.to_canonical())))).collect()
    };
    check("add", &[expected(|a, b| a + b)], |level, n, [sums]| add(level, &a[..n], &b[..n], sums));
    check("sub", &[expected(|a, b| a + MODULUS - b)], |level, n, [differences]| {
        sub(level, &a[..n], &b[..n], differences);
    });
}

#[test]
fn of_any_words() {
    let words = words();
    let (a, b) = pairs(&words, &words);
    let expected = |f: fn(BigUint, BigUint) -> BigUint| -> Vec<u64> {
        a.iter().zip(&b).map(|(a, b)| residue(f(big(*a), big(*b)))).collect()
    };
    check("mult_128", &[expected(|a, b| a * b)], |level, n, [products]| {
        mult_128(level, &a[..n], &b[..n], products);
    });
    check("square_128", &[expected(|a, _| &a * &a)], |level, n, [squares]| {
        square_128(level, &a[..n], squares)
    });
    check("reduce_128_64", &[expected(|a, b| a + (b << 64))], |level, n, [residues]| {
        reduce_128_64(level, &a[..n], &b[..n], residues);
    });
}

#[test]
fn of_any_words_and_bytes() {
    let (a, b) = pairs(&words(), &BYTES);
    let expected = a.iter().zip(&b).map(|(a, b)| residue(big(*a) * big(*b))).collect();
    check("mult_72", &[expected], |level, n, [products]| mult_72(level, &a[..n], &b[..n], products));
}

/// Twelve columns in which each pair of words occurs in adjacent columns.
fn states() -> [Vec<u64>; 12] {
    let (a, b) = pairs(&words(), &words());
    std::array::from_fn(|i| if i % 2 == 0 { a.clone() } else { b.clone() })
}

/// Coefficients: random ones, random ones with an edge value in each position once, and all maximal.
fn coefficients<const N: usize>(edges: &[u64], random: impl Fn(u64) -> u64) -> Vec<[u64; N]> {
    let mut rng = rng(N as u64);
    let largest = *edges.last().expect("an edge");
    let mut lists = vec![[largest; N]];
    for first in (0..edges.len()).step_by(N.min(edges.len())) {
        lists.push(std::array::from_fn(|i| match edges.get(first + i) {
            Some(edge) => *edge,
            None => random(rng.next_u64()),
        }));
    }
    lists
}

/// The four columns of the products of a matrix with the states.
fn products(states: &[Vec<u64>; 12], entry: impl Fn(usize, usize) -> u64) -> [Vec<u64>; 4] {
    std::array::from_fn(|i| {
        let entries: Vec<_> = (0..12).map(|k| (k, entry(i, k))).filter(|(_, entry)| *entry != 0).collect();
        let dot = |at| entries.iter().map(|(k, entry)| big(states[*k][at]) * *entry).sum::<BigUint>();
        (0..states[0].len()).map(|at| residue(dot(at))).collect()
    })
}

/// The first `n` words of each column.
fn first(states: &[Vec<u64>; 12], n: usize) -> [&[u64]; 12] {
    states.each_ref().map(|column| &column[..n])
}

#[test]
fn sparse_matrix() {
    let states = states();
    let products = |b: &[u64; 12]| products(&states, |i, k| if k % 4 == i { b[k] } else { 0 });
    for b in coefficients::<12>(&words(), |word| word) {
        check("spmv_4x12", &products(&b), |level, n, results| {
            spmv_4x12(level, first(&states, n), &b, results);
        });
    }
    for b in coefficients::<12>(&BYTES.map(u64::from), |word| word & 255) {
        check("spmv_4x12_8", &products(&b), |level, n, results| {
            spmv_4x12_8(level, first(&states, n), &b.map(|b| b as u8), results);
        });
    }
}

#[test]
fn dense_matrix() {
    let states = states();
    let rows =
        |b: &[u64; 48]| -> [[u64; 12]; 4] { std::array::from_fn(|i| *b[12 * i..].first_chunk().unwrap()) };
    let products = |b: &[u64; 48]| products(&states, |i, k| b[12 * i + k]);
    for b in coefficients::<48>(&words(), |word| word) {
        check("mmult_4x12", &products(&b), |level, n, results| {
            mmult_4x12(level, first(&states, n), &rows(&b), results);
        });
    }
    for b in coefficients::<48>(&BYTES.map(u64::from), |word| word & 255) {
        check("mmult_4x12_8", &products(&b), |level, n, results| {
            mmult_4x12_8(level, first(&states, n), &rows(&b).map(|row| row.map(|b| b as u8)), results);
        });
    }
}
