//! `arm-guest LEVEL FUNCTION LOG_COUNT`: runs a function once on `2^LOG_COUNT` operands, on one thread.
//!
//! The work outside the function does not depend on the count, so the difference of two runs is
//! the function's.

#![forbid(unsafe_code)]

mod prime_fields;

use proofmill_cpu::Level;
use proofmill_field::goldilocks::{
    Goldilocks,
    basic::{
        add, mmult_4x12, mmult_4x12_8, mult_72, mult_128, reduce_128_64, spmv_4x12, spmv_4x12_8, square_128,
        sub,
    },
};
use proofmill_hash::{Digest, Poseidon, Poseidon2, Sponge, TreeHash};
use proofmill_merkle::{RowMajor, Tree};
use proofmill_ntt::goldilocks::{GoldilocksDomain, Order};
use std::{array, env, hint::black_box, process::ExitCode};

/// The largest count.
const MAX_LOG_COUNT: u32 = 13;

/// The order of the transforms' domain, as a power of two.
const LOG_DOMAIN: u32 = 12;

/// The elements of a row: one permutation.
const ROW: usize = 8;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [level, function, log_count] => match run(level, function, log_count) {
            Ok(()) => ExitCode::SUCCESS,
            Err(message) => {
                eprintln!("{message}");
                ExitCode::from(2)
            }
        },
        _ => {
            eprintln!("usage: arm-guest LEVEL FUNCTION LOG_COUNT");
            ExitCode::from(2)
        }
    }
}

/// Unpredictable words below p.
fn words(seed: u64, len: usize) -> Vec<u64> {
    let word = |i: u64| (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) >> 1;
    black_box((0..len as u64).map(word).collect())
}

fn tree(level: Level, hash: &dyn TreeHash, rows: &[u64]) -> Result<(), String> {
    let leaves = RowMajor::new(rows, ROW).map_err(|error| error.to_string())?;
    let tree = Tree::build(level, hash, &leaves).map_err(|error| error.to_string())?;
    black_box(tree.root());
    Ok(())
}

/// As many transforms as the values contain.
fn transforms(level: Level, values: &mut [Goldilocks]) -> Result<(), String> {
    let domain = GoldilocksDomain::new(LOG_DOMAIN).ok_or("no domain of this order")?;
    values.chunks_exact_mut(domain.len()).for_each(|values| domain.ntt(level, values, Order::BitReversed));
    Ok(())
}

fn run(level: &str, function: &str, log_count: &str) -> Result<(), String> {
    let level: Level = level.parse().map_err(|error| format!("{error}"))?;
    let log_count: u32 = log_count.parse().map_err(|error| format!("{error}"))?;
    if log_count > MAX_LOG_COUNT {
        return Err(format!("at most 2^{MAX_LOG_COUNT}"));
    }
    // On this thread, so that there is no waiting between threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().map_err(|error| error.to_string())?;
    let (n, max) = (1usize << log_count, 1usize << MAX_LOG_COUNT);
    if prime_fields::run(level, function, n, max) {
        return Ok(());
    }
    let columns: [Vec<u64>; 12] = array::from_fn(|i| words(i as u64, max));
    let rows = words(12, ROW * max);
    let bytes: Vec<u8> = columns[1].iter().map(|word| *word as u8).collect();
    let mut results: [Vec<Goldilocks>; 4] = array::from_fn(|_| vec![Goldilocks::default(); max]);
    let mut digests = vec![Digest::default(); max];
    let matrix: [[u64; 12]; 4] = array::from_fn(|i| array::from_fn(|k| rows[12 * i + k]));
    let small = matrix.map(|row| row.map(|word| word as u8));
    let states = columns.each_ref().map(|column| &column[..n]);
    let out = results.each_mut().map(|column| &mut column[..n]);
    let elements = [0, 1].map(|i| Goldilocks::from_words(&columns[i]).unwrap_or_default());
    let (a, b, [x, y]) = (states[0], states[1], elements.map(|elements| &elements[..n]));
    let rows = &rows[..ROW * n];
    match (function, out) {
        ("add", [out, ..]) => add(level, x, y, out),
        ("sub", [out, ..]) => sub(level, x, y, out),
        ("reduce_128_64", [out, ..]) => reduce_128_64(level, a, b, out),
        ("square_128", [out, ..]) => square_128(level, a, out),
        ("mult_128", [out, ..]) => mult_128(level, a, b, out),
        ("mult_72", [out, ..]) => mult_72(level, a, &bytes[..n], out),
        ("spmv_4x12", out) => spmv_4x12(level, states, &matrix[0], out),
        ("spmv_4x12_8", out) => spmv_4x12_8(level, states, &small[0], out),
        ("mmult_4x12", out) => mmult_4x12(level, states, &matrix, out),
        ("mmult_4x12_8", out) => mmult_4x12_8(level, states, &small, out),
        ("ntt", [out, ..]) => {
            out.copy_from_slice(x);
            transforms(level, out)?;
        }
        ("poseidon_rows", _) => Sponge(Poseidon).hash_rows(level, rows, ROW, &mut digests[..n]),
        ("poseidon2_rows", _) => Sponge(Poseidon2::<12>).hash_rows(level, rows, ROW, &mut digests[..n]),
        ("poseidon_tree", _) => tree(level, &Sponge(Poseidon), rows)?,
        ("poseidon2_tree", _) => tree(level, &Sponge(Poseidon2::<12>), rows)?,
        _ => return Err(format!("no function `{function}`")),
    }
    black_box((&results, &digests));
    Ok(())
}
