//! Membership in Merkle trees.

use super::{Bit, Circuit, Variable};
use proofmill_field::{Field, bn254::Fr};

/// A node of a Merkle tree: an element or bytes.
pub trait MerkleNode: Copy {
    /// The two nodes in this order, or swapped if the bit is 1: three rows for each variable of a node; four in
    /// standard.
    fn ordered(circuit: &mut Circuit, bit: Bit, nodes: [Self; 2]) -> [Self; 2];
}

impl MerkleNode for Variable {
    fn ordered(circuit: &mut Circuit, bit: Bit, [first, second]: [Self; 2]) -> [Self; 2] {
        let difference = circuit.sub(second, first);
        let left = circuit.mul_add(bit.variable(), difference, first);
        let both = [(first, Fr::ONE), (second, Fr::ONE), (left, -Fr::ONE)];
        [left, circuit.linear(&both, Fr::ZERO)]
    }
}

impl<const N: usize> MerkleNode for [Variable; N] {
    fn ordered(circuit: &mut Circuit, bit: Bit, [mut first, mut second]: [Self; 2]) -> [Self; 2] {
        for (first, second) in first.iter_mut().zip(&mut second) {
            [*first, *second] = Variable::ordered(circuit, bit, [*first, *second]);
        }
        [first, second]
    }
}

impl Circuit {
    /// The root of the Merkle tree that contains a leaf.
    ///
    /// The path goes from the leaf up: for each level the node's sibling and a bit that is 1 if the node is
    /// the right one of the two. So the bits are those of the leaf's index, lowest first. `hash` computes the
    /// parent of a left and a right node, for instance
    /// `|circuit, [left, right]| circuit.poseidon(&[left, right])`.
    ///
    /// Leaves and inner nodes are not distinguished: unless leaves are hashed differently, all leaves must
    /// have the same depth.
    pub fn merkle_root<N: MerkleNode>(
        &mut self,
        leaf: N,
        path: &[(N, Bit)],
        mut hash: impl FnMut(&mut Self, [N; 2]) -> N,
    ) -> N {
        self.gadget("merkle root", |circuit| {
            path.iter().fold(leaf, |node, (sibling, is_right)| {
                let children = N::ordered(circuit, *is_right, [node, *sibling]);
                hash(circuit, children)
            })
        })
    }

    /// The SHA-256 digest of two concatenated digests.
    pub fn sha256_pair(&mut self, [left, right]: [[Variable; 32]; 2]) -> [Variable; 32] {
        self.sha256([left, right].as_flattened())
    }
}
