//! The runner of Plonky3's kernels over Goldilocks. Only Poseidon2 is included: Plonky3's Poseidon has a
//! different matrix and constants than plonky2's, which is Proofmill's, and its transforms use a different
//! root of unity.

#![forbid(unsafe_code)]

use p3_commit::Mmcs;
use p3_field::{Field, PackedValue, PrimeCharacteristicRing, PrimeField64};
use p3_goldilocks::{Goldilocks, default_goldilocks_poseidon2_8, default_goldilocks_poseidon2_12};
use p3_keccak::{KeccakF, VECTOR_LEN};
use p3_matrix::dense::RowMajorMatrixView;
use p3_merkle_tree::MerkleTreeMmcs;
use p3_symmetric::{
    CompressionFunctionFromHasher, PaddingFreeSponge, Permutation, SerializingHasher, TruncatedPermutation,
};
use peer_protocol::{Bytes, Task, Work, locked_version, serve, work};
use rayon::prelude::*;
use std::{array, process::ExitCode};

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
        "merkle/poseidon2" => poseidon2_tree(task),
        "merkle/keccak" => keccak_tree(task),
        kernel => Err(format!("no kernel {kernel}")),
    }
}

fn elements(task: &Task, each: usize) -> Result<Vec<Goldilocks>, String> {
    let mut input = Bytes::new(&task.input);
    let decode = |bytes: &[u8]| Goldilocks::from_u64(u64::from_le_bytes(bytes.try_into().expect("8 bytes")));
    let elements = input.take(each * task.size, 8, decode)?;
    input.end()?;
    Ok(elements)
}

fn encoded(elements: &[Goldilocks]) -> Vec<u8> {
    elements.iter().flat_map(|element| element.as_canonical_u64().to_le_bytes()).collect()
}

/// Pairs of digests to their parents: each parent is a permutation of the pair, padded with zeros, of which
/// the first four elements are kept.
fn parents<const WIDTH: usize>(
    task: &Task,
    permutation: impl Permutation<[Packing; WIDTH]> + Sync + 'static,
) -> Result<Box<dyn Work>, String> {
    let (pairs, parents) = (elements(task, ROW)?, vec![Goldilocks::ZERO; DIGEST * task.size]);
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
        encoded(&self.parents)
    }
}

/// A tree's root; leaves and nodes use permutations of width 12.
fn poseidon2_tree(task: &Task) -> Result<Box<dyn Work>, String> {
    let rows = elements(task, ROW)?;
    let permutation = default_goldilocks_poseidon2_12();
    let leaf = PaddingFreeSponge::<_, 12, ROW, DIGEST>::new(permutation.clone());
    let node = TruncatedPermutation::<_, 2, DIGEST, 12>::new(permutation);
    let tree = MerkleTreeMmcs::<Packing, Packing, _, _, 2, DIGEST>::new(leaf, node, 0);
    let run = move || tree.commit_matrix(RowMajorMatrixView::new(&rows, ROW)).0;
    Ok(work(run, |commitment| encoded(commitment.roots()[0].as_ref())))
}

/// A tree's root with Keccak, as in Plonky3's example for Goldilocks.
fn keccak_tree(task: &Task) -> Result<Box<dyn Work>, String> {
    type Sponge = PaddingFreeSponge<KeccakF, 25, 17, DIGEST>;
    let rows = elements(task, ROW)?;
    let sponge = Sponge::new(KeccakF {});
    let leaf = SerializingHasher::new(sponge);
    let node = CompressionFunctionFromHasher::<Sponge, 2, DIGEST>::new(sponge);
    let tree = MerkleTreeMmcs::<[Goldilocks; VECTOR_LEN], [u64; VECTOR_LEN], _, _, 2, DIGEST>::new(leaf, node, 0);
    let run = move || tree.commit_matrix(RowMajorMatrixView::new(&rows, ROW)).0;
    Ok(work(run, |commitment| commitment.roots()[0].iter().flat_map(|word| word.to_le_bytes()).collect()))
}
