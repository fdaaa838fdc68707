//! Evaluating a formula along columns of any length.

#![allow(clippy::needless_range_loop, reason = "iterators are not always inlined into a level")]

use super::formulas::BasicFunction;
use crate::{
    LANES,
    goldilocks::{Goldilocks, GoldilocksEngine, U64s},
};

/// The number of result vectors per iteration, for formulas with one result.
const SEVERAL: usize = 4;

/// The inputs of a function: columns of the same length as the results, and coefficients.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a, const I: usize> {
    pub(super) words: [&'a [u64]; I],
    /// As long as the results if the formula takes a byte.
    pub(super) bytes: &'a [u8],
    pub(super) coefficients: &'a [u64],
}

impl<'a, const I: usize> Operands<'a, I> {
    pub(super) fn of(words: [&'a [u64]; I]) -> Self {
        Self { words, bytes: &[], coefficients: &[] }
    }

    /// # Panics
    /// If a column's length is not `len`, or a coefficient is missing.
    fn check<F: BasicFunction<I, O>, const O: usize>(&self, results: &[&mut [Goldilocks]; O]) -> usize {
        let len = results[0].len();
        assert!(results.iter().all(|column| column.len() == len), "results of one length");
        assert!(self.words.iter().all(|column| column.len() == len), "operands as long as the results");
        assert!(!F::TAKES_BYTE || self.bytes.len() == len, "as many bytes as results");
        assert_eq!(self.coefficients.len(), F::COEFFICIENTS, "coefficients");
        len
    }
}

/// Writes the results of the formula for each element.
///
/// # Panics
/// If lengths differ.
pub(super) fn map<F: Assembled<I, O>, E: GoldilocksEngine, const I: usize, const O: usize>(
    engine: E,
    operands: Operands<I>,
    results: [&mut [Goldilocks]; O],
) {
    let len = operands.check::<F, O>(&results);
    #[cfg(target_arch = "aarch64")]
    if let Some(assembly) = engine.assembly() {
        return sve::run::<F, I, O>(assembly, operands, results, len);
    }
    // SAFETY: the formulas' results are canonical words.
    let results = &mut results.map(|column| unsafe { Goldilocks::as_words_mut(column) });
    engine.run(
        #[inline(always)]
        || {
            let (width, mut at) = (E::U64s::WIDTH, 0);
            // Formulas with one result are only a few instructions: several vectors share the length checks.
            while O == 1 && len - at >= SEVERAL * width {
                vectors::<F, E, I, O, SEVERAL>(engine, &operands, at, results);
                at += SEVERAL * width;
            }
            while len - at >= width {
                vectors::<F, E, I, O, 1>(engine, &operands, at, results);
                at += width;
            }
            if at < len {
                last_vector::<F, E, I, O>(engine, &operands, at, results);
            }
        },
    );
}

/// `N` vectors of results, from index `at` on.
#[inline(always)]
fn vectors<F: BasicFunction<I, O>, E: GoldilocksEngine, const I: usize, const O: usize, const N: usize>(
    engine: E,
    operands: &Operands<I>,
    at: usize,
    results: &mut [&mut [u64]; O],
) {
    let range = at..at + N * E::U64s::WIDTH;
    let mut block = *operands;
    for i in 0..I {
        block.words[i] = &operands.words[i][range.clone()];
    }
    if F::TAKES_BYTE {
        block.bytes = &operands.bytes[range.clone()];
    }
    let mut vectors = [[E::U64s::splat(engine, 0); O]; N];
    for k in 0..N {
        vectors[k] = one_vector::<F, E, I, O>(engine, &block, k * E::U64s::WIDTH);
    }
    for i in 0..O {
        let column = &mut results[i][range.clone()];
        for k in 0..N {
            vectors[k][i].store(&mut column[k * E::U64s::WIDTH..]);
        }
    }
}

/// One vector of results, from index `at` on.
#[inline(always)]
fn one_vector<F: BasicFunction<I, O>, E: GoldilocksEngine, const I: usize, const O: usize>(
    engine: E,
    operands: &Operands<I>,
    at: usize,
) -> [E::U64s; O] {
    let mut words = [E::U64s::splat(engine, 0); I];
    for i in 0..I {
        words[i] = E::U64s::load(engine, &operands.words[i][at..]);
    }
    let mut byte = E::U64s::splat(engine, 0);
    if F::TAKES_BYTE {
        byte = E::U64s::load_bytes(engine, &operands.bytes[at..]);
    }
    F::apply::<E>(
        words,
        byte,
        #[inline(always)]
        |i| E::U64s::splat(engine, operands.coefficients[i]),
    )
}

/// The last results, less than a vector, computed on columns that are padded to a vector's length.
#[inline(always)]
fn last_vector<F: BasicFunction<I, O>, E: GoldilocksEngine, const I: usize, const O: usize>(
    engine: E,
    operands: &Operands<I>,
    at: usize,
    results: &mut [&mut [u64]; O],
) {
    let count = results[0].len() - at;
    let (mut words, mut bytes) = ([[0; LANES]; I], [0; LANES]);
    for i in 0..I {
        words[i][..count].copy_from_slice(&operands.words[i][at..]);
    }
    if F::TAKES_BYTE {
        bytes[..count].copy_from_slice(&operands.bytes[at..]);
    }
    let mut columns: [&[u64]; I] = [&[]; I];
    for i in 0..I {
        columns[i] = &words[i];
    }
    let padded = Operands { words: columns, bytes: &bytes, coefficients: operands.coefficients };
    let vectors = one_vector::<F, E, I, O>(engine, &padded, 0);
    for i in 0..O {
        let mut padded = [0; LANES];
        vectors[i].store(&mut padded);
        results[i][at..].copy_from_slice(&padded[..count]);
    }
}

/// Formulas with assembly kernels: no level of this architecture needs any.
#[cfg(not(target_arch = "aarch64"))]
pub(super) trait Assembled<const I: usize, const O: usize>: BasicFunction<I, O> {}

#[cfg(not(target_arch = "aarch64"))]
impl<F: BasicFunction<I, O>, const I: usize, const O: usize> Assembled<I, O> for F {}

#[cfg(target_arch = "aarch64")]
pub(super) use sve::Assembled;

#[cfg(target_arch = "aarch64")]
mod sve {
    use super::*;
    use crate::goldilocks::{Assembly, basic::*};
    use std::ptr;

