//! The runner of Plonky3's kernels over Goldilocks. Of its hashes, Poseidon is left out: it has a different matrix and constants than
//! plonky2's, which is Proofmill's.

#![forbid(unsafe_code)]

use p3_commit::Mmcs;
use p3_dft::{Radix2DFTSmallBatch, TwoAdicSubgroupDft};
use p3_field::{Field, PackedValue, PrimeCharacteristicRing, PrimeField64};
use p3_goldilocks::{Goldilocks, default_goldilocks_poseidon2_8, default_goldilocks_poseidon2_12};
use p3_keccak::{KeccakF, VECTOR_LEN};
use p3_matrix::dense::{RowMajorMatrix, RowMajorMatrixView};
use p3_merkle_tree::MerkleTreeMmcs;
use p3_symmetric::{
    CompressionFunctionFromHasher, CryptographicPermutation, PaddingFreeSponge, Permutation,
    SerializingHasher, TruncatedPermutation,
};
use peer_protocol::{
    Task, Work,
    goldilocks::{bit_reversed, encoded, for_other_root, from_other_root, words},
    locked_version, serve, work,
};
use rayon::prelude::*;
use std::{array, mem::take, process::ExitCode};

type Packing = <Goldilocks as Field>::Packing;

/// Elements of a digest.
const DIGEST: usize = 4;

/// Elements of a tree's row, and of two digests.
const ROW: usize = 8;

fn main() -> ExitCode {
    serve(locked_version(include_str!("../../Cargo.lock"), "p3-goldilocks"), prepare)
}

fn prepare(task: &Task) -> Result<Box<dyn Work>, String> {
    match task.kernel.as_str() {
        "permutations/poseidon2-8" => parents(task, default_goldilocks_poseidon2_8()),
        "permutations/poseidon2-12" => parents(task, default_goldilocks_poseidon2_12()),
        "merkle/poseidon2" => {
            let permutation = default_goldilocks_poseidon2_12();
            poseidon2_tree::<12, ROW, 12>(task, permutation.clone(), permutation)
        }
        "merkle/poseidon2-8" => {
            let permutation = default_goldilocks_poseidon2_8();
            poseidon2_tree::<8, DIGEST, 8>(task, permutation.clone(), permutation)
        }
        "merkle/poseidon2-12-8" => {
            let (leaf, node) = (default_goldilocks_poseidon2_12(), default_goldilocks_poseidon2_8());
            poseidon2_tree::<12, ROW, 8>(task, leaf, node)
        }
        "merkle/keccak" => keccak_tree(task),
        "goldilocks_transforms/ntt" => transform(task, 1, Dft::dft_batch, |values, _| values.to_vec()),
        "goldilocks_transforms/ntt-reversed" => transform(task, 1, Dft::dft_batch, bit_reversed),
        "goldilocks_transforms/ntt-8-columns-reversed" => transform(task, 8, Dft::dft_batch, bit_reversed),
        "goldilocks_transforms/lde-16-columns-by-2" => transform(task, 16, extended_by_2, |values, width| {
            bit_reversed(&from_other_root(values, width), width)
        }),
        kernel => Err(format!("no kernel {kernel}")),
    }
}

fn elements(words: &[u64]) -> Vec<Goldilocks> {
    words.iter().copied().map(Goldilocks::from_u64).collect()
}

fn canonical(elements: &[Goldilocks]) -> Vec<u64> {
    elements.iter().map(PrimeField64::as_canonical_u64).collect()
}

/// Pairs of digests to their parents: each parent is a permutation of the pair, padded with zeros, of which
/// the first four elements are kept.
fn parents<const WIDTH: usize>(
    task: &Task,
    permutation: impl Permutation<[Packing; WIDTH]> + 'static,
) -> Result<Box<dyn Work>, String> {
    let (pairs, parents) = (elements(&words(task, ROW)?), vec![Goldilocks::ZERO; DIGEST * task.size]);
    Ok(Box::new(Parents { permutation, pairs, parents }))
}

struct Parents<const WIDTH: usize, P> {
    permutation: P,
    pairs: Vec<Goldilocks>,
    parents: Vec<Goldilocks>,
}

/// Vectors per parallel task.
const TASK: usize = 128;

