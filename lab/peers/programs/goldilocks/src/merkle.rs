//! Binary Merkle trees over rows of 8 elements with digests of 4 elements; all layers are kept.

use crate::{Selection, elements, field::plonky2_elements, packed};
use p3_commit::Mmcs;
use p3_field::Field;
use p3_goldilocks::{
    Goldilocks, default_goldilocks_poseidon2_8, default_goldilocks_poseidon2_12,
    poseidon1::{default_goldilocks_poseidon1_8, default_goldilocks_poseidon1_12},
};
use p3_matrix::dense::RowMajorMatrixView;
use p3_merkle_tree::MerkleTreeMmcs;
use p3_symmetric::{CryptographicPermutation, PaddingFreeSponge, TruncatedPermutation};
use plonky2::hash::{merkle_tree::MerkleTree, poseidon::PoseidonHash};
use plonky2_field::goldilocks_field::GoldilocksField;
use crate::records::Records;

type Packing = <Goldilocks as Field>::Packing;

/// Elements of a leaf: one permutation of width 12.
const COLUMNS: usize = 8;
/// Elements of a digest.
const DIGEST: usize = 4;

pub(crate) fn measure(records: &mut Records, selection: &Selection, threads: usize) {
    for log_rows in [20, 22] {
        let name = format!("merkle poseidon 2^{log_rows} x {COLUMNS}");
        if selection.has(&name) {
            let (wide, narrow) = (default_goldilocks_poseidon1_12(), default_goldilocks_poseidon1_8());
            plonky3(records, threads, &name, log_rows, &wide, &narrow);
            plonky2(records, threads, &name, log_rows);
        }
        let name = format!("merkle poseidon2 2^{log_rows} x {COLUMNS}");
        if selection.has(&name) {
            let (wide, narrow) = (default_goldilocks_poseidon2_12(), default_goldilocks_poseidon2_8());
            plonky3(records, threads, &name, log_rows, &wide, &narrow);
        }
    }
}

/// Plonky3's tree: leaves and nodes of width 12; and the same with nodes of width 8, which are cheaper.
fn plonky3<Wide, Narrow>(
    records: &mut Records,
    threads: usize,
    name: &str,
    log_rows: u32,
    wide: &Wide,
    narrow: &Narrow,
) where
    Wide: CryptographicPermutation<[Goldilocks; 12]> + CryptographicPermutation<[Packing; 12]>,
    Narrow: CryptographicPermutation<[Goldilocks; 8]> + CryptographicPermutation<[Packing; 8]>,
{
    let leaves = elements(COLUMNS << log_rows);
    let rows = RowMajorMatrixView::new(&leaves, COLUMNS);
    let hash = PaddingFreeSponge::<_, 12, 8, DIGEST>::new(wide.clone());
    let nodes = TruncatedPermutation::<_, 2, DIGEST, 12>::new(wide.clone());
    let tree = MerkleTreeMmcs::<Packing, Packing, _, _, 2, DIGEST>::new(hash.clone(), nodes, 0);
    records.record(name, &packed("plonky3"), threads, None, || tree.commit_matrix(rows));
    let nodes = TruncatedPermutation::<_, 2, DIGEST, 8>::new(narrow.clone());
    let tree = MerkleTreeMmcs::<Packing, Packing, _, _, 2, DIGEST>::new(hash, nodes, 0);
    let implementation = format!("{}-w8-nodes", packed("plonky3"));
    records.record(name, &implementation, threads, None, || tree.commit_matrix(rows));
}

/// plonky2's tree. It consumes the leaves; they are recovered from the result, so that no copy is timed.
fn plonky2(records: &mut Records, threads: usize, name: &str, log_rows: u32) {
    let mut leaves: Vec<Vec<GoldilocksField>> =
        plonky2_elements(COLUMNS << log_rows).chunks_exact(COLUMNS).map(<[_]>::to_vec).collect();
    records.record(name, "plonky2-scalar", threads, None, || {
        let tree = MerkleTree::<_, PoseidonHash>::new(std::mem::take(&mut leaves), 0);
        leaves = tree.leaves;
        (tree.digests, tree.cap)
    });
}
