//! The runner of boojum's transforms over Goldilocks, into bit-reversed order. Its Poseidon and Poseidon2 have
//! other matrices than Proofmill's.

#![forbid(unsafe_code)]

use boojum::{
    field::{
        Field, U64Representable,
        goldilocks::{GoldilocksField, MixedGL},
        traits::field_like::PrimeFieldLikeVectorized,
    },
    worker::Worker,
};
use peer_protocol::{
    Task, Work,
    goldilocks::{columns, encoded, for_other_root, rows, words},
    locked_version, serve,
};
use rayon::prelude::*;
use std::process::ExitCode;

fn main() -> ExitCode {
    serve(locked_version(include_str!("../../Cargo.lock"), "boojum"), prepare)
}

fn prepare(task: &Task) -> Result<Box<dyn Work>, String> {
    match task.kernel.as_str() {
        "goldilocks_transforms/ntt-reversed" => transform(task, 1),
        "goldilocks_transforms/ntt-8-columns-reversed" => transform(task, 8),
        kernel => Err(format!("no kernel {kernel}")),
    }
}

/// Columns are transformed one by one.
fn transform(task: &Task, width: usize) -> Result<Box<dyn Work>, String> {
    let input = for_other_root(&words(task, width)?, width);
    let columns = columns(&input, width).iter().map(|column| vectors(column)).collect();
    let worker = Worker::new_with_num_threads(1);
    let roots = MixedGL::precompute_forward_twiddles_for_fft(task.size, &worker, &mut ());
    Ok(Box::new(Transform { columns, roots }))
}

fn vectors(words: &[u64]) -> Vec<MixedGL> {
    let mut vectors = vec![MixedGL::new(); words.len() / MixedGL::SIZE_FACTOR];
    let elements = MixedGL::slice_into_base_slice_mut(&mut vectors);
    elements
        .iter_mut()
        .zip(words)
        .for_each(|(element, word)| *element = GoldilocksField::from_nonreduced_u64(*word));
    vectors
}

struct Transform {
    columns: Vec<Vec<MixedGL>>,
    roots: Vec<GoldilocksField>,
}

impl Work for Transform {
    fn run(&mut self) {
        let one = GoldilocksField::ONE;
        self.columns
            .par_iter_mut()
            .for_each(|column| MixedGL::fft_natural_to_bitreversed(column, one, &self.roots, &mut ()));
    }

    fn output(&self) -> Vec<u8> {
        let words = |column: &Vec<MixedGL>| -> Vec<u64> {
            MixedGL::slice_into_base_slice(column).iter().map(U64Representable::as_u64_reduced).collect()
        };
        encoded(rows(&self.columns.iter().map(words).collect::<Vec<_>>()))
    }
}
