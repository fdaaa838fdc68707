//! The runner of plonky2's kernels over Goldilocks. Its Poseidon and its root of unity are Proofmill's.

#![forbid(unsafe_code)]

use peer_protocol::{
    Task, Work,
    goldilocks::{bit_reversed, columns, encoded, rows, words},
    locked_version, serve,
};
use plonky2::hash::{
    merkle_tree::MerkleTree,
    poseidon::{Poseidon, PoseidonHash, SPONGE_WIDTH},
};
use plonky2_field::{
    fft::{FftRootTable, fft_root_table, fft_with_options},
    goldilocks_field::GoldilocksField,
    polynomial::PolynomialCoeffs,
    types::{Field, PrimeField64},
};
use rayon::prelude::*;
use std::{mem::take, process::ExitCode};

/// Elements of a digest.
const DIGEST: usize = 4;

/// Elements of a tree's row, and of two digests.
const ROW: usize = 8;

fn main() -> ExitCode {
    serve(locked_version(include_str!("../../Cargo.lock"), "plonky2"), prepare)
}

fn prepare(task: &Task) -> Result<Box<dyn Work>, String> {
    match task.kernel.as_str() {
        "permutations/poseidon-12" => parents(task),
        "merkle/poseidon" => tree(task),
        "goldilocks_transforms/ntt" => transform(task, 1, false),
        "goldilocks_transforms/ntt-reversed" => transform(task, 1, true),
        "goldilocks_transforms/ntt-8-columns-reversed" => transform(task, 8, true),
        kernel => Err(format!("no kernel {kernel}")),
    }
}

fn elements(words: &[u64]) -> Vec<GoldilocksField> {
    words.iter().copied().map(GoldilocksField::from_canonical_u64).collect()
}

fn canonical(elements: &[GoldilocksField]) -> Vec<u64> {
    elements.iter().map(PrimeField64::to_canonical_u64).collect()
}

/// Pairs of digests to their parents: each parent is a permutation of the pair, padded with zeros, of which the first four elements are kept.
fn parents(task: &Task) -> Result<Box<dyn Work>, String> {
    let pairs = elements(&words(task, ROW)?);
    Ok(Box::new(Parents { pairs, parents: vec![GoldilocksField::ZERO; DIGEST * task.size] }))
}

struct Parents {
    pairs: Vec<GoldilocksField>,
    parents: Vec<GoldilocksField>,
}

impl Work for Parents {
    fn run(&mut self) {
        let tasks = self.pairs.par_chunks(ROW).zip(self.parents.par_chunks_mut(DIGEST));
        tasks.with_min_len(128).for_each(|(pair, parent)| {
            let mut state = [GoldilocksField::ZERO; SPONGE_WIDTH];
            state[..ROW].copy_from_slice(pair);
            parent.copy_from_slice(&Poseidon::poseidon(state)[..DIGEST]);
        });
    }

    fn output(&self) -> Vec<u8> {
        encoded(canonical(&self.parents))
    }
}

fn tree(task: &Task) -> Result<Box<dyn Work>, String> {
    let leaves = words(task, ROW)?.chunks_exact(ROW).map(elements).collect();
    Ok(Box::new(Tree { tree: None, leaves }))
}

struct Tree {
    tree: Option<MerkleTree<GoldilocksField, PoseidonHash>>,
    leaves: Vec<Vec<GoldilocksField>>,
}

impl Work for Tree {
    fn run(&mut self) {
        // The previous tree has the leaves, so that no copy of them is timed.
        let leaves = self.tree.take().map_or_else(|| take(&mut self.leaves), |tree| tree.leaves);
        self.tree = Some(MerkleTree::new(leaves, 0));
    }

    fn output(&self) -> Vec<u8> {
        self.tree.iter().flat_map(|tree| encoded(canonical(&tree.cap.0[0].elements))).collect()
    }
}

/// Columns are transformed one by one, into natural order; a reversed one is made from it, without being timed.
fn transform(task: &Task, width: usize, reversed: bool) -> Result<Box<dyn Work>, String> {
    let columns = columns(&words(task, width)?, width).iter().map(|column| elements(column)).collect();
    Ok(Box::new(Transform { columns, roots: fft_root_table(task.size), reversed }))
}

struct Transform {
    columns: Vec<Vec<GoldilocksField>>,
    roots: FftRootTable<GoldilocksField>,
    reversed: bool,
}

impl Work for Transform {
    fn run(&mut self) {
        self.columns.par_iter_mut().for_each(|column| {
            *column = fft_with_options(PolynomialCoeffs::new(take(column)), None, Some(&self.roots)).values;
        });
    }

    fn output(&self) -> Vec<u8> {
        let columns: Vec<_> = self.columns.iter().map(|column| canonical(column)).collect();
        let values = rows(&columns);
        encoded(if self.reversed { bit_reversed(&values, columns.len()) } else { values })
    }
}
