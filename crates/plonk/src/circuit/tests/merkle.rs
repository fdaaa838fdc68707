//! Merkle roots against trees computed outside of circuits.

use super::*;
use proofmill_hash::{pedersen::pedersen, poseidon_bn254};
use sha2::{Digest, Sha256};

/// The siblings of a leaf from the bottom up, and the root.
fn opened<N: Copy>(leaves: &[N], mut index: usize, hash: impl Fn([N; 2]) -> N) -> (Vec<(N, bool)>, N) {
    let mut layer = leaves.to_vec();
    let mut path = Vec::new();
    while layer.len() > 1 {
        path.push((layer[index ^ 1], index % 2 == 1));
        layer = layer.as_chunks::<2>().0.iter().map(|pair| hash(*pair)).collect();
        index /= 2;
    }
    (path, layer[0])
}

/// A circuit with the root as public inputs. `change` may replace values.
fn program<N: Copy, V: MerkleNode>(
    leaf: N,
    path: &[(N, bool)],
    node: impl Fn(&mut Circuit, N) -> V,
    hash: impl FnMut(&mut Circuit, [V; 2]) -> V,
) -> impl FnOnce(&mut Circuit) -> V {
    move |circuit| {
        let leaf = node(circuit, leaf);
        let path: Vec<(V, Bit)> =
            path.iter().map(|(sibling, bit)| (node(circuit, *sibling), circuit.boolean(*bit))).collect();
        circuit.merkle_root(leaf, &path, hash)
    }
}

const LEAVES: u64 = 8;

/// For a hash of elements: checks that every leaf leads to the root, and to another value with a wrong
/// sibling, bit or leaf.
fn elements_agree(native: impl Fn([Fr; 2]) -> Fr, gadget: fn(&mut Circuit, [Variable; 2]) -> Variable) {
    let leaves: Vec<Fr> = (0..LEAVES).map(|i| Fr::from(i * i + 1)).collect();
    for index in [0, 3, LEAVES as usize - 1] {
        let (path, root) = opened(&leaves, index, &native);
        let root_of = |leaf: Fr, path: &[(Fr, bool)]| {
            let mut circuit = Circuit::new(Arithmetisation::Turbo);
            let found = program(leaf, path, Circuit::witness, gadget)(&mut circuit);
            let expected = circuit.public_input(root);
            circuit.assert_equal(found, expected);
            circuit.check()
        };
        for_each_arithmetisation(&[root], |circuit| {
            let root = program(leaves[index], &path, Circuit::witness, gadget)(circuit);
            circuit.publish(root);
        });
        root_of(leaves[index], &path).unwrap();
        assert!(root_of(leaves[index] + Fr::ONE, &path).is_err());
        for level in 0..path.len() {
            let mut wrong = path.clone();
            wrong[level].0 += Fr::ONE;
            assert!(root_of(leaves[index], &wrong).is_err());
            let mut wrong = path.clone();
            wrong[level].1 ^= true;
            assert!(root_of(leaves[index], &wrong).is_err());
        }
    }
}

#[test]
fn poseidon_roots_agree() {
    elements_agree(|pair| poseidon_bn254::poseidon(&pair), |circuit, pair| circuit.poseidon(&pair));
}

#[test]
fn pedersen_roots_agree() {
    elements_agree(
        |[left, right]| pedersen(left, right),
        |circuit, [left, right]| circuit.pedersen(left, right),
    );
}

#[test]
fn sha256_roots_agree() {
    let native = |pair: [[u8; 32]; 2]| -> [u8; 32] { Sha256::digest(pair.as_flattened()).into() };
    let leaves: Vec<[u8; 32]> = (0..4).map(|i| Sha256::digest([i]).into()).collect();
    let (path, root) = opened(&leaves, 2, native);
    let node =
        |circuit: &mut Circuit, bytes: [u8; 32]| bytes.map(|byte| circuit.witness(Fr::from(u64::from(byte))));
    let expected = root.map(|byte| Fr::from(u64::from(byte)));
    for_each_arithmetisation(&expected, |circuit| {
        let root = program(leaves[2], &path, node, Circuit::sha256_pair)(circuit);
        root.into_iter().for_each(|byte| {
            circuit.publish(byte);
        });
    });
}

#[test]
fn an_index_bit_other_than_0_or_1_is_refused() {
    refused_by_each_arithmetisation(|circuit| {
        let [leaf, sibling, bit] = [1, 2, 2].map(|value| circuit.witness(Fr::from(value)));
        let bit = circuit.assert_boolean(bit);
        circuit.merkle_root(leaf, &[(sibling, bit)], |circuit, pair| circuit.poseidon(&pair));
    });
}