    std::arch::global_asm!(include_str!("../aarch64/sve.s"), edition = const 1);
    std::arch::global_asm!(include_str!("../aarch64/sve.s"), edition = const 2);

    /// An assembly function for vectors of any length, generated from its formula. The first pointer points to pointers to
    /// the columns of words, of bytes if there are any, and of results; then come the coefficients and the columns' length.
    type Kernel = unsafe extern "C" fn(*const *const u64, *const u64, usize);

    /// A formula with assembly kernels.
    pub(crate) trait Assembled<const I: usize, const O: usize>: BasicFunction<I, O> {
        const SVE: Kernel;
        const SVE2: Kernel;
    }

    /// Declares the assembly functions.
    macro_rules! kernels {
        ($($formula:ident, $inputs:literal, $outputs:literal, $sve:ident, $sve2:ident;)*) => { $(
            unsafe extern "C" {
                fn $sve(columns: *const *const u64, coefficients: *const u64, len: usize);
                fn $sve2(columns: *const *const u64, coefficients: *const u64, len: usize);
            }

            impl Assembled<$inputs, $outputs> for $formula {
                const SVE: Kernel = $sve;
                const SVE2: Kernel = $sve2;
            }
        )* };
    }

    kernels! {
        Add, 2, 1, proofmill_goldilocks_add_sve1, proofmill_goldilocks_add_sve2;
        Sub, 2, 1, proofmill_goldilocks_sub_sve1, proofmill_goldilocks_sub_sve2;
        Reduce128, 2, 1, proofmill_goldilocks_reduce_128_64_sve1, proofmill_goldilocks_reduce_128_64_sve2;
        Square128, 1, 1, proofmill_goldilocks_square_128_sve1, proofmill_goldilocks_square_128_sve2;
        Mult128, 2, 1, proofmill_goldilocks_mult_128_sve1, proofmill_goldilocks_mult_128_sve2;
        Mult72, 1, 1, proofmill_goldilocks_mult_72_sve1, proofmill_goldilocks_mult_72_sve2;
        Spmv, 12, 4, proofmill_goldilocks_spmv_4x12_sve1, proofmill_goldilocks_spmv_4x12_sve2;
        Spmv8, 12, 4, proofmill_goldilocks_spmv_4x12_8_sve1, proofmill_goldilocks_spmv_4x12_8_sve2;
        Mmult, 12, 4, proofmill_goldilocks_mmult_4x12_sve1, proofmill_goldilocks_mmult_4x12_sve2;
        Mmult8, 12, 4, proofmill_goldilocks_mmult_4x12_8_sve1, proofmill_goldilocks_mmult_4x12_8_sve2;
    }

    /// The most operands and results of any formula.
    const MAX_COLUMNS: usize = 16;

    /// Runs a formula's kernel; all columns have length `len`, which was [checked](Operands::check).
    pub(super) fn run<F: Assembled<I, O>, const I: usize, const O: usize>(
        assembly: Assembly,
        operands: Operands<I>,
        results: [&mut [Goldilocks]; O],
        len: usize,
    ) {
        let mut columns = [ptr::null(); MAX_COLUMNS];
        for (column, words) in columns.iter_mut().zip(operands.words) {
            *column = words.as_ptr();
        }
        let bytes = usize::from(F::TAKES_BYTE);
        columns[I] = operands.bytes.as_ptr().cast();
        for (column, elements) in columns[I + bytes..].iter_mut().zip(results) {
            // SAFETY: the formulas' results are canonical words.
            *column = unsafe { Goldilocks::as_words_mut(elements) }.as_mut_ptr();
        }
        let kernel = assembly.choose(F::SVE, F::SVE2);
        // SAFETY: the token proves the instructions. The kernel reads `len` words (bytes) of each operand's column and all
        // coefficients, writes `len` words to each column of results, which it has exclusively, and accesses nothing else.
        unsafe { kernel(columns.as_ptr(), operands.coefficients.as_ptr(), len) }
    }
}
