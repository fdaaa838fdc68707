//! The ten basic functions by which Poseidon in vectors is compared: on slices, at every level.
//!
//! They are those of Table 1 of Loghin, Liang, Liu, Liu, Ruan and Ye, "On the Performance of Cloud-based ARM SVE for
//! Zero-Knowledge Proving Systems" (arXiv 2506.09505), under its names. Every result is canonical, which the type
//! [`Goldilocks`] says; an operand of type `u64` may be any word, one of type [`Goldilocks`] is canonical, one of type
//! `u8` is the paper's 8-bit operand.
//!
//! A vector instruction works on as many elements as the level has lanes. Where the paper holds one state of twelve
//! elements in three registers of four, the states stand side by side here: `states[i]` is the column of their elements
//! i, and all columns are as long as the results'. In the paper's notation, `a_j[i]` is `states[4 j + i]`.
//!
//! One formula serves all levels ([`BasicFunction`]); for SVE and SVE2, `tools/constgen` compiles it to assembly.

mod columns;
mod formulas;

pub use formulas::{
    Add, BasicFunction, Mmult, Mmult8, Mult72, Mult128, Reduce128, Spmv, Spmv8, Square128, Sub,
};

use super::Goldilocks;
use crate::dispatch_goldilocks;
use columns::Operands;
use proofmill_cpu::Level;

/// `a + b`: 4 instructions of AVX-512, SVE and SVE2 beside loads and stores.
///
/// # Panics
/// If lengths differ.
pub fn add(level: Level, a: &[Goldilocks], b: &[Goldilocks], sums: &mut [Goldilocks]) {
    let words = [Goldilocks::as_words(a), Goldilocks::as_words(b)];
    dispatch_goldilocks!(level, engine => columns::map::<Add, _, _, _>(engine, Operands::of(words), [sums]));
}

/// `a - b`.
///
/// # Panics
/// If lengths differ.
pub fn sub(level: Level, a: &[Goldilocks], b: &[Goldilocks], differences: &mut [Goldilocks]) {
    let words = [Goldilocks::as_words(a), Goldilocks::as_words(b)];
    dispatch_goldilocks!(level, engine => columns::map::<Sub, _, _, _>(engine, Operands::of(words), [differences]));
}

/// `low + 2^64 high` modulo p.
///
/// # Panics
/// If lengths differ.
pub fn reduce_128_64(level: Level, low: &[u64], high: &[u64], residues: &mut [Goldilocks]) {
    dispatch_goldilocks!(level, engine => columns::map::<Reduce128, _, _, _>(engine, Operands::of([low, high]), [residues]));
}

/// `a^2`, the square of 128 bits reduced.
///
/// # Panics
/// If lengths differ.
pub fn square_128(level: Level, a: &[u64], squares: &mut [Goldilocks]) {
    dispatch_goldilocks!(level, engine => columns::map::<Square128, _, _, _>(engine, Operands::of([a]), [squares]));
}

/// `a b`, the product of 128 bits reduced.
///
/// # Panics
/// If lengths differ.
pub fn mult_128(level: Level, a: &[u64], b: &[u64], products: &mut [Goldilocks]) {
    dispatch_goldilocks!(level, engine => columns::map::<Mult128, _, _, _>(engine, Operands::of([a, b]), [products]));
}

/// `a b`, the product of 72 bits reduced.
///
/// # Panics
/// If lengths differ.
pub fn mult_72(level: Level, a: &[u64], b: &[u8], products: &mut [Goldilocks]) {
    let operands = Operands { bytes: b, ..Operands::of([a]) };
    dispatch_goldilocks!(level, engine => columns::map::<Mult72, _, _, _>(engine, operands, [products]));
}

/// The sparse matrix `(diag b_0..b_3 | diag b_4..b_7 | diag b_8..b_11)` times each state:
/// `results[i] = b[i] states[i] + b[4 + i] states[4 + i] + b[8 + i] states[8 + i]`, each product of 128 bits.
///
/// # Panics
/// If lengths differ.
pub fn spmv_4x12(level: Level, states: [&[u64]; 12], b: &[u64; 12], results: [&mut [Goldilocks]; 4]) {
    let operands = Operands { coefficients: b, ..Operands::of(states) };
    dispatch_goldilocks!(level, engine => columns::map::<Spmv, _, _, _>(engine, operands, results));
}

/// [`spmv_4x12`] with a matrix of bytes.
///
/// # Panics
/// If lengths differ.
pub fn spmv_4x12_8(level: Level, states: [&[u64]; 12], b: &[u8; 12], results: [&mut [Goldilocks]; 4]) {
    let operands = Operands { coefficients: &b.map(u64::from), ..Operands::of(states) };
    dispatch_goldilocks!(level, engine => columns::map::<Spmv8, _, _, _>(engine, operands, results));
}

/// The dense matrix of four rows times each state: `results[i]` is the sum of the twelve `matrix[i][k] states[k]`.
///
/// # Panics
/// If lengths differ.
pub fn mmult_4x12(
    level: Level,
    states: [&[u64]; 12],
    matrix: &[[u64; 12]; 4],
    results: [&mut [Goldilocks]; 4],
) {
    let operands = Operands { coefficients: matrix.as_flattened(), ..Operands::of(states) };
    dispatch_goldilocks!(level, engine => columns::map::<Mmult, _, _, _>(engine, operands, results));
}

/// [`mmult_4x12`] with a matrix of bytes.
///
/// # Panics
/// If lengths differ.
pub fn mmult_4x12_8(
    level: Level,
    states: [&[u64]; 12],
    matrix: &[[u8; 12]; 4],
    results: [&mut [Goldilocks]; 4],
) {
    let coefficients = matrix.map(|row| row.map(u64::from));
    let operands = Operands { coefficients: coefficients.as_flattened(), ..Operands::of(states) };
    dispatch_goldilocks!(level, engine => columns::map::<Mmult8, _, _, _>(engine, operands, results));
}
