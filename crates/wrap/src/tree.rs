//! Rows of trees and their paths.

use crate::{
    challenger::{pack, power_of_two},
    residue::Residue,
};
use proofmill_field::{Algebra, Field, bn254::Fr, goldilocks::Goldilocks};
use proofmill_hash::{Digest, PoseidonBn254Sponge};
use proofmill_plonk::{Bit, Circuit, Variable};

const PACK: usize = PoseidonBn254Sponge::PACK;

/// The element of a digest, which those of verified proofs are.
pub(crate) fn element(digest: &Digest) -> Fr {
    Fr::from_canonical(digest.0).unwrap_or_default()
}

/// A row that was opened: words below 2^64.
pub(crate) struct OpenedRow {
    pub(crate) words: Vec<Residue>,
    /// The words, three by three.
    pub(crate) packs: Vec<Variable>,
}

impl OpenedRow {
    /// A row of a proof.
    pub(crate) fn witness(circuit: &mut Circuit, values: &[Goldilocks]) -> Self {
        let words: Vec<_> = values.iter().map(|value| Residue::witness(circuit, *value)).collect();
        let variables: Vec<_> = words.iter().map(|word| word.variable(circuit)).collect();
        let packs = variables.chunks(PACK).map(|words| pack(circuit, words)).collect();
        Self { words, packs }
    }

    /// The digest, as [`PoseidonBn254Sponge`] computes it.
    fn digest(&self, circuit: &mut Circuit) -> Variable {
        let zero = circuit.zero();
        let mut digest = circuit.constant(PoseidonBn254Sponge::start(self.words.len()));
        for packs in self.packs.chunks(2) {
            let [first, second] = [packs[0], packs.get(1).copied().unwrap_or(zero)];
            [digest, _, _] = circuit.poseidon_permutation([digest, first, second]);
        }
        digest
    }

    /// Constrains the row to be in the tree with this cap, at the index with these bits, lowest first.
    pub(crate) fn assert_in_tree(
        &self,
        circuit: &mut Circuit,
        index: &[Bit],
        siblings: &[Digest],
        cap: &[Variable],
    ) {
        circuit.gadget("row of a tree", |circuit| {
            let leaf = self.digest(circuit);
            let root = siblings.iter().zip(index).fold(leaf, |node, (sibling, bit)| {
                // The prover gives the difference to the sibling, which takes a row less.
                let difference = circuit.witness(element(sibling) - circuit.value(node));
                let left = circuit.mul_add(bit.variable(), difference, node);
                let terms = [(node, Fr::ONE.double()), (difference, Fr::ONE), (left, -Fr::ONE)];
                let right = circuit.linear(&terms, Fr::ZERO);
                circuit.poseidon(&[left, right])
            });
            // The upper bits of the index choose the digest of the cap.
            let expected = select(circuit, &index[siblings.len()..], cap);
            circuit.assert_equal(root, expected);
        });
    }
}

/// The variable at the index with these bits, lowest first, of as many variables as there are indices.
pub(crate) fn select(circuit: &mut Circuit, index: &[Bit], variables: &[Variable]) -> Variable {
    let mut variables = variables.to_vec();
    for bit in index {
        variables = variables.chunks(2).map(|pair| circuit.select(*bit, pair[1], pair[0])).collect();
    }
    variables[0]
}

/// The integer with these bits, lowest first.
pub(crate) fn number(circuit: &mut Circuit, bits: &[Bit]) -> Variable {
    let terms = bits.iter().map(|bit| bit.variable()).zip((0..).map(power_of_two));
    circuit.linear(&terms.collect::<Vec<_>>(), Fr::ZERO)
}

/// The value of bits, lowest first.
pub(crate) fn index_value(circuit: &Circuit, bits: &[Bit]) -> usize {
    bits.iter().rev().fold(0, |index, bit| index << 1 | usize::from(circuit.bit_value(*bit)))
}

/// Three reduced words as one element.
pub(crate) fn packed(circuit: &mut Circuit, words: &[Residue; PACK]) -> Variable {
    let variables = words.each_ref().map(|word| word.variable(circuit));
    pack(circuit, &variables)
}
