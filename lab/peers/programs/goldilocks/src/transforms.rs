//! Number-theoretic transforms and low-degree extensions of one column and of several, from natural order.
//!
//! Results are in natural order, or in bit-reversed order if the implementation's name contains `-reversed`.
//! Roots of unity are computed in advance, and each run transforms the result of the previous one.

use crate::{Selection, elements, field::plonky2_elements, packed};
use boojum::{
    field::{
        Field as _,
        goldilocks::{GoldilocksField as BoojumElement, MixedGL},
        traits::field_like::PrimeFieldLikeVectorized,
    },
    worker::Worker,
};
use p3_dft::{Radix2Bowers, Radix2DFTSmallBatch, Radix2DitParallel, TwoAdicSubgroupDft};
use p3_field::{Field, PrimeField64};
use p3_goldilocks::Goldilocks;
use p3_matrix::{Matrix, bitrev::BitReversibleMatrix, dense::RowMajorMatrix};
use plonky2_field::{
    fft::{FftRootTable, fft_root_table, fft_with_options},
    goldilocks_field::GoldilocksField,
    polynomial::PolynomialCoeffs,
};
use crate::records::Records;
use rayon::prelude::*;
use std::mem::take;

/// The order of the resulting rows.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Natural,
    Reversed,
}

pub(crate) fn measure(records: &mut Records, selection: &Selection, threads: usize) {
    let large = std::env::args().any(|argument| argument == "--large");
    let sizes: &[u32] = if large { &[12, 16, 20, 23, 24] } else { &[12, 16, 20, 23] };
    for (&log_rows, columns) in sizes.iter().flat_map(|size| [(size, 1), (size, 8)]) {
        let name = match columns {
            1 => format!("ntt goldilocks 2^{log_rows}"),
            _ => format!("ntt goldilocks 2^{log_rows} x {columns}"),
        };
        if selection.has(&name) {
            transform(records, threads, &name, 1 << log_rows, columns);
        }
    }
    for (log_rows, columns) in [(18, 8), (20, 16)] {
        let name = format!("lde goldilocks 2^{log_rows} x {columns} by 2");
        if selection.has(&name) {
            extend(records, threads, &name, 1 << log_rows, columns);
        }
    }
}

/// Plonky3's algorithms transform rows of all columns. plonky2 and boojum transform single columns, in
/// parallel if there are several threads.
fn transform(records: &mut Records, threads: usize, name: &str, rows: usize, columns: usize) {
    let mut run = |algorithm: &str,
                   ntt: &dyn Fn(RowMajorMatrix<Goldilocks>) -> RowMajorMatrix<Goldilocks>| {
        let mut values = elements(rows * columns);
        records.record(name, &format!("{}-{algorithm}", packed("plonky3")), threads, None, || {
            values = ntt(RowMajorMatrix::new(take(&mut values), columns)).values;
        });
    };
    let (parallel, batch) = (Radix2DitParallel::default(), Radix2DFTSmallBatch::default());
    run("parallel-reversed", &|matrix| in_order(parallel.dft_batch(matrix), Order::Reversed));
    run("parallel", &|matrix| in_order(parallel.dft_batch(matrix), Order::Natural));
    run("small-batch", &|matrix| in_order(batch.dft_batch(matrix), Order::Natural));
    run("bowers", &|matrix| in_order(Radix2Bowers.dft_batch(matrix), Order::Natural));
    if threads > columns {
        return;
    }
    let mut values: Vec<_> = plonky2_elements(rows * columns).chunks_exact(rows).map(<[_]>::to_vec).collect();
    let roots = fft_root_table(rows);
    records.record(name, &packed("plonky2"), threads, None, || {
        values.par_iter_mut().for_each(|column| *column = plonky2(take(column), &roots));
    });
    let boojum = Boojum::new(rows);
    let mut values: Vec<_> = elements(rows * columns).chunks_exact(rows).map(Boojum::column).collect();
    records.record(name, &format!("{}-reversed", packed("boojum")), threads, None, || {
        values.par_iter_mut().for_each(|column| boojum.transform(column));
    });
}

