//! SSZ proofs of any shape are checked without panics; the proofs of trees are accepted; kernels agree.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmill_merkle::ssz::{SszProof, SszTree, hash_tree_root};
use proofmill_sha256::{Kernels, hash_rows};

fuzz_target!(|bytes: &[u8]| {
    let Some(([count, depth, length], rest)) = bytes.split_first_chunk() else { return };
    let (words, _) = rest.as_chunks();
    let indices: Vec<u64> =
        words.iter().take(usize::from(*count)).map(|word| u64::from_le_bytes(*word)).collect();
    let (chunks, _) = rest.as_chunks::<32>();
    let (leaves, helpers) = chunks.split_at(indices.len().min(chunks.len()));
    let proof = SszProof { indices, leaves: leaves.to_vec(), helpers: helpers.to_vec() };
    drop(proof.check(Kernels::best(), &[0; 32]));

    let depth = u32::from(depth % 64);
    let tree = SszTree::new(Kernels::best(), chunks.to_vec(), 1 << depth);
    let root = hash_tree_root(Kernels::PORTABLE, chunks, Some(1 << depth));
    let (Ok(tree), Ok(root)) = (tree, root) else { return };
    assert_eq!(tree.root(), root);
    // Indices of the tree.
    let indices: Vec<u64> = proof.indices.iter().map(|index| (index % (1 << depth)) + (1 << depth)).collect();
    if let Ok(proof) = tree.prove(&indices) {
        proof.check(Kernels::best(), &root).expect("the tree's own proof");
    }

    let length = usize::from(*length);
    let rows = rest.len().checked_div(length).unwrap_or(0);
    let digests = Kernels::available().into_iter().map(|kernels| {
        let mut digests = vec![[0; 32]; rows];
        hash_rows(kernels, &rest[..rows * length], length, &mut digests);
        digests
    });
    let digests: Vec<_> = digests.collect();
    assert!(digests.iter().all(|others| *others == digests[0]));
});