impl<const WIDTH: usize, P: Permutation<[Packing; WIDTH]> + Sync> Work for Parents<WIDTH, P> {
    fn run(&mut self) {
        let vectors = self.pairs.par_chunks(ROW * Packing::WIDTH).with_min_len(TASK);
        vectors.zip(self.parents.par_chunks_mut(DIGEST * Packing::WIDTH)).for_each(|(pairs, parents)| {
            // Lanes of the last vector may be unused.
            let element = |lane, i| pairs.get(lane * ROW + i).copied().unwrap_or_default();
            let mut state: [Packing; WIDTH] = array::from_fn(|i| match i {
                ..ROW => Packing::from_fn(|lane| element(lane, i)),
                _ => Packing::default(),
            });
            self.permutation.permute_mut(&mut state);
            for (lane, parent) in parents.chunks_exact_mut(DIGEST).enumerate() {
                for (element, packed) in parent.iter_mut().zip(&state) {
                    *element = packed.as_slice()[lane];
                }
            }
        });
    }

    fn output(&self) -> Vec<u8> {
        encoded(canonical(&self.parents))
    }
}

/// A tree's root, with Poseidon2 in leaves and nodes.
fn poseidon2_tree<const LEAF: usize, const RATE: usize, const NODE: usize>(
    task: &Task,
    leaf: impl CryptographicPermutation<[Goldilocks; LEAF]> + CryptographicPermutation<[Packing; LEAF]> + 'static,
    node: impl CryptographicPermutation<[Goldilocks; NODE]> + CryptographicPermutation<[Packing; NODE]> + 'static,
) -> Result<Box<dyn Work>, String> {
    let rows = elements(&words(task, ROW)?);
    let leaf = PaddingFreeSponge::<_, LEAF, RATE, DIGEST>::new(leaf);
    let node = TruncatedPermutation::<_, 2, DIGEST, NODE>::new(node);
    let tree = MerkleTreeMmcs::<Packing, Packing, _, _, 2, DIGEST>::new(leaf, node, 0);
    let run = move || tree.commit_matrix(RowMajorMatrixView::new(&rows, ROW)).0;
    Ok(work(run, |commitment| encoded(canonical(commitment.roots()[0].as_ref()))))
}

/// A tree's root with Keccak, as in Plonky3's example for Goldilocks.
fn keccak_tree(task: &Task) -> Result<Box<dyn Work>, String> {
    type Sponge = PaddingFreeSponge<KeccakF, 25, 17, DIGEST>;
    let rows = elements(&words(task, ROW)?);
    let sponge = Sponge::new(KeccakF {});
    let leaf = SerializingHasher::new(sponge);
    let node = CompressionFunctionFromHasher::<Sponge, 2, DIGEST>::new(sponge);
    let tree =
        MerkleTreeMmcs::<[Goldilocks; VECTOR_LEN], [u64; VECTOR_LEN], _, _, 2, DIGEST>::new(leaf, node, 0);
    let run = move || tree.commit_matrix(RowMajorMatrixView::new(&rows, ROW)).0;
    Ok(work(run, |commitment| encoded(commitment.roots()[0])))
}

type Dft = Radix2DFTSmallBatch<Goldilocks>;
type Matrix = RowMajorMatrix<Goldilocks>;

/// Transforms of `width` columns by Plonky3's fastest algorithm for few columns, which leaves natural order. `reorder` makes the kernel's order
/// from it, without being timed; Plonky3's algorithm for reversed order takes longer.
fn transform(
    task: &Task,
    width: usize,
    apply: fn(&Dft, Matrix) -> Matrix,
    reorder: fn(&[u64], usize) -> Vec<u64>,
) -> Result<Box<dyn Work>, String> {
    let values = elements(&for_other_root(&words(task, width)?, width));
    Ok(Box::new(Transform { dft: Dft::default(), len: values.len(), values, width, apply, reorder }))
}

struct Transform {
    dft: Dft,
    /// The input of the next run: the beginning of the last one's result.
    values: Vec<Goldilocks>,
    len: usize,
    width: usize,
    apply: fn(&Dft, Matrix) -> Matrix,
    reorder: fn(&[u64], usize) -> Vec<u64>,
}

impl Work for Transform {
    fn run(&mut self) {
        let mut values = take(&mut self.values);
        values.truncate(self.len);
        self.values = (self.apply)(&self.dft, Matrix::new(values, self.width)).values;
    }

    fn output(&self) -> Vec<u8> {
        encoded((self.reorder)(&canonical(&self.values), self.width))
    }
}

fn extended_by_2(dft: &Dft, values: Matrix) -> Matrix {
    dft.coset_lde_batch(values, 1, Goldilocks::GENERATOR)
}
