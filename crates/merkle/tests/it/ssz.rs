//! SSZ trees against the functions of the consensus specifications, written out with the crate `sha2`.

use proofmill_merkle::{
    MerkleError,
    ssz::{Chunk, SszProof, SszTree, depth_of, hash_tree_root, mix_in_length, zero_root},
};
use proofmill_sha256::Kernels;
use proofmill_testing::{for_each_pool, rng};
use rand::{Rng, RngCore};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

fn parent(left: Chunk, right: Chunk) -> Chunk {
    Sha256::digest([left, right].as_flattened()).into()
}

/// `merkleize`, with every node computed, zeros included.
fn definition(chunks: &[Chunk], limit: usize) -> Chunk {
    let mut layer = chunks.to_vec();
    layer.resize(limit.next_power_of_two(), [0; 32]);
    while layer.len() > 1 {
        layer = layer.as_chunks::<2>().0.iter().map(|[left, right]| parent(*left, *right)).collect();
    }
    layer[0]
}

fn chunks(count: usize, seed: u64) -> Vec<Chunk> {
    let mut chunks = vec![[0; 32]; count];
    rng(seed).fill_bytes(chunks.as_flattened_mut());
    chunks
}

/// The root of an empty list of deposits is the initial root of the deposit contract.
#[test]
fn empty_trees_have_known_roots() {
    assert_eq!(hex::encode(zero_root(1)), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
    let deposits = hash_tree_root(Kernels::best(), &[], Some(1 << 32)).unwrap();
    assert_eq!(
        hex::encode(mix_in_length(&deposits, 0)),
        "d70a234731285c6804c2a4f56711ddb8c82c99740f207854891028af34e27e5e"
    );
}

#[test]
fn roots_are_the_definitions() {
    for count in (0..=40).chain([511, 512, 513]) {
        let chunks = chunks(count, 3);
        for limit in [count, count + 1, 2 * count + 1, 600, 1000].into_iter().filter(|limit| *limit >= count)
        {
            let expected = definition(&chunks, limit);
            assert_eq!(hash_tree_root(Kernels::best(), &chunks, Some(limit as u64)).unwrap(), expected);
            let tree = SszTree::new(Kernels::best(), chunks.clone(), limit as u64).unwrap();
            assert_eq!((tree.root(), tree.depth()), (expected, depth_of(limit as u64)));
        }
        assert_eq!(hash_tree_root(Kernels::best(), &chunks, None).unwrap(), definition(&chunks, count));
    }
}

#[test]
fn kernels_threads_and_subtrees_do_not_matter() {
    for count in [2047, 2048, 2049, (1 << 15) + 4095] {
        let chunks = chunks(count, 5);
        let expected = definition(&chunks, 1 << 17);
        for_each_pool(&[1, 3], |_| {
            for kernels in Kernels::available() {
                assert_eq!(hash_tree_root(kernels, &chunks, Some(1 << 17)).unwrap(), expected, "{kernels}");
                assert_eq!(SszTree::new(kernels, chunks.clone(), 1 << 17).unwrap().root(), expected);
            }
        });
    }
}

/// A list's limit may far exceed memory.
#[test]
fn zeros_cost_nothing() {
    let chunks = chunks(5, 1);
    for limit in [1 << 40, 1 << 63, u64::MAX] {
        let mut expected = definition(&chunks, 8);
        for depth in 3..depth_of(limit) {
            expected = parent(expected, zero_root(depth));
        }
        assert_eq!(hash_tree_root(Kernels::best(), &chunks, Some(limit)).unwrap(), expected);
        assert_eq!(SszTree::new(Kernels::best(), chunks.clone(), limit).unwrap().root(), expected);
    }
    assert_eq!((depth_of(0), depth_of(1), depth_of(2), depth_of(3), depth_of(u64::MAX)), (0, 0, 1, 2, 64));
}

#[test]
fn changes_rehash_paths_alone() {
    let mut rng = rng(9);
    let mut plain = chunks(1000, 2);
    let mut tree = SszTree::new(Kernels::best(), plain.clone(), 1 << 20).unwrap();
    assert_eq!(tree.replace(&[]).unwrap(), 0);
    for count in [1, 2, 7, 100] {
        let changes: Vec<(usize, Chunk)> =
            (0..count).map(|_| (rng.random_range(0..1000), rng.random())).collect();
        changes.iter().for_each(|(index, chunk)| plain[*index] = *chunk);
        let hashed = tree.replace(&changes).unwrap();
        // The nodes above the changed chunks.
        let paths: BTreeSet<u64> = (1..=20)
            .flat_map(|layers| changes.iter().map(move |(index, _)| ((1 << 20) + *index as u64) >> layers))
            .collect();
        assert_eq!(hashed, paths.len());
        assert_eq!(tree.root(), hash_tree_root(Kernels::best(), &plain, Some(1 << 20)).unwrap());
    }
    let before = tree.root();
    let error = tree.replace(&[(3, [1; 32]), (1000, [0; 32])]).unwrap_err();
    assert_eq!(error.to_string(), "index 1000 is out of range: the tree has 1000 chunks");
    assert_eq!((tree.root(), tree.chunks()), (before, &plain[..]));
}

#[test]
fn trees_grow_up_to_their_limit() {
    let plain = chunks(70, 4);
    for first in [0, 1, 5, 16] {
        let mut tree = SszTree::new(Kernels::best(), plain[..first].to_vec(), 70).unwrap();
        for (at, step) in [1, 2, 3, 8, 13, 0, 20, 7].into_iter().enumerate() {
            let count = tree.chunks().len();
            tree.extend(&plain[count..count + step]).unwrap();
            assert_eq!(tree.root(), definition(&plain[..count + step], 128), "step {at} after {first}");
        }
        let error = tree.extend(&[[0; 32]; 70]).unwrap_err().to_string();
        let found = tree.chunks().len() + 70;
        assert_eq!(error, format!("expected at most 70 chunks, the limit, found {found}"));
        assert_eq!(tree.root(), definition(tree.chunks(), 128));
    }
    assert!(hash_tree_root(Kernels::best(), &plain, Some(69)).is_err());
    assert!(SszTree::new(Kernels::best(), plain, 69).is_err());
}

/// `get_helper_indices`.
fn helper_indices(indices: &[u64]) -> Vec<u64> {
    let path = |index: u64| (0..index.ilog2()).map(move |layers| index >> layers);
    let paths: BTreeSet<u64> = indices.iter().flat_map(|index| path(*index)).collect();
    let branches: BTreeSet<u64> =
        indices.iter().flat_map(|index| path(*index).map(|node| node ^ 1)).collect();
    branches.iter().rev().filter(|index| !paths.contains(index)).copied().collect()
}

/// `calculate_multi_merkle_root`.
fn multi_root(proof: &SszProof) -> Chunk {
    let helpers = helper_indices(&proof.indices);
    assert_eq!(helpers.len(), proof.helpers.len());
    let mut nodes: BTreeMap<u64, Chunk> = proof.indices.iter().copied().zip(proof.leaves.clone()).collect();
    nodes.extend(helpers.into_iter().zip(proof.helpers.clone()));
    let mut keys: Vec<u64> = nodes.keys().rev().copied().collect();
    let mut at = 0;
    while at < keys.len() {
        let key = keys[at];
        if key > 1 && nodes.contains_key(&(key ^ 1)) && !nodes.contains_key(&(key / 2)) {
            nodes.insert(key / 2, parent(nodes[&(key & !1)], nodes[&(key | 1)]));
            keys.push(key / 2);
        }
        at += 1;
    }
    nodes[&1]
}

/// Some nodes, none of which is above another.
fn some_indices(rng: &mut impl Rng, depth: u32, most: usize) -> Vec<u64> {
    let mut indices: Vec<u64> = Vec::new();
    for _ in 0..most {
        let index = rng.random_range(1..2u64 << depth);
        let nested = |a: u64, b: u64| a >= b && a >> (a.ilog2() - b.ilog2()) == b;
        if indices.iter().all(|other| !nested(index, *other) && !nested(*other, index)) {
            indices.push(index);
        }
    }
    indices
}

#[test]
fn proofs_are_the_specifications() {
    let mut rng = rng(11);
    for (count, limit) in [(1, 1), (3, 4), (5, 8), (13, 64), (40, 40)] {
        let tree = SszTree::new(Kernels::best(), chunks(count, 6), limit).unwrap();
        for most in [1, 2, 5, 30] {
            for _ in 0..20 {
                let indices = some_indices(&mut rng, tree.depth(), most);
                let proof = tree.prove(&indices).unwrap();
                assert_eq!(multi_root(&proof), tree.root());
                for kernels in Kernels::available() {
                    proof.check(kernels, &tree.root()).unwrap();
                }
            }
        }
    }
}

/// The deepest chunk that a generalized index can name.
#[test]
fn proofs_reach_the_deepest_chunk() {
    let tree = SszTree::new(Kernels::best(), chunks(3, 8), 1 << 63).unwrap();
    let proof = tree.prove(&[(1 << 63) + 2, (1 << 63) + 1, u64::MAX]).unwrap();
    assert_eq!(proof.leaves, [tree.chunks()[2], tree.chunks()[1], [0; 32]]);
    proof.check(Kernels::best(), &tree.root()).unwrap();
    let deeper = SszTree::new(Kernels::best(), chunks(3, 8), u64::MAX).unwrap();
    deeper.prove(&[u64::MAX]).unwrap().check(Kernels::best(), &deeper.root()).unwrap();
}

#[test]
fn changed_proofs_are_refused() {
    let tree = SszTree::new(Kernels::best(), chunks(11, 6), 64).unwrap();
    let proof = tree.prove(&[66, 64, 74, 35, 3]).unwrap();
    let root = tree.root();
    proof.check(Kernels::best(), &root).unwrap();
    let rejected =
        |proof: &SszProof| matches!(proof.check(Kernels::best(), &root), Err(MerkleError::Rejected));
    for byte in 0..32 * proof.leaves.len() {
        let mut proof = proof.clone();
        proof.leaves.as_flattened_mut()[byte] ^= 1 << (byte % 8);
        assert!(rejected(&proof));
    }
    for byte in 0..32 * proof.helpers.len() {
        let mut proof = proof.clone();
        proof.helpers.as_flattened_mut()[byte] ^= 1 << (byte % 8);
        assert!(rejected(&proof));
    }
    let mut swapped = proof.clone();
    swapped.indices.swap(0, 1);
    assert!(rejected(&swapped));
    assert!(matches!(proof.check(Kernels::best(), &[0; 32]), Err(MerkleError::Rejected)));
}

#[test]
fn malformed_proofs_are_refused_by_name() {
    let tree = SszTree::new(Kernels::best(), chunks(11, 6), 64).unwrap();
    let message = |indices: &[u64]| {
        let message = tree.prove(indices).unwrap_err().to_string();
        let nodes = vec![[0; 32]; indices.len()];
        let proof = SszProof { indices: indices.to_vec(), leaves: nodes, helpers: Vec::new() };
        (message, proof.check(Kernels::best(), &tree.root()).unwrap_err().to_string())
    };
    let same = |indices: &[u64], expected: &str| {
        let (proving, checking) = message(indices);
        assert_eq!((&proving[..], &checking[..]), (expected, expected));
    };
    same(&[], "expected at least one index, found none");
    same(&[70, 64, 70], "index 70 occurs twice: give each once");
    same(&[70, 8], "generalized index 70 is below 8: prove one of the two");
    same(&[1, 70], "generalized index 70 is below 1: prove one of the two");
    let (proving, checking) = message(&[0]);
    assert_eq!(proving, "generalized index 0 is out of range: expected 1 to 2^7 - 1");
    assert_eq!(checking, "generalized index 0 is out of range: expected 1 to 2^64 - 1");
    assert_eq!(message(&[128]).0, "generalized index 128 is out of range: expected 1 to 2^7 - 1");

    let good = tree.prove(&[70, 64]).unwrap();
    let check = |edit: &dyn Fn(&mut SszProof)| {
        let mut proof = good.clone();
        edit(&mut proof);
        proof.check(Kernels::best(), &tree.root()).unwrap_err().to_string()
    };
    let siblings = "expected 7 siblings on the way to the root, found";
    assert_eq!(check(&|proof| _ = proof.helpers.pop()), format!("{siblings} 6"));
    assert_eq!(check(&|proof| proof.helpers.push([0; 32])), format!("{siblings} 8"));
    assert_eq!(check(&|proof| proof.leaves.push([0; 32])), "expected 2 values for the indices, found 3");
}