/// Plonky3's algorithms; each run reuses the memory of the previous one.
fn extend(records: &mut Records, threads: usize, name: &str, rows: usize, columns: usize) {
    let mut run = |algorithm: &str,
                   lde: &dyn Fn(RowMajorMatrix<Goldilocks>) -> RowMajorMatrix<Goldilocks>| {
        let mut values = elements(rows * columns);
        records.record(name, &format!("{}-{algorithm}", packed("plonky3")), threads, None, || {
            values.truncate(rows * columns);
            values = lde(RowMajorMatrix::new(take(&mut values), columns)).values;
        });
    };
    let shift = Goldilocks::GENERATOR;
    let (parallel, batch) = (Radix2DitParallel::default(), Radix2DFTSmallBatch::default());
    run("parallel-reversed", &|matrix| in_order(parallel.coset_lde_batch(matrix, 1, shift), Order::Reversed));
    run("parallel", &|matrix| in_order(parallel.coset_lde_batch(matrix, 1, shift), Order::Natural));
    run("small-batch", &|matrix| in_order(batch.coset_lde_batch(matrix, 1, shift), Order::Natural));
    run("bowers", &|matrix| in_order(Radix2Bowers.coset_lde_batch(matrix, 1, shift), Order::Natural));
}

/// The rows of a result of Plonky3 in the requested order; free if they are already in that order.
fn in_order(rows: impl BitReversibleMatrix<Goldilocks>, order: Order) -> RowMajorMatrix<Goldilocks> {
    match order {
        Order::Natural => rows.to_row_major_matrix(),
        Order::Reversed => rows.bit_reverse_rows().to_row_major_matrix(),
    }
}

fn plonky2(column: Vec<GoldilocksField>, roots: &FftRootTable<GoldilocksField>) -> Vec<GoldilocksField> {
    fft_with_options(PolynomialCoeffs::new(column), None, Some(roots)).values
}

/// boojum's transform of one length, in place.
struct Boojum {
    roots: Vec<BoojumElement>,
}

impl Boojum {
    fn new(rows: usize) -> Self {
        let worker = Worker::new_with_num_threads(1);
        Self { roots: MixedGL::precompute_forward_twiddles_for_fft(rows, &worker, &mut ()) }
    }

    fn column(values: &[Goldilocks]) -> Vec<MixedGL> {
        let mut column = vec![MixedGL::new(); values.len() / MixedGL::SIZE_FACTOR];
        let elements = MixedGL::slice_into_base_slice_mut(&mut column);
        for (element, value) in elements.iter_mut().zip(values) {
            *element = BoojumElement::from_nonreduced_u64(value.as_canonical_u64());
        }
        column
    }

    fn transform(&self, column: &mut [MixedGL]) {
        MixedGL::fft_natural_to_bitreversed(column, BoojumElement::ONE, &self.roots, &mut ());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use boojum::field::U64Representable;
    use plonky2_field::types::PrimeField64 as _;

    /// Columns that are transformed separately agree with those that Plonky3 transforms together.
    #[test]
    fn results_agree() {
        let (rows, columns) = (1 << 13, 2);
        let input = elements(rows * columns);
        let matrix = || RowMajorMatrix::new(input.clone(), columns);
        let expected = Radix2Bowers.dft_batch(matrix());
        assert_eq!(in_order(Radix2DitParallel::default().dft_batch(matrix()), Order::Natural), expected);
        assert_eq!(in_order(Radix2DFTSmallBatch::default().dft_batch(matrix()), Order::Natural), expected);
        let reversed = in_order(Radix2DitParallel::default().dft_batch(matrix()), Order::Reversed);
        let column = |of: &RowMajorMatrix<Goldilocks>, index| -> Vec<u64> {
            of.values.iter().skip(index).step_by(columns).map(PrimeField64::as_canonical_u64).collect()
        };
        for index in 0..columns {
            let own: Vec<_> = matrix().values.into_iter().skip(index).step_by(columns).collect();
            let mut packed = Boojum::column(&own);
            Boojum::new(rows).transform(&mut packed);
            let ours = MixedGL::slice_into_base_slice(&packed).iter();
            assert_eq!(ours.map(|x| x.as_u64_reduced()).collect::<Vec<_>>(), column(&reversed, index));
            // plonky2's root of unity differs, so its values are in a different order.
            let own = own.iter().map(|x| GoldilocksField(x.as_canonical_u64())).collect();
            let ours = plonky2(own, &fft_root_table(rows));
            let mut ours: Vec<u64> = ours.iter().map(|x| x.to_canonical_u64()).collect();
            let mut theirs = column(&expected, index);
            ours.sort_unstable();
            theirs.sort_unstable();
            assert_eq!(ours, theirs);
        }
    }
}
