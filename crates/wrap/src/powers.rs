//! Elements of the protocol's domains from the bits of their indices: one lookup for ten bits.

use crate::{
    residue::{Residue, WORD},
    tree::number,
};
use proofmill_field::{Field, Invert, bn254::Fr, goldilocks::Goldilocks};
use proofmill_plonk::{Bit, Circuit};
use proofmill_stark::protocol::{SHIFT, coset, inverses};

/// The bits that one lookup takes.
const BITS: usize = 10;

/// Which elements.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Elements {
    /// Those of the subgroups in bit-reversed order.
    Subgroup,
    /// Their inverses.
    Inverses,
}

impl Elements {
    fn name(self) -> &'static str {
        match self {
            Self::Subgroup => "elements",
            Self::Inverses => "inverses",
        }
    }

    /// The element at an index.
    fn at(self, index: usize) -> Goldilocks {
        match self {
            Self::Subgroup => coset().element(index) * SHIFT.invert_vartime().unwrap_or_default(),
            Self::Inverses => inverses().element(index),
        }
    }

    /// The element at the index with these bits, lowest first, above `skip` bits that are zero.
    pub(crate) fn element(self, circuit: &mut Circuit, bits: &[Bit], skip: usize) -> Residue {
        let mut product = Residue::constant(Goldilocks::ONE);
        for (first, bits) in (skip..).step_by(BITS).zip(bits.chunks(BITS)) {
            let name = format!("{} {first}+{}", self.name(), bits.len());
            let table = circuit.table(&name, || {
                let entry = |index: usize| Fr::from(self.at(index << first).to_canonical());
                (0..1_usize << bits.len())
                    .map(|index| [Fr::from(index as u64), entry(index), Fr::ZERO])
                    .collect()
            });
            let index = number(circuit, bits);
            let value =
                bits.iter().rev().fold(0, |index, bit| index << 1 | usize::from(circuit.bit_value(*bit)));
            let value = circuit.witness(Fr::from(self.at(value << first).to_canonical()));
            let zero = circuit.zero();
            circuit.lookup(table, [index, value, zero], [Fr::ZERO; 3]);
            product = product.mul(circuit, &Residue::of(value, WORD));
        }
        product
    }
}
